import { createContext, Script } from "node:vm";
import { PawlError } from "../../base/errors.ts";

const script = new Script("answer = work()");
const context = createContext({ work: undefined, answer: undefined });

/**
 * What `work` returns, or `busy` when it takes longer than `limitMs`. A pattern that backtracks for ever blocks the whole
 * process and cannot be aborted from JavaScript; Node's vm can, for functions of any context. Costs a tenth of a millisecond.
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
