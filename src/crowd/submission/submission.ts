import { durationMs } from "../../base/duration.ts";
import { TransientError } from "../../base/step-errors.ts";
import { lifecycle } from "../../definition/lifecycle.ts";
import { oneOf, orNull, recordSchema, text } from "../../definition/schema/record-schema.ts";
import { exponential, isNetworkError, type RetryPolicy } from "../../policy/retry.ts";
import { breakerName, type Family, marketRetry } from "../crowd-lifecycles.ts";
import { submissionData, type Verdict } from "../data.ts";
import { tellDecided } from "../hooks.ts";
import { retentionWithRejections } from "../job/conclude-job.ts";
import { confirmRejection } from "../marketplace-calls/confirm-rejection.ts";
import { decideThere } from "../marketplace-calls/decide.ts";
import { review } from "./review.ts";

/** What only a moment's trouble explains is tried again; on anything else that the crowd's own check throws, a person decides. */
const reviewRetry: RetryPolicy = {
  maxAttempts: 5,
  backoff: exponential(),
  rules: [{ when: (error) => !(error instanceof TransientError || isNetworkError(error)), maxAttempts: 1 }],
};

type Told = { readonly feedback: string | null };
type Found = { readonly verdict: Verdict };

/** What one worker has submitted, from the marketplace's word that it is there to the decision about it. */
export function submissionOf(family: Family) {
  const { crowd } = family;
  const there = { uses: breakerName(family), retry: marketRetry };
  const approve = {
    to: "approving",
    set: ({ payload }: { payload: Told }) => ({ feedback: payload.feedback, problem: null, retried: false }),
  } as const;
  const reject = { ...approve, to: "rejecting" } as const;
  // The marketplace decided first: its decision is adopted in the same way as any other.
  const adopt = { set: ({ payload }: { payload: Found }) => ({ there: payload.verdict }) };
  const decided = [
    {
      to: "approving",
      guard: ({ payload }: { payload: Found }) => payload.verdict === "approved" || "it was rejected",
      ...adopt,
    },
    { to: "rejecting", ...adopt },
  ] as const;
  const approved = { to: "approved", after: tellDecided(crowd, "onApproved") } as const;
  const rejected = { to: "rejected", after: tellDecided(crowd, "onRejected") } as const;
  // A requester can still override a rejection at the marketplace: then the worker is paid.
  const overridden = {
    ...approved,
    set: () => ({ auto: true, conflict: { wanted: "rejected", found: "approved" } as const }),
  } as const;
  return lifecycle(`pawl_submission_${crowd.name}`, {
    data: submissionData,
    events: {
      approve: recordSchema<Told>({ feedback: orNull(text) }),
      reject: recordSchema<Told>({ feedback: orNull(text) }),
      decided: recordSchema<Found>({ verdict: oneOf("approved", "rejected") }),
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
        run: decideThere(family, "approved"),
        ...there,
        on: { approved, overruled: rejected },
      },
      rejecting: {
        run: decideThere(family, "rejected"),
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
function confirmAfterMs({ disposeAfter }: Family["crowd"]): number {
  return Math.floor(durationMs(disposeAfter ?? retentionWithRejections, "disposeAfter") * 0.9);
}
