import { messageOf, PawlError } from "../../base/errors.ts";
import { cleanText } from "../../base/json.ts";
import { RejectSubmission } from "../../base/step-errors.ts";
import type { Step } from "../../definition/language/step.ts";
import { fitsSchema, labelInvalid } from "../../people/labels/check-label.ts";
import type { CrowdLifecycles } from "../crowd-lifecycles.ts";
import type { SubmissionData } from "../data.ts";
import { submissionWork } from "../hooks.ts";

type Feedback = { readonly feedback: string | null };
type Outcomes = { approve: Feedback; reject: Feedback; hold: undefined };

/** The maximum length of a message to a worker. */
const longestFeedback = 1_000;

/**
 * Validates a submission: first its schema, then the crowd's own check. A submission that does not match its schema
 * waits for a person to decide, since it may not be the worker's fault.
 */
export function review({ crowd }: CrowdLifecycles) {
  return async (step: Step<SubmissionData, Outcomes>) => {
    const held = await fitsSchema(crowd, step.data.answer);
    if (held.faults !== undefined) throw labelInvalid(crowd, held.faults);
    step.set({ label: held.label });
    try {
      await crowd.onSubmitted?.(submissionWork({ ...step, data: { ...step.data, label: held.label } }));
    } catch (error) {
      if (!(error instanceof RejectSubmission)) throw error;
      return step.go("reject", { feedback: feedbackOf(error) });
    }
    const { there } = step.data;
    if (there === "rejected") return step.go("reject", { feedback: null });
    return crowd.autoApprove || there === "approved" ? step.go("approve", { feedback: null }) : step.go("hold");
  };
}

function feedbackOf(error: RejectSubmission): string {
  const text = cleanText(messageOf(error), longestFeedback).trim();
  if (text !== "") return text;
  throw new PawlError("hook_failed", "A `RejectSubmission` needs a message for the worker.");
}
