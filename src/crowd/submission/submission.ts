import { durationMs } from "../../base/duration.ts";
import { TransientError } from "../../base/step-errors.ts";
import { lifecycle } from "../../definition/lifecycle.ts";
import { oneOf, orNull, recordSchema, text } from "../../definition/schema/record-schema.ts";
import { exponential, isNetworkError, type RetryPolicy } from "../../policy/retry.ts";
import { breakerName, type CrowdLifecycles, marketRetry } from "../crowd-lifecycles.ts";
import { submissionData, type Verdict } from "../data.ts";
import { runDecisionHook } from "../hooks.ts";
import { retentionWithRejections } from "../job/conclude-job.ts";
import { confirmRejection } from "../marketplace-calls/confirm-rejection.ts";
import { decideSubmission } from "../marketplace-calls/decide.ts";
import { review } from "./review.ts";

/** What only a moment's trouble explains is tried again; on anything else that the crowd's own check throws, a person decides. */
const reviewRetry: RetryPolicy = {
  maxAttempts: 5,
  backoff: exponential(),
  rules: [{ when: (error) => !(error instanceof TransientError || isNetworkError(error)), maxAttempts: 1 }],
};

type Feedback = { readonly feedback: string | null };
type MarketplaceVerdict = { readonly verdict: Verdict };

/** What one worker has submitted, from the marketplace's word that it is there to the decision about it. */
export function submissionOf(family: CrowdLifecycles) {
  const { crowd } = family;
  const there = { uses: breakerName(family), retry: marketRetry };
  const approve = {
    to: "approving",
    set: ({ payload }: { payload: Feedback }) => ({ feedback: payload.feedback, problem: null, retried: false }),
  } as const;
  const reject = { ...approve, to: "rejecting" } as const;
  // The marketplace decided first: its decision is adopted in the same way as any other.
  const adopt = { set: ({ payload }: { payload: MarketplaceVerdict }) => ({ there: payload.verdict }) };
  const decided = [
    {
      to: "approving",
      guard: ({ payload }: { payload: MarketplaceVerdict }) => payload.verdict === "approved" || "it was rejected",
      ...adopt,
    },
    { to: "rejecting", ...adopt },
  ] as const;
  const approved = { to: "approved", after: runDecisionHook(crowd, "onApproved") } as const;
  const rejected = { to: "rejected", after: runDecisionHook(crowd, "onRejected") } as const;
  // A requester can still override a rejection at the marketplace: then the worker is paid.
  const overridden = {
    ...approved,
    set: () => ({ auto: true, conflict: { wanted: "rejected", found: "approved" } as const }),
  } as const;
  return lifecycle(`pawl_submission_${crowd.name}`, {
    data: submissionData,
    events: {
      approve: recordSchema<Feedback>({ feedback: orNull(text) }),
      reject: recordSchema<Feedback>({ feedback: orNull(text) }),
      decided: recordSchema<MarketplaceVerdict>({ verdict: oneOf("approved", "rejected") }),
    },
    initial: "submitted",
    recovery: { maxFailures: 3, after: "10m" },
    on: { recover: { set: () => ({ retried: true }) } },
    states: {
      submitted: {
        run: review(family),
        retry: reviewRetry,
        on: {
          approve,
          reject,
          hold: "pending_approval",
          fail: { to: "errored", deadLetter: true, set: ({ payload }) => ({ problem: problemOf(payload) }) },
        },
      },
      pending_approval: { forever: true, on: { approve, reject, decided }, checkpoint: "submitted" },
      errored: { forever: true, on: { retry: "submitted", approve, reject, decided }, recoverWith: "retry" },
      approving: {
        run: decideSubmission(family, "approved"),
        ...there,
        on: { approved, overruled: rejected },
      },
      rejecting: {
        run: decideSubmission(family, "rejected"),
        ...there,
        on: { rejected, overruled: approved },
      },
      approved: { final: "success" },
      rejected: {
        timeout: { after: confirmAfterMs(crowd), send: "confirm" },
        on: { confirm: "confirming_rejection", overridden },
        recoverWith: "confirm",
      },
      confirming_rejection: {
        run: confirmRejection(family),
        ...there,
        on: { confirmed: "rejection_final", overridden, fail: { to: "rejection_final", deadLetter: true } },
      },
      rejection_final: { final: "failure" },
      failed: { on: { decided } },
    },
  });
}

function problemOf({ reason, error }: { reason: string; error: { message: string } | null }): string {
  return error?.message ?? reason;
}

/** Shortly before the posting may be deleted: until then, the marketplace can be queried. */
function confirmAfterMs({ disposeAfter }: CrowdLifecycles["crowd"]): number {
  return Math.floor(durationMs(disposeAfter ?? retentionWithRejections, "disposeAfter") * 0.9);
}
