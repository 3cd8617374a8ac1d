import { settleWithin } from "../../kernel/time-limit.ts";

/** Why a run cannot continue: a user function threw where it may not, hung, or returned an invalid value. */
export class Problem extends Error {
  /** What to call it when runs are compared: a smaller run with another problem is not the same failure. */
  readonly about: string;
  /** Repeating it costs real time each time. */
  readonly isSlow: boolean;

  constructor(about: string, message: string, { isSlow = false, cause }: { isSlow?: boolean; cause?: unknown } = {}) {
    super(message, { cause });
    this.about = about;
    this.isSlow = isSlow;
  }
}

/**
 * The result of a user function, or of its promise. A throw is rethrown; a promise that does not settle in time is a
 * problem.
 */
export function settled<Value>(limitMs: number, what: string, work: () => Value | PromiseLike<Value>): Promise<Value> {
  const message = `${what} did not finish within ${limitMs} ms of real time. Await only promises that settle, or raise \`timeout\`.`;
  return settleWithin(limitMs, what, work, () => new Problem(what, message, { isSlow: true }));
}
