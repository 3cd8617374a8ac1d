import { lifecycle } from "pawl";
import { z } from "zod";

const data = z.object({
  skill: z.enum(["writing", "speaking"]),
  score: z.number().optional(),
});
const events = { graded: z.object({ score: z.number().max(10), runId: z.string().optional() }) };

/** The payloads that the after-effects of a grade got. */
export const told: { id: string; score: number }[] = [];

/** A submission that an outside service grades. The rule for late results is its only difference to its siblings. */
function submissionNamed<Name extends string>(name: Name, late: "keep" | "reject" | "accept") {
  return lifecycle(name, {
    data,
    events,
    initial: "submitted",
    deadline: { within: ({ data: { skill } }) => (skill === "writing" ? "20m" : "60m"), late },
    retention: "1h",
    states: {
      submitted: { run: () => {}, on: { requested: "grading" } },
      grading: {
        on: {
          graded: {
            to: "scored",
            guard: ({ payload }) => payload.runId !== "old" || "it is of an earlier request",
            set: ({ payload }) => ({ score: payload.score }),
            after: ({ id, payload }) => {
              told.push({ id, score: payload.score });
            },
          },
        },
        recoverWith: "resubmit",
      },
      scored: { final: "success" },
      failed: { on: { resubmit: "submitted" } },
    },
    recovery: { maxFailures: 3, after: "1m" },
  });
}

export const submission = submissionNamed("submission", "keep");
export const strict = submissionNamed("strict", "reject");
export const lenient = submissionNamed("lenient", "accept");
