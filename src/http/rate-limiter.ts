/** How many keys are remembered; the least recently used go first, which can only be generous to them. */
const maxKeys = 10_000;

interface Bucket {
  tokens: number;
  refilledAtMs: number;
}

/** A token bucket per key: `perSecond` on average, `burst` at once. Uses the monotonic clock of the process. */
export class RateLimiter {
  readonly #perSecond: number;
  readonly #burst: number;
  readonly #nowMs: () => number;
  readonly #buckets = new Map<string, Bucket>();

  constructor(perSecond: number, burst: number, nowMs: () => number = () => performance.now()) {
    this.#perSecond = perSecond;
    this.#burst = burst;
    this.#nowMs = nowMs;
  }

  /** Takes one token. Returns how long to wait for the next one when there is none, and 0 when there was. */
  take(key: string): number {
    const waitMs = this.waitMs(key);
    if (waitMs === 0) this.#bucket(key).tokens -= 1;
    return waitMs;
  }

  /** How long until a token is there, without taking it. */
  waitMs(key: string): number {
    const { tokens } = this.#bucket(key);
    return tokens >= 1 ? 0 : Math.ceil(((1 - tokens) / this.#perSecond) * 1_000);
  }

  #bucket(key: string): Bucket {
    const now = this.#nowMs();
    const known = this.#buckets.get(key);
    const elapsedMs = known === undefined ? 0 : now - known.refilledAtMs;
    const tokens =
      known === undefined ? this.#burst : Math.min(this.#burst, known.tokens + (elapsedMs / 1_000) * this.#perSecond);
    const bucket = { tokens, refilledAtMs: now };
    this.#buckets.delete(key); // Moves it to the end of the map, which is ordered by use.
    this.#buckets.set(key, bucket);
    if (this.#buckets.size > maxKeys) this.#buckets.delete(this.#buckets.keys().next().value!);
    return bucket;
  }
}
