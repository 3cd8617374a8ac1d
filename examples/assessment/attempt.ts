import { constant, lifecycle } from "pawl";
import { Attempt, attemptHandlers } from "./handlers.ts";
import type { Minutes } from "./minutes.ts";
import type { Services } from "./services/clients.ts";
import type { SolveLifecycle } from "./solve.ts";

export type AttemptLifecycle = ReturnType<typeof attemptLifecycle>;

/** A failed call fails the attempt; what follows is up to `recovery`. */
const once = { maxAttempts: 1, backoff: constant("1s") };

/**
 * A candidate's attempt at an assessment, from the first question to the report. When a step fails, the attempt falls
 * back to its checkpoint, ten minutes later, and tries again; after the third failure a person decides.
 */
export function attemptLifecycle(solve: SolveLifecycle, services: Services, minutes: Minutes) {
  const does = attemptHandlers(solve, services);
  const attempt = lifecycle("attempt", {
    data: Attempt,
    initial: "created",
    recovery: {
      maxFailures: 3,
      after: minutes(10),
      onlyPermitted: true,
      fallback: "reprocess_solves",
      reset: {
        before: "solves_processed",
        run: does.resubmitSolves,
        retry: { maxAttempts: 3, backoff: constant(minutes(1)) },
      },
    },
    on: {
      restart: { after: (effect): void => does.completeAgain(effect, attempt) },
      discard: { after: does.forget },
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
      completed: { run: does.dropEmptyAnswers, retry: once, on: { clean_up: "attempt_cleanup" } },
      attempt_cleanup: { run: does.startSolves, retry: once, on: { start_solve_processing: "solves_processing" } },
      solves_processing: {
        join: { failed: "fail" },
        timeout: { after: minutes(30), send: "fail" },
        on: { joined: "solves_processed" },
        checkpoint: "attempt_cleanup",
      },
      solves_processed: {
        run: does.collectScores,
        retry: once,
        on: { enqueue_plagiarism_index: "enqueued_for_plagiarism_index" },
      },
      enqueued_for_plagiarism_index: {
        release: { interval: minutes(1), limit: 500, send: "start_index_for_plagiarism" },
        on: { start_index_for_plagiarism: "indexing_for_plagiarism" },
      },
      indexing_for_plagiarism: {
        run: does.indexAnswers,
        uses: "plagiarism-index",
        retry: once,
        on: { index_done: "indexed_for_plagiarism" },
        checkpoint: "enqueued_for_plagiarism_index",
      },
      indexed_for_plagiarism: {
        run: does.storeInfo,
        retry: once,
        on: { store_info: "additional_attempt_info_stored" },
        recoverWith: "retry_verify_proctor_results",
      },
      // The positions of the next three states in the order are inferred from what they need and what they lead to.
      additional_attempt_info_stored: {
        run: does.analyseRecording,
        uses: "proctoring",
        retry: once,
        on: { generate_proctoring_results: "proctoring_results_generated" },
      },
      proctoring_results_generated: {
        run: does.verifyProctoring,
        retry: once,
        on: { verify_proctor_results: "score_calculated" },
      },
      score_calculated: {
        release: { interval: minutes(1), limit: 500, send: "enqueue_plagiarism_calculation" },
        on: { enqueue_plagiarism_calculation: "enqueued_for_plagiarism_calculation" },
      },
      enqueued_for_plagiarism_calculation: {
        run: does.compareAnswers,
        uses: "plagiarism-index",
        retry: once,
        on: { finish: "processed" },
        checkpoint: "score_calculated",
      },
      processed: { final: "success" },
      failed: {
        on: {
          reprocess_solves: { to: "solves_processing", after: does.reprocessSolves },
          retry_verify_proctor_results: "additional_attempt_info_stored",
        },
      },
    },
  });
  return attempt;
}
