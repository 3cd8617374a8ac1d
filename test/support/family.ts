import { lifecycle, type Step } from "pawl";
import { z } from "zod";

/** A part of an attempt: it is checked by an external service. */
export const solve = lifecycle("solve", {
  data: z.object({ question: z.string(), runs: z.number().default(0) }),
  events: { verdict: z.object({ score: z.number() }) },
  initial: "checking",
  onParentEnd: "call_off",
  on: { resubmit: { to: "checking", set: ({ data }) => ({ runs: data.runs + 1 }) } },
  states: {
    checking: { forever: true, on: { verdict: "checked", wrong: "refuted", call_off: "called_off" } },
    checked: { final: "success" },
    refuted: { final: "failure" },
    called_off: { final: "failure" },
  },
});

/** Another kind of child, without any wish for the day on which its parent ends. */
export const note = lifecycle("note", {
  initial: "open",
  states: { open: { forever: true, on: { close: "closed" } }, closed: { final: "success" } },
});

const Attempt = z.object({
  questions: z.array(z.string()),
  notes: z.number().default(0),
  pages: z.number().default(0),
  counts: z.record(z.string(), z.number()).optional(),
});
type Attempt = z.infer<typeof Attempt>;

/** What the step of a test does in addition to starting its solves. */
export const plan: { during?: ((step: Step<Attempt>) => unknown) | undefined } = {};

async function startSolves(step: Step<Attempt>): Promise<void> {
  for (const question of step.data.questions) step.start(solve, { key: question, data: { question } });
  for (let left = step.data.notes; left > 0; left--) step.start(note);
  await plan.during?.(step);
}

/** An attempt with its solves, in as many shapes as a join has. */
export function attemptWith(failed: "fail" | "count" | "wait") {
  return lifecycle("attempt", {
    data: Attempt,
    initial: "preparing",
    states: {
      preparing: {
        run: startSolves,
        retry: { maxAttempts: 3, backoff: () => 0 },
        on: { prepared: "solving" },
      },
      solving: {
        join: { failed },
        checkpoint: "preparing",
        on: {
          joined: { to: "solved", set: ({ payload }) => ({ counts: { ...payload } }) },
          skip: "idle",
        },
      },
      idle: { forever: true, on: { finish: "solved", again: "solving" } },
      solved: { final: "success" },
    },
  });
}
