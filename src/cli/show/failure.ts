import { type ErrorCode, errorCodes, PawlError } from "../../base/errors.ts";
import type { Terminal } from "./terminal.ts";

/** A user pressed Ctrl-C. */
export class Interrupted extends Error {}

/** Exit codes are part of the interface: scripts branch on them. */
export const exitCodes = {
  ok: 0,
  failed: 1,
  usage: 2,
  notFound: 3,
  conflict: 4,
  partly: 5,
  unreachable: 6,
  notAllowed: 7,
  timedOut: 124,
  interrupted: 130,
} as const;

const byCode: Partial<Record<ErrorCode, number>> = {
  option_invalid: exitCodes.usage,
  key_invalid: exitCodes.usage,
  data_invalid: exitCodes.usage,
  payload_invalid: exitCodes.usage,
  value_not_serializable: exitCodes.usage,
  event_unknown: exitCodes.usage,
  lifecycle_unknown: exitCodes.notFound,
  instance_unknown: exitCodes.notFound,
  schedule_unknown: exitCodes.notFound,
  breaker_unknown: exitCodes.notFound,
  callback_unknown: exitCodes.notFound,
  callback_decided: exitCodes.conflict,
  token_invalid: exitCodes.notAllowed,
  token_spent: exitCodes.conflict,
  token_unknown: exitCodes.notFound,
  dead_letter_unknown: exitCodes.notFound,
  dead_letter_decided: exitCodes.conflict,
  operation_unknown: exitCodes.notFound,
  operation_ended: exitCodes.conflict,
  ticket_assigned: exitCodes.conflict,
  archive_unknown: exitCodes.notFound,
  archive_failed: exitCodes.unreachable,
  queue_unknown: exitCodes.notFound,
  sample_unknown: exitCodes.notFound,
  assignment_unknown: exitCodes.notFound,
  label_unknown: exitCodes.notFound,
  label_invalid: exitCodes.usage,
  transition_refused: exitCodes.conflict,
  invalid_transition: exitCodes.conflict,
  queue_exists: exitCodes.conflict,
  not_allowed: exitCodes.notAllowed,
  not_the_assignee: exitCodes.notAllowed,
  version_conflict: exitCodes.conflict,
  idempotency_conflict: exitCodes.conflict,
  folder_locked: exitCodes.unreachable,
  not_running: exitCodes.unreachable,
  database_unreachable: exitCodes.unreachable,
  outcome_unknown: exitCodes.unreachable,
  closed: exitCodes.unreachable,
  busy: exitCodes.unreachable,
  database_refused: exitCodes.notAllowed,
  wait_timeout: exitCodes.timedOut,
};

export function exitCodeOf(error: unknown): number {
  if (error instanceof Interrupted) return exitCodes.interrupted;
  return byCode[readFailure(error)?.code as ErrorCode] ?? exitCodes.failed;
}

/** An error of Pawl, even if it comes from another copy of Pawl: that of the project. */
export function readFailure(error: unknown): PawlError | undefined {
  if (error instanceof PawlError) return error;
  if (!(error instanceof Error) || error.name !== "PawlError" || !("code" in error)) return undefined;
  const { code, message, details } = error as PawlError;
  return code in errorCodes ? new PawlError(code, message, details, { cause: error }) : undefined;
}

/** What to do about it, where the message itself cannot know the command. */
const remedies: Partial<Record<ErrorCode, (details: PawlError["details"]) => string | undefined>> = {
  instance_unknown: ({ lifecycle }) =>
    lifecycle === undefined ? undefined : `List instances: pawl instance list ${String(lifecycle)}`,
  transition_refused: ({ lifecycle, id }) =>
    `See its allowed events: pawl instance show ${String(lifecycle)} --id ${String(id)}`,
  version_conflict: () => "Check it again (pawl instance show), then retry.",
  definition_invalid: () => "Details: pawl check",
};

/** Prints what happened, why, and what to do. */
export function explain(terminal: Terminal, error: unknown): void {
  if (error instanceof Interrupted) return;
  const failure = readFailure(error);
  const message = failure?.message ?? (error instanceof Error ? error.message : String(error));
  if (terminal.json) {
    const { code = "failed", details = {} } = failure ?? {};
    terminal.note(JSON.stringify({ error: { code, message, details } }));
    return;
  }
  const { red, dim } = terminal.paintNotes;
  terminal.note(`${red("✗")} ${sentences(message).join("\n  ")}`);
  const remedy = remedies[failure?.code as ErrorCode]?.(failure!.details);
  if (remedy !== undefined) terminal.note(`  ${remedy}`);
  if (terminal.verbose) for (const stack of stacksOf(error)) terminal.note(dim(stack));
}

/** One sentence per line: what, why, what to do. A message with line breaks is not changed. */
function sentences(message: string): string[] {
  return message.includes("\n") ? message.split("\n") : message.split(/(?<=[.?!]) (?=[A-Z`])/);
}

function* stacksOf(error: unknown): Generator<string> {
  for (let each = error; each instanceof Error; each = each.cause) yield each.stack ?? String(each);
}
