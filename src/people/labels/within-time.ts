import { createContext, Script } from "node:vm";
import { PawlError } from "../../base/errors.ts";

const script = new Script("answer = work()");
const context = createContext({ work: undefined, answer: undefined });

/**
 * Returns the result of `work`, or `busy` if it takes longer than `limitMs`. Catastrophic backtracking blocks the
 * process and cannot be aborted from JavaScript, but Node's vm can do it. Costs 0.1 ms.
 */
export function withinTime<Result>(limitMs: number, work: () => Result): Result {
  context.work = work;
  try {
    script.runInContext(context, { timeout: limitMs });
    return context.answer;
  } catch (error) {
    if ((error as { code?: unknown } | null)?.code !== "ERR_SCRIPT_EXECUTION_TIMEOUT") throw error;
    throw new PawlError("busy", `It took longer than ${limitMs} ms.`, {}, { cause: error });
  } finally {
    context.work = undefined;
    context.answer = undefined;
  }
}
