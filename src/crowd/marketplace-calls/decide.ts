import type { Json } from "../../base/json.ts";
import type { Go, Step } from "../../definition/language/step.ts";
import { fitsSchema } from "../../people/labels/check-label.ts";
import type { CrowdLifecycles } from "../crowd-lifecycles.ts";
import type { SubmissionData, Verdict } from "../data.ts";

type Outcomes<Wanted extends Verdict> = Record<Wanted | "overruled", undefined>;

/**
 * Sends the decision to the marketplace and adopts the one that is in force there: an earlier decision wins, and the
 * difference is recorded. The job receives the outcome and syncs.
 */
export function decideSubmission<Wanted extends Verdict>(family: CrowdLifecycles, verdict: Wanted) {
  return async (step: Step<SubmissionData, Outcomes<Wanted>>): Promise<Go<Wanted | "overruled", undefined>> => {
    const { submission, there, retried } = step.data;
    const feedback = step.data.feedback ?? (verdict === "rejected" ? "It was rejected." : null);
    const found = await family.marketplace.decide(submission, { verdict, feedback }, step);
    step.send(family.job, { id: step.parent!.id }, "progress");
    // In a later attempt, or after a recovery, the decision may be ours: an earlier reply was lost.
    step.set({ auto: there !== null || (found.already && step.attempt === 1 && retried !== true) });
    if (found.verdict === "approved") step.set({ label: await labelOf(family, step.data) });
    if (found.verdict === verdict) return step.go(verdict);
    step.set({ conflict: { wanted: verdict, found: found.verdict } });
    return step.go("overruled");
  };
}

/** A submission whose check failed has no label yet. An approved one gets a label if it matches its schema. */
async function labelOf({ crowd }: CrowdLifecycles, { label, answer }: SubmissionData): Promise<Json | null> {
  return label ?? (await fitsSchema(crowd, answer)).label ?? null;
}
