import { PawlError } from "../base/errors.ts";

/**
 * The return value of a function, or the value its promise resolves to. Throws `hook_failed`, or what `tooLate` returns,
 * if it has not settled after `limitMs`; later results are ignored.
 */
export async function settleWithin<Value>(
  limitMs: number,
  what: string,
  work: () => Value | PromiseLike<Value>,
  tooLate: () => Error = () =>
    new PawlError("hook_failed", `${what} did not settle within ${limitMs} ms.`, { limitMs }),
): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(tooLate()), limitMs);
  });
  try {
    return await Promise.race([(async () => work())(), limit]);
  } finally {
    clearTimeout(timer);
  }
}
