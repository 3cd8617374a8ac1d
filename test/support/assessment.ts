import { constant, type Effect, lifecycle, type Step } from "pawl";
import { z } from "zod";

const mostReruns = 5;

/** The services around an attempt: scripted, with a number of failures each. */
export class Services {
  readonly called: string[] = [];
  readonly #trouble = new Map<string, unknown[]>();

  /** The next calls of a state's service throw these, one after the other. */
  fails(state: string, ...errors: unknown[]): void {
    this.#trouble.set(state, [...(this.#trouble.get(state) ?? []), ...errors]);
  }

  call(state: string): void {
    this.called.push(state);
    const [error] = this.#trouble.get(state)?.splice(0, 1) ?? [];
    if (error !== undefined) throw error;
  }
}

/** One answer of a candidate. The external code checker sends its score. */
export const solve = lifecycle("solve", {
  data: z.object({ runs: z.number().default(0), runId: z.string().optional() }),
  initial: "checking",
  on: {
    resubmit: [
      { guard: ({ data }) => data.runId === undefined || "it ran", set: ({ data }) => rerun(data.runs) },
      { to: "checking", set: ({ data }) => ({ ...rerun(data.runs), runId: `${data.runId}+` }) },
    ],
  },
  states: {
    checking: { forever: true, on: { verdict: "checked" } },
    checked: { final: "success" },
  },
});

/** A count of runs that is used up starts over. */
function rerun(runs: number): { runs?: number } {
  return runs >= mostReruns ? { runs: 0 } : {};
}

const Solve = z.object({ question: z.string(), runs: z.number().default(0), runId: z.string().optional() });
type Attempt = { finished: boolean; solves: z.infer<typeof Solve>[] };

/** An assessment attempt and its recovery from failures, on services of its own. A failed call fails the attempt. */
export function attemptOn(services: Services) {
  const once = { maxAttempts: 1, backoff: constant("1s") };
  const call = async (step: Step<Attempt>): Promise<void> => services.call(step.idempotencyKey.split(":")[1]!);
  const works = { run: call, retry: once };
  const startSolves = async (step: Step<Attempt>): Promise<void> => {
    await call(step);
    for (const { question, ...data } of step.data.solves) step.start(solve, { key: question, data });
  };
  const resubmitSolves = async (work: Effect<Attempt>): Promise<void> => {
    services.call(`reset ${work.attempt}`);
    for (const child of await work.children(solve)) {
      if (child.state !== "checked") work.send(solve, child, "resubmit");
    }
  };
  return lifecycle("attempt", {
    data: z.object({ finished: z.boolean().default(true), solves: z.array(Solve).default([]) }),
    initial: "created",
    recovery: {
      maxFailures: 3,
      after: "10m",
      fallback: "reprocess_solves",
      onlyPermitted: true,
      reset: { before: "solves_processed", run: resubmitSolves },
    },
    on: {
      restart: { after: () => services.call("complete again") },
      discard: { after: () => services.call("clean up") },
    },
    states: {
      created: {
        forever: true,
        on: {
          complete: "completed",
          force_complete: { to: "completed", guard: ({ data }) => data.finished || "the candidate is still working" },
        },
        recoverWith: "force_complete",
      },
      completed: { ...works, on: { clean_up: "attempt_cleanup" } },
      attempt_cleanup: { run: startSolves, retry: once, on: { start_solve_processing: "solves_processing" } },
      solves_processing: {
        join: { failed: "fail" },
        timeout: { after: "30m", send: "fail" },
        on: { joined: "solves_processed" },
        checkpoint: "attempt_cleanup",
      },
      solves_processed: { ...works, on: { enqueue_plagiarism_index: "enqueued_for_plagiarism_index" } },
      enqueued_for_plagiarism_index: {
        release: { interval: "1m", limit: 500, send: "start_index_for_plagiarism" },
        on: { start_index_for_plagiarism: "indexing_for_plagiarism" },
      },
      indexing_for_plagiarism: {
        ...works,
        on: { index_done: "indexed_for_plagiarism" },
        checkpoint: "enqueued_for_plagiarism_index",
      },
      indexed_for_plagiarism: {
        ...works,
        on: { store_info: "additional_attempt_info_stored" },
        recoverWith: "retry_verify_proctor_results",
      },
      additional_attempt_info_stored: { ...works, on: { verify_proctor_results: "proctoring_results_generated" } },
      proctoring_results_generated: { ...works, on: { calculate_score: "score_calculated" } },
      score_calculated: {
        release: { interval: "1m", limit: 500, send: "enqueue_plagiarism_calculation" },
        on: { enqueue_plagiarism_calculation: "enqueued_for_plagiarism_calculation" },
      },
      enqueued_for_plagiarism_calculation: { ...works, on: { finish: "processed" }, checkpoint: "score_calculated" },
      processed: { final: "success" },
      failed: {
        on: {
          reprocess_solves: "solves_processing",
          retry_verify_proctor_results: "additional_attempt_info_stored",
        },
      },
    },
  });
}
