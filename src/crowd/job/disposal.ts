import type { Step } from "../../definition/language/step.ts";
import { lifecycle } from "../../definition/lifecycle.ts";
import { listOf, number, recordSchema, text } from "../../definition/schema/record-schema.ts";
import { breakerName, type CrowdLifecycles, marketRetry } from "../crowd-lifecycles.ts";
import type { DisposalData } from "../data.ts";

/** Deletes the postings of a job at the marketplace: some time after the job's end, or by a call. */
export function disposalOf(family: CrowdLifecycles) {
  return lifecycle(`pawl_disposal_${family.crowd.name}`, {
    data: recordSchema<DisposalData>({ crowd: text, remotes: listOf(text), afterMs: number }),
    initial: "kept",
    recovery: { maxFailures: 3, after: "6h" },
    states: {
      kept: {
        timeout: { after: ({ data }) => data.afterMs, send: "dispose" },
        on: { dispose: "disposing" },
        recoverWith: "dispose",
      },
      disposing: {
        run: async (step: Step<DisposalData, { disposed: undefined }>) => {
          for (const id of step.data.remotes) await family.marketplace.dispose(id, step);
          return step.go("disposed");
        },
        uses: breakerName(family),
        retry: marketRetry,
        on: { disposed: "disposed" },
      },
      disposed: { final: "success" },
    },
  });
}
