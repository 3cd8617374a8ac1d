import { messageOf, PawlError } from "../../base/errors.ts";
import { cleanText } from "../../base/json.ts";
import { RejectSubmission } from "../../base/step-errors.ts";
import type { Step } from "../../definition/language/step.ts";
import { fitsSchema, labelInvalid } from "../../people/labels/check-label.ts";
import type { Family } from "../crowd-lifecycles.ts";
import type { SubmissionData } from "../data.ts";
import { submissionWork } from "../hooks.ts";

type Told = { readonly feedback: string | null };
type Outcomes = { approve: Told; reject: Told; hold: undefined };

/** The longest that a marketplace tells a worker. */
const longestFeedback = 1_000;

/**
 * Looks at what came in: that it is a label, and whether the crowd's own check takes it. What does not fit its form is for
 * a person to decide, since the worker may have done nothing wrong.
 */
export function review({ crowd }: Family) {
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
