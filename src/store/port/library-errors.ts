import { sqlState } from "./failures.ts";

/** What Prisma's errors hold of the driver's error: with a driver adapter, and with the query engine of earlier releases. */
interface PrismaMeta {
  readonly driverAdapterError?: {
    readonly cause?: {
      readonly originalCode?: unknown;
      readonly originalMessage?: unknown;
      readonly constraint?: { readonly index?: unknown };
    };
  };
  readonly code?: unknown;
  readonly message?: unknown;
}

/** Prisma's code for a transaction that has ended, or that took longer than its `timeout`. */
const transactionClosed = "P2028";

/** The driver's error in one of Drizzle, whose own errors have no SQLSTATE. */
export function driverErrorOfDrizzle(error: unknown): unknown {
  const { cause } = (error ?? {}) as { cause?: unknown };
  return sqlState(error) === undefined && sqlState(cause) !== undefined ? cause : error;
}

/** The error that the driver would have thrown, with its SQLSTATE as `code`; Prisma's own error is its cause. */
export function driverErrorOfPrisma(error: unknown): unknown {
  const { code, meta = {} } = (error ?? {}) as { code?: unknown; meta?: PrismaMeta };
  if (code === transactionClosed) return driverError("the Prisma transaction has ended", "25P01", error);
  const adapted = meta.driverAdapterError?.cause;
  const state = [adapted?.originalCode, meta.code].find((one) => sqlState({ code: one }) !== undefined);
  if (state === undefined) return error;
  return driverError(adapted?.originalMessage ?? meta.message, state, error, adapted?.constraint?.index);
}

function driverError(message: unknown, code: unknown, cause: unknown, constraint?: unknown): Error {
  return Object.assign(new Error(String(message), { cause }), {
    code,
    ...(constraint !== undefined && { constraint }),
  });
}
