import { constant, type GiveUp, lifecycle, type Step } from "pawl";
import { z } from "zod";
import type { Minutes } from "./minutes.ts";
import type { Services } from "./services/clients.ts";

/** How often a solve is submitted to the code checker without a verdict; then it takes a recovery of its attempt. */
const maxReruns = 3;

const Solve = z.object({
  candidate: z.string(),
  question: z.string(),
  code: z.string(),
  /** How often it was submitted to the checker since it was last reset. */
  runs: z.number().default(0),
  /** The run whose verdict counts; there is none before it was first submitted. */
  runId: z.string().optional(),
  score: z.number().optional(),
});
type Solve = z.infer<typeof Solve>;

export type SolveLifecycle = ReturnType<typeof solveLifecycle>;

/** One answer of a candidate: submitted to the code checker, which calls back with a verdict, or never does. */
export function solveLifecycle({ checker }: Pick<Services, "checker">, minutes: Minutes) {
  return lifecycle("solve", {
    data: Solve,
    events: { verdict: z.object({ runId: z.string(), score: z.number() }) },
    initial: "submitting",
    onParentEnd: "discard",
    on: {
      /**
       * Answers without a verdict are submitted again when their attempt recovers, with new runs if they are used up.
       */
      resubmit: {
        to: "submitting",
        guard: ({ data }) => data.runId !== undefined || "it never ran",
        set: ({ data }) => (data.runs >= maxReruns ? { runs: 0 } : {}),
      },
    },
    states: {
      submitting: {
        run: submit,
        uses: "code-checker",
        retry: { maxAttempts: 3, backoff: constant(minutes(1)) },
        on: { submitted: "checking" },
      },
      checking: {
        timeout: { after: minutes(3), send: "lost" },
        on: {
          verdict: {
            to: "checked",
            guard: ({ data, payload }) => payload.runId === data.runId || "it is the verdict of an earlier run",
            set: ({ payload }) => ({ score: payload.score }),
          },
          lost: "submitting",
        },
      },
      checked: { final: "success" },
    },
  });

  async function submit(step: Step<Solve>): Promise<GiveUp | undefined> {
    const { candidate, question, code, runs } = step.data;
    if (runs >= maxReruns) return step.giveUp(`the code checker ran it ${runs} times and gave no verdict`);
    const { runId } = await checker.submit({ solve: step.id, candidate, question, code }, step);
    step.set({ runs: runs + 1, runId });
    return undefined;
  }
}
