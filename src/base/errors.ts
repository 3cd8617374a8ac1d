/**
 * Every code of an error, grouped by where the fault is: in a definition, in the request, in the environment, or in Pawl
 * itself. Codes are stable: programs may branch on them.
 */
export const errorCodes = {
  // In a definition.
  definition_invalid: "definition",
  definition_changed: "definition",
  states_removed: "definition",
  schema_async: "definition",
  hook_failed: "definition",
  set_failed: "definition",
  guard_failed: "definition",
  crash_unsafe: "definition",
  simulation_failed: "definition",
  // In the request.
  lifecycle_unknown: "request",
  instance_unknown: "request",
  schedule_unknown: "request",
  breaker_unknown: "request",
  event_unknown: "request",
  payload_invalid: "request",
  data_invalid: "request",
  value_not_serializable: "request",
  key_invalid: "request",
  option_invalid: "request",
  transition_refused: "request",
  version_conflict: "request",
  wait_ended_in_other_state: "request",
  idempotency_conflict: "request",
  not_a_transaction: "request",
  transaction_required: "request",
  lease_lost: "request",
  queue_unknown: "request",
  queue_exists: "request",
  sample_unknown: "request",
  assignment_unknown: "request",
  label_unknown: "request",
  label_invalid: "request",
  invalid_transition: "request",
  not_the_assignee: "request",
  not_allowed: "request",
  media_unsupported: "request",
  rate_limited: "request",
  assignment_conflict: "request",
  callback_unknown: "request",
  callback_decided: "request",
  token_invalid: "request",
  token_spent: "request",
  token_unknown: "request",
  dead_letter_unknown: "request",
  dead_letter_decided: "request",
  ticket_assigned: "request",
  operation_unknown: "request",
  operation_ended: "request",
  archive_unknown: "request",
  config_invalid: "request",
  // In the environment: the same call may succeed later.
  closed: "environment",
  database_unreachable: "environment",
  database_refused: "environment",
  database_unsupported: "environment",
  folder_locked: "environment",
  folder_unusable: "environment",
  migration_newer: "environment",
  migration_changed: "environment",
  migration_failed: "environment",
  not_migrated: "environment",
  definition_newer: "environment",
  state_undeclared: "environment",
  outcome_unknown: "environment",
  busy: "environment",
  statement_timeout: "environment",
  step_aborted: "environment",
  wait_timeout: "environment",
  circuit_open: "environment",
  not_running: "environment",
  not_available: "environment",
  archive_failed: "environment",
  archive_damaged: "environment",
  // In Pawl itself.
  invariant_broken: "internal",
} as const;

export type ErrorCode = keyof typeof errorCodes;

/**
 * The error class of Pawl. `code` is stable, `message` says what was attempted, why it failed and what to do, and
 * `details` has the same as data.
 *
 * ```ts
 * try { await pawl.send(essay, "sub-42", "graded", { score: 7 }); }
 * catch (error) { if (isPawlError(error, "transition_refused")) console.log(error.details.blockers); }
 * ```
 */
export class PawlError extends Error {
  readonly code: ErrorCode;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: ErrorCode, message: string, details: Record<string, unknown> = {}, options?: { cause?: unknown }) {
    super(message, options);
    this.name = "PawlError";
    this.code = code;
    this.details = details;
  }

  /** What has to change: a `definition`, the `request`, the `environment`, or Pawl itself (`internal`). */
  get fault(): (typeof errorCodes)[ErrorCode] {
    return errorCodes[this.code];
  }
}

export function isPawlError(error: unknown, code?: ErrorCode): error is PawlError {
  return error instanceof PawlError && (code === undefined || error.code === code);
}

/** Whether a process with another definition could do at once what this one refused. */
export function isOfOtherProcesses(error: unknown): boolean {
  return isPawlError(error, "definition_newer") || isPawlError(error, "state_undeclared");
}

/** An invariant of ours does not hold; a report to us is the remedy. */
export function broken(what: string, details: Record<string, unknown> = {}): PawlError {
  return new PawlError("invariant_broken", `${what} This is a bug in Pawl; please report it.`, details);
}

/** The text of any thrown value; never fails. */
export function messageOf(thrown: unknown): string {
  try {
    if (!(thrown instanceof Error)) return String(thrown);
    // An error for several addresses has no text of its own.
    const [first] = thrown instanceof AggregateError ? thrown.errors : [];
    const text: unknown = thrown.message || (first === undefined ? thrown.name : messageOf(first));
    return String(text);
  } catch {
    return "something that has no text";
  }
}
