import { type ErrorCode, messageOf, PawlError } from "./errors.ts";
import { asSentence } from "./text.ts";

/**
 * Calls of user functions: listeners and computations; for work that takes time see `kernel/time-limit.ts`. Whatever
 * such a function does (throw, reject, return an invalid value, never settle), the caller continues, and the fault is
 * reported once.
 */

/** Whether a value can be awaited. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return false;
  try {
    return typeof (value as { then?: unknown }).then === "function";
  } catch {
    return false; // A getter that throws.
  }
}

/** This promise is not awaited: its rejection must not end the process. */
export function ignoreRejection(value: unknown): void {
  if (isThenable(value)) Promise.resolve(value).catch(() => {});
}

/**
 * Wraps a listener so that it cannot harm its caller: a throw, or a rejected promise, goes to `report`. A returned
 * promise is not awaited.
 */
export function guardListener<Args extends readonly unknown[]>(
  listener: ((...args: Args) => unknown) | undefined,
  report: (error: unknown) => unknown,
): (...args: Args) => void {
  if (listener === undefined) return () => {};
  const safely = (error: unknown): void => {
    try {
      ignoreRejection(report(error));
    } catch {
      // There is nowhere left to report to.
    }
  };
  return (...args) => {
    try {
      const returned = listener(...args);
      if (isThenable(returned)) Promise.resolve(returned).catch(safely);
    } catch (error) {
      safely(error);
    }
  };
}

/**
 * The value that a function computes at once. A throw and a promise become an error with `code`, whose message begins with
 * `what`.
 */
export function compute<Value>(code: ErrorCode, what: string, work: () => Value): Value {
  let value: Value;
  try {
    value = work();
  } catch (thrown) {
    throw new PawlError(code, asSentence(`${what} threw: ${messageOf(thrown)}`), {}, { cause: thrown });
  }
  refusePromise(code, value, what);
  return value;
}

/** Throws an error with `code` for a promise where a value is needed at once. */
export function refusePromise(code: ErrorCode, value: unknown, what: string): void {
  if (!isThenable(value)) return;
  ignoreRejection(value);
  throw new PawlError(
    code,
    `${what} returned a promise. It must decide synchronously: use a plain function of its argument.`,
  );
}
