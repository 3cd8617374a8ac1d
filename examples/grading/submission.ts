import { lifecycle, type Step } from "pawl";
import { z } from "zod";
import { gradingSla } from "./sla.ts";

const Submission = z.object({
  skill: z.enum(["writing", "speaking"]),
  text: z.string(),
  /** The latest request to the grader. */
  requestId: z.string().optional(),
  score: z.number().optional(),
  feedback: z.string().optional(),
});

export type SubmissionLifecycle = ReturnType<typeof submissionLifecycle>;

/**
 * A learner's writing or speaking, from submission to score. The request to the grader goes into the outbox with the
 * move; the answer comes back as a callback. A writing has 20 minutes for all of that and a speaking 60; a later result
 * is kept, and a person may accept it. A simulation sets a short minute.
 */
export function submissionLifecycle(minuteMs = 60_000) {
  const minutes = (count: number) => Math.round(count * minuteMs);
  return lifecycle("submission", {
    data: Submission,
    events: { graded: z.object({ score: z.number().min(0).max(10), feedback: z.string() }) },
    initial: "submitted",
    deadline: { within: ({ data }) => minutes(Number.parseInt(gradingSla[data.skill], 10) / 60), late: "keep" },
    recovery: { maxFailures: 3, after: minutes(2) },
    states: {
      submitted: { run: requestGrading, on: { requested: "grading" } },
      grading: {
        on: { graded: { to: "scored", set: ({ payload }) => payload } },
        recoverWith: "resubmit",
      },
      scored: { final: "success" },
      failed: { on: { resubmit: "submitted" } },
    },
  });
}

function requestGrading(step: Step<z.infer<typeof Submission>>): void {
  const { skill, text } = step.data;
  const requestId = step.idempotencyKey; // A new one for each request, the same over all of its attempts.
  step.set({ requestId });
  step.publish("grading.request", { requestId, submissionId: step.id, skill, text });
}
