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
export async function settled<Value>(
  limitMs: number,
  what: string,
  work: () => Value | PromiseLike<Value>,
): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    const message = `${what} did not finish within ${limitMs} ms of real time. Await only promises that settle, or raise \`timeout\`.`;
    timer = setTimeout(() => reject(new Problem(what, message, { isSlow: true })), limitMs);
  });
  try {
    return await Promise.race([(async () => work())(), tooLate]);
  } finally {
    clearTimeout(timer);
  }
}
