import { durationMs } from "../../base/duration.ts";
import type { Effect } from "../../definition/language/step.ts";
import type { CrowdLifecycles } from "../crowd-lifecycles.ts";
import type { JobData } from "../data.ts";
import { runFinishedHook } from "../hooks.ts";

/** How long a posting with rejections is kept: as long as Mechanical Turk lets a requester override them. */
export const retentionWithRejections = "30d";

/**
 * Calls the crowd's hook of a finished job. Only after it has succeeded is the deletion of the postings scheduled:
 * until then, the hook may read them, and a rejection can be overridden.
 */
export function concludeJob(family: CrowdLifecycles) {
  return async (work: Effect<JobData>): Promise<void> => {
    const { crowd, disposal } = family;
    await runFinishedHook(crowd, work);
    const { remotes, rejected } = work.data;
    if (remotes.length === 0) return;
    const afterMs = durationMs(crowd.disposeAfter ?? (rejected > 0 ? retentionWithRejections : "1d"), "disposeAfter");
    const data = { crowd: crowd.name, remotes: remotes.map((one) => one.id), afterMs };
    work.start(disposal, { key: "disposal", data });
  };
}
