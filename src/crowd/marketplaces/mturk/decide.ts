import { PermanentError, TransientError } from "../../../base/step-errors.ts";
import type { Decided, Decision, MarketplaceContext } from "../../marketplace.ts";
import { isRefused } from "./refused.ts";
import type { Requester } from "./requester.ts";
import { statuses } from "./submissions.ts";

const longestFeedback = 1_024;
const soonMs = 60_000;

/**
 * Decides a submission, or returns the earlier decision: of an attempt whose reply was lost, of a timeout, or made by
 * hand.
 */
export async function decide(
  requester: Requester,
  id: string,
  decision: Decision,
  call: MarketplaceContext,
): Promise<Decided> {
  const { verdict } = decision;
  const feedback = feedbackFor(decision);
  try {
    if (verdict === "approved") {
      await requester.ask(`approve ${id}`, call, (turk, how) =>
        turk.approveAssignment({ AssignmentId: id, ...(feedback !== "" && { RequesterFeedback: feedback }) }, how),
      );
    } else {
      await requester.ask(`reject ${id}`, call, (turk, how) =>
        turk.rejectAssignment({ AssignmentId: id, RequesterFeedback: feedback }, how),
      );
    }
    return { verdict, already: false };
  } catch (error) {
    if (!isRefused(error, "InvalidAssignmentState")) throw error;
    if (/status of: null/i.test(error.said)) throw tooEarly(id, error);
    return { verdict: await decidedBefore(requester, id, call), already: true };
  }
}

async function decidedBefore(requester: Requester, id: string, call: MarketplaceContext): Promise<Decided["verdict"]> {
  let status: keyof typeof statuses | undefined;
  try {
    const { Assignment } = await requester.ask(`read ${id}`, call, (turk, how) =>
      turk.getAssignment({ AssignmentId: id }, how),
    );
    status = Assignment?.AssignmentStatus;
  } catch (error) {
    throw isRefused(error, "InvalidAssignmentState") ? tooEarly(id, error) : error;
  }
  const verdict = statuses[status ?? "Submitted"];
  if (verdict === "submitted") throw tooEarly(id, undefined);
  return verdict;
}

/** For some minutes, a new submission can be listed before it can be decided. */
function tooEarly(id: string, cause: unknown): TransientError {
  const text = `Mechanical Turk does not accept a decision on ${id} yet: it was just submitted.`;
  return new TransientError(text, { retryAfterMs: soonMs, cause });
}

/** The feedback without characters that the service refuses. */
function feedbackFor({ verdict, feedback }: Decision): string {
  const text = (feedback ?? "").replace(/\p{Cc}+/gu, " ").trim();
  if (verdict === "rejected" && text === "") {
    throw new PermanentError("Mechanical Turk requires `feedback` for a rejection.");
  }
  return text.length > longestFeedback ? `${text.slice(0, longestFeedback - 1).toWellFormed()}…` : text;
}
