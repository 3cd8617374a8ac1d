import type { Effect, Step } from "../../definition/language/step.ts";
import type { CrowdLifecycles } from "../crowd-lifecycles.ts";
import type { JobData } from "../data.ts";

/** Closes postings: no new worker can begin. Work that has begun may still be submitted, and is decided and paid. */
export function closeJob(family: CrowdLifecycles) {
  return async (step: Step<JobData, { closed_there: undefined }>) => {
    await closeAll(family, step);
    return step.go("closed_there");
  };
}

/** The same for a job that was discarded, as an after-effect. */
export function closeDiscardedJob(family: CrowdLifecycles) {
  return (work: Effect<JobData>) => closeAll(family, work);
}

async function closeAll(
  { marketplace }: CrowdLifecycles,
  work: Pick<Effect<JobData>, "data" | "signal">,
): Promise<void> {
  for (const { id } of work.data.remotes) await marketplace.close(id, work);
}
