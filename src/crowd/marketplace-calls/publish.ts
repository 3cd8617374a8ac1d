import { durationMs } from "../../base/duration.ts";
import type { Json } from "../../base/json.ts";
import type { Step } from "../../definition/language/step.ts";
import type { CrowdLifecycles } from "../crowd-lifecycles.ts";
import type { JobData } from "../data.ts";
import type { Posting, RemoteJob } from "../marketplace.ts";

/** Publishes the job. Its token is the same over all attempts of the visit, so a reply that was lost costs nothing. */
export function publishJob(family: CrowdLifecycles) {
  return async (step: Step<JobData, { published: undefined }>) => {
    const { content } = step.data;
    const posted = await post(family, step, { content, places: family.crowd.submissions, excludes: [] });
    step.set({ remotes: [{ id: posted.id, places: posted.places }] });
    return step.go("published");
  };
}

/** Publishes a posting for the job that the step belongs to. */
export function post(
  { crowd, marketplace }: CrowdLifecycles,
  step: { readonly id: string; readonly idempotencyKey: string; readonly signal: AbortSignal },
  wanted: { readonly content: Json; readonly places: number; readonly excludes: readonly string[] },
): Promise<RemoteJob> {
  const posting: Posting = {
    token: step.idempotencyKey,
    owner: step.id,
    crowd,
    form: crowd.form,
    lifetimeMs: durationMs(crowd.lifetime, "lifetime"),
    ...wanted,
  };
  return marketplace.publish(posting, step);
}
