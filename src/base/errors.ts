/**
 * Every way in which Pawl says no, grouped by who must act: the author mends a definition, the caller a refused
 * request, time the surroundings, and we a broken invariant. Codes are stable: programs may branch on them.
 */
export const errorCodes = {
  // The author of a definition.
  definition_invalid: "author",
  definition_changed: "author",
  states_removed: "author",
  schema_async: "author",
  hook_failed: "author",
  set_failed: "author",
  guard_failed: "author",
  crash_unsafe: "author",
  // The caller.
  lifecycle_unknown: "caller",
  instance_unknown: "caller",
  schedule_unknown: "caller",
  breaker_unknown: "caller",
  event_unknown: "caller",
  payload_invalid: "caller",
  data_invalid: "caller",
  value_unstorable: "caller",
  key_invalid: "caller",
  option_invalid: "caller",
  transition_refused: "caller",
  version_conflict: "caller",
  idempotency_conflict: "caller",
  not_a_transaction: "caller",
  transaction_required: "caller",
  lease_lost: "caller",
  queue_unknown: "caller",
  queue_exists: "caller",
  sample_unknown: "caller",
  assignment_unknown: "caller",
  label_unknown: "caller",
  label_invalid: "caller",
  invalid_transition: "caller",
  not_the_assignee: "caller",
  not_allowed: "caller",
  media_unsupported: "caller",
  rate_limited: "caller",
  already_given: "caller",
  callback_unknown: "caller",
  callback_decided: "caller",
  token_invalid: "caller",
  token_spent: "caller",
  token_unknown: "caller",
  dead_letter_unknown: "caller",
  dead_letter_decided: "caller",
  ticket_taken: "caller",
  operation_unknown: "caller",
  operation_ended: "caller",
  archive_unknown: "caller",
  config_invalid: "caller",
  // Time, or whoever runs the surroundings.
  closed: "surroundings",
  database_unreachable: "surroundings",
  database_refused: "surroundings",
  database_unsupported: "surroundings",
  folder_locked: "surroundings",
  folder_unusable: "surroundings",
  migration_newer: "surroundings",
  migration_changed: "surroundings",
  migration_failed: "surroundings",
  not_migrated: "surroundings",
  definition_newer: "surroundings",
  outcome_unknown: "surroundings",
  busy: "surroundings",
  statement_timeout: "surroundings",
  step_aborted: "surroundings",
  wait_timeout: "surroundings",
  circuit_open: "surroundings",
  ended_elsewhere: "caller",
  not_running: "surroundings",
  not_available: "surroundings",
  archive_failed: "surroundings",
  archive_damaged: "surroundings",
  // Us.
  invariant_broken: "pawl",
} as const;

export type ErrorCode = keyof typeof errorCodes;

/**
 * The one error class of Pawl. `code` is stable, `message` says what was asked, what stood in the way and what to do,
 * and `details` carries the same as data.
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

  /** Who can mend it: the `author` of a definition, the `caller`, the `surroundings`, or `pawl` itself. */
  get who(): (typeof errorCodes)[ErrorCode] {
    return errorCodes[this.code];
  }
}

export function isPawlError(error: unknown, code?: ErrorCode): error is PawlError {
  return error instanceof PawlError && (code === undefined || error.code === code);
}

/** An invariant of ours does not hold; a report to us is the remedy. */
export function broken(what: string, details: Record<string, unknown> = {}): PawlError {
  return new PawlError("invariant_broken", `${what} This is a fault of Pawl itself: please report it.`, details);
}

/** The text of anything that was thrown; never fails, whatever it was. */
export function messageOf(thrown: unknown): string {
  try {
    if (!(thrown instanceof Error)) return String(thrown);
    // What several addresses failed of is one error without a text of its own.
    const [first] = thrown instanceof AggregateError ? thrown.errors : [];
    const text: unknown = thrown.message || (first === undefined ? thrown.name : messageOf(first));
    return String(text);
  } catch {
    return "something that has no text";
  }
}
