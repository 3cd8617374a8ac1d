/** Why a run cannot go on: one of the user's functions threw where it may not, hung, or returned nonsense. */
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
 * What one of the user's functions returns, or its promise resolves to. What it throws is thrown; one that does not settle in
 * time is a problem.
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
