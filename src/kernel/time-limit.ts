import { PawlError } from "../base/errors.ts";

/**
 * What a function returns or its promise resolves to. Throws `hook_failed` when it has not settled after `limitMs`; what
 * comes later is ignored.
 */
export async function settleWithin<Value>(
  limitMs: number,
  what: string,
  work: () => Value | PromiseLike<Value>,
): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new PawlError("hook_failed", `${what} did not settle within ${limitMs} ms.`, { limitMs })),
      limitMs,
    );
  });
  try {
    return await Promise.race([(async () => work())(), tooLate]);
  } finally {
    clearTimeout(timer);
  }
}
