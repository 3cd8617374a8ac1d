import type { Context } from "hono";
import type { StatusCode } from "hono/utils/http-status";
import { type ErrorCode, type errorCodes, isPawlError, messageOf, type PawlError } from "../base/errors.ts";

/** An error as RFC 9457 writes it, with Pawl's own code. */
export interface Problem {
  readonly type: "about:blank";
  readonly title: string;
  readonly status: number;
  readonly code: string;
  readonly detail?: string;
  /** The same as data. */
  readonly details?: Readonly<Record<string, unknown>>;
  /** The faults of a label, each with its path. */
  readonly faults?: readonly LabelFault[];
}

/** A fault of a label: its path, as a JSON Pointer, and the message. */
interface LabelFault {
  readonly path: string;
  readonly code: string;
  readonly message: string;
}

type Code<Fault extends string> = {
  [Each in ErrorCode]: (typeof errorCodes)[Each] extends Fault ? Each : never;
}[ErrorCode];

/** Errors that the caller can fix, each with its status: the compiler requires one for every new code. */
const callers: Record<Code<"request">, number> = {
  option_invalid: 400,
  key_invalid: 400,
  config_invalid: 400,
  not_a_transaction: 400,
  transaction_required: 400,
  token_invalid: 401,
  not_allowed: 403,
  not_the_assignee: 403,
  schedule_unknown: 404,
  breaker_unknown: 404,
  queue_unknown: 404,
  sample_unknown: 404,
  assignment_unknown: 404,
  label_unknown: 404,
  callback_unknown: 404,
  dead_letter_unknown: 404,
  operation_unknown: 404,
  archive_unknown: 404,
  token_unknown: 404,
  instance_unknown: 404,
  lifecycle_unknown: 404,
  event_unknown: 404,
  transition_refused: 409,
  version_conflict: 409,
  invalid_transition: 409,
  assignment_conflict: 409,
  queue_exists: 409,
  callback_decided: 409,
  token_spent: 409,
  dead_letter_decided: 409,
  ticket_assigned: 409,
  operation_ended: 409,
  lease_lost: 409,
  wait_ended_in_other_state: 409,
  media_unsupported: 415,
  rate_limited: 429,
  payload_invalid: 422,
  data_invalid: 422,
  label_invalid: 422,
  value_not_serializable: 422,
  idempotency_conflict: 422,
};

const titles: Readonly<Record<number, string>> = {
  400: "Bad request",
  401: "Not authenticated",
  403: "Forbidden",
  404: "Not found",
  405: "Method not allowed",
  409: "Conflict",
  413: "Too large",
  415: "Unsupported media type",
  422: "Unprocessable content",
  429: "Too many requests",
  500: "Internal error",
  503: "Service unavailable",
  504: "Timed out",
};

/** Not an error: the awaited state was not reached in time. */
const patienceEnded = 504;

function notNow(code: ErrorCode): number {
  return code === "wait_timeout" ? patienceEnded : 503;
}

/**
 * An error as a problem. A stranger learns of a failure on this side only that it happened; the owner of this process
 * (`isLocal`) learns all of it.
 */
export function problemOf(error: unknown, { isLocal = false } = {}): Problem {
  const code = isPawlError(error) ? error.code : "invariant_broken";
  const fault = isPawlError(error) ? error.fault : "internal";
  const status =
    code === "definition_invalid"
      ? 422 // Of a queue that is described over HTTP; the process's own definitions were checked when it started.
      : fault === "request"
        ? callers[code as Code<"request">]
        : fault === "environment"
          ? notNow(code)
          : 500;
  const isShown = isLocal || status < 500 || status === patienceEnded || code === "statement_timeout";
  const answer = {
    ...problem(status, code, isShown ? messageOf(error) : undefined),
    ...(isPawlError(error) && isShown ? detailsOf(error) : {}),
  };
  if (!isPawlError(error, "label_invalid")) return answer;
  return { ...answer, faults: error.details.faults as readonly LabelFault[] };
}

/** The same as data, such as each blocker of a refused move; values that JSON cannot represent are left out. */
function detailsOf({ details }: PawlError): Pick<Problem, "details"> {
  try {
    const data = JSON.parse(JSON.stringify(details)) as Record<string, unknown>;
    return Object.keys(data).length === 0 ? {} : { details: data };
  } catch {
    return {};
  }
}

export function problem(status: number, code: string, detail?: string): Problem {
  const answer = { type: "about:blank", title: titles[status] ?? "Failed", status, code } as const;
  return detail === undefined ? answer : { ...answer, detail };
}

export function answerProblem(context: Context, problem: Problem): Response {
  const more: Record<string, string> = { "content-type": "application/problem+json" };
  if (problem.status === 401) more["www-authenticate"] = "Bearer";
  if (problem.status === 429)
    more["retry-after"] = String(Math.ceil(Number(problem.details?.retryAfterMs ?? 1_000) / 1_000));
  if (problem.status === 503) more["retry-after"] = "1";
  context.status(problem.status as StatusCode);
  return context.body(JSON.stringify(problem), undefined, more);
}
