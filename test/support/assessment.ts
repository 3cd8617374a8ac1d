import { constant, type Effect, lifecycle, type Step } from "pawl";
import { z } from "zod";

const mostReruns = 5;

/** One answer of a candidate, as the code checker knows it. */
export interface Solve {
  readonly question: string;
  status: "waiting" | "checked";
  runs: number;
  /** Set once it was submitted. */
  runId: string | undefined;
}

/** The services around an attempt: they do what they are told to, and fail as often as they are told to. */
export class Services {
  readonly called: string[] = [];
  readonly solves: Solve[] = [];
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

  resubmit(solve: Solve): void {
    this.called.push(`resubmit ${solve.question}`);
    if (solve.runs >= mostReruns) solve.runs = 0;
    if (solve.runId !== undefined) solve.runId = `${solve.runId}+`;
  }
}

type Attempt = { finished: boolean };

/** An assessment attempt and how it comes back from failures, on services of its own. A failed call fails the attempt. */
export function attemptOn(services: Services) {
  const once = { maxAttempts: 1, backoff: constant("1s") };
  const call = async (step: Step<Attempt>): Promise<void> => services.call(step.idempotencyKey.split(":")[1]!);
  const works = { run: call, retry: once };
  const resubmitSolves = async (work: Effect<Attempt>): Promise<void> => {
    services.call(`reset ${work.attempt}`);
    for (const solve of services.solves) if (solve.status !== "checked") services.resubmit(solve);
  };
  return lifecycle("attempt", {
    data: z.object({ finished: z.boolean().default(true) }),
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
      attempt_cleanup: { ...works, on: { start_solve_processing: "solves_processing" } },
      solves_processing: { ...works, on: { solved: "solves_processed" }, checkpoint: "attempt_cleanup" },
      solves_processed: { ...works, on: { enqueue_plagiarism_index: "enqueued_for_plagiarism_index" } },
      enqueued_for_plagiarism_index: {
        release: { every: "1m", atMost: 500, send: "start_index_for_plagiarism" },
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
        release: { every: "1m", atMost: 500, send: "enqueue_plagiarism_calculation" },
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
