import type { Step } from "../../definition/language/step.ts";
import type { CrowdLifecycles } from "../crowd-lifecycles.ts";
import type { SubmissionData } from "../data.ts";

type Outcomes = { confirmed: undefined; overridden: undefined };

/**
 * Reads the state of a rejected submission: a requester may have overridden the rejection by hand, without a
 * notification.
 */
export function confirmRejection({ marketplace }: CrowdLifecycles) {
  return async (step: Step<SubmissionData, Outcomes>) => {
    const { job, submission } = step.data;
    if ((await marketplace.job(job, step)) === undefined) return step.go("confirmed"); // Deleted: nothing can change.
    const remote = (await marketplace.submissions(job, step)).find((one) => one.id === submission);
    return step.go(remote?.status === "approved" ? "overridden" : "confirmed");
  };
}
