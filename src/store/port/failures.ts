import { messageOf, PawlError } from "../../base/errors.ts";

/** The five characters by which Postgres names a failure, when the failure has any. */
export function sqlState(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code;
  // Every one of them has a digit: EPIPE is Node's word for a lost connection. P1000 and above are Prisma's own codes.
  return typeof code === "string" && /^(?=.*[0-9])(?!P[1-9])[0-9A-Z]{5}$/.test(code) ? code : undefined;
}

const refusedStates: Record<string, string> = {
  "28P01": "Check the user and the password in the database URL.",
  "28000": "Check the user in the database URL, and the server's pg_hba.conf.",
  "3D000": "Create the database, or correct its name in the URL.",
  "42501": "Give the user of the database URL the right to do this.",
  "53100": "The server's disk is full: free some room.",
};
/** The server ended the session, or never started it. */
const connectionStates = new Set([
  ...["57P01", "57P02", "57P03", "57P05", "25P03", "25P04"],
  ...["08000", "08003", "08006", "08P01"],
]);
/** The server takes no writes: a standby, or a primary that was demoted. The statement was not executed. */
const readOnlyState = "25006";
const busyStates = new Set(["40001", "40P01", "55P03", "57014", "53300"]);

/**
 * Classifies the error of one of Pawl's own statements, so that the reader knows who must act. Whether a statement that
 * lost its connection took effect cannot be known here, so it is never guessed: `outcome_unknown`.
 */
export function translate(error: unknown, phase: "connecting" | "running"): PawlError {
  if (error instanceof PawlError) return error;
  const state = sqlState(error);
  const text = messageOf(error);
  const details = state === undefined ? {} : { sqlState: state };
  const options = { cause: error };
  if (state === undefined || connectionStates.has(state)) {
    if (phase === "connecting") {
      return new PawlError(
        "database_unreachable",
        `The database cannot be reached: ${text}. Is it running, and is its address right?`,
        details,
        options,
      );
    }
    return new PawlError(
      "outcome_unknown",
      `The connection to the database was lost in the middle of a statement: ${text}.`,
      details,
      options,
    );
  }
  if (state === readOnlyState) return readOnly(text, details, options);
  const remedy = refusedStates[state];
  if (remedy !== undefined)
    return new PawlError("database_refused", `The database refuses: ${text}. ${remedy}`, details, options);
  if (busyStates.has(state))
    return new PawlError("busy", `The database is busy: ${text}. Try again.`, details, options);
  if (state === "25P02") {
    return new PawlError(
      "not_a_transaction",
      "An earlier statement of this transaction failed, so it can only be rolled back. Rethrow that error, or set a savepoint before the statement that may fail.",
      details,
      options,
    );
  }
  if (state === "23505" && (error as { constraint?: unknown }).constraint === "instances_key") {
    const detail = (error as { detail?: string }).detail ?? text;
    return new PawlError(
      "key_invalid",
      `Another open instance has this key meanwhile: ${detail} Look it up by its key.`,
      details,
      options,
    );
  }
  const constraint = (error as { constraint?: unknown }).constraint;
  if (state === "23505" && typeof constraint === "string" && constraint.startsWith("assignments_")) {
    return new PawlError(
      "assignment_conflict",
      "Another request assigned this sample, or its slot, at the same time. Try again.",
      { ...details, constraint },
      options,
    );
  }
  if (state === "42P01" || state === "3F000" || state === "42883") {
    return new PawlError(
      "not_migrated",
      `The database has no tables of this version of Pawl (${text}). Run \`pawl migrate\`.`,
      details,
      options,
    );
  }
  return new PawlError(
    "invariant_broken",
    `The database refused a statement of Pawl: ${text}. Please report it.`,
    details,
    options,
  );
}

/** Counts as unreachable: after a failover, a new connection to the same address reaches the new primary. */
export function readOnly(what: string, details: Record<string, unknown> = {}, options: ErrorOptions = {}): PawlError {
  return new PawlError(
    "database_unreachable",
    `The database takes no writes: ${what}. It is a standby, or was made read-only: connect to the primary.`,
    { ...details, sqlState: readOnlyState },
    options,
  );
}

/** Whether a statement was refused because the server is read-only: it was not executed, and may be sent again. */
export function isReadOnly(error: unknown): boolean {
  return error instanceof PawlError && error.details.sqlState === readOnlyState;
}
