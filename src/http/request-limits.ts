import type { HttpLimits } from "../api/open/config.ts";
import { durationMs } from "../base/duration.ts";
import { isPawlError, PawlError } from "../base/errors.ts";
import { checkedOptions } from "../base/options.ts";
import { RateLimiter } from "./rate-limiter.ts";
import { RecentSecrets } from "./recent-secrets.ts";

type Counts = { readonly [Name in Exclude<keyof HttpLimits, "statementTimeout">]-?: number };
export type CheckedLimits = Counts & { readonly statementTimeoutMs: number };

const defaultCounts: Counts = {
  requestsPerSecond: 200,
  concurrency: 6,
  streams: 20,
  failedSignInsPerMinute: 30,
  connectionsPerAddress: 250,
  connections: 4,
};
const defaultStatementTimeout = "10s";

const knownLimits = [...Object.keys(defaultCounts), "statementTimeout"];

const burstSeconds = 5;
const maxWaitingPerSlot = 8;

/** Throws `option_invalid` for a limit that is none. */
export function checkedLimits(given: HttpLimits = {}): CheckedLimits {
  const { statementTimeout, ...counts } = checkedOptions(given, knownLimits, "http.limits");
  for (const [name, value] of Object.entries(counts)) {
    if (value !== undefined && !(typeof value === "number" && value >= 1))
      throw new PawlError("option_invalid", `\`http.limits.${name}\` must be a number of at least 1.`);
  }
  const statementTimeoutMs = durationMs(statementTimeout ?? defaultStatementTimeout, "`http.limits.statementTimeout`");
  if (statementTimeoutMs < 1)
    throw new PawlError("option_invalid", "`http.limits.statementTimeout` must be at least 1 ms.");
  const set = Object.entries(counts).filter(([, value]) => value !== undefined);
  return { ...defaultCounts, ...Object.fromEntries(set), statementTimeoutMs };
}

interface Turns {
  running: number;
  streams: number;
  readonly waiting: (() => void)[];
}

interface ReadLimits {
  readonly connections: number;
  readonly statementTimeoutMs: number;
}

/** Limits the requests of each caller, in this process. A refused request is answered with 429 and `Retry-After`. */
export class RequestLimits {
  readonly #limits: CheckedLimits;
  readonly #requests: RateLimiter;
  readonly #failedSignIns: RateLimiter;
  readonly #recentSecrets = new RecentSecrets();
  readonly #callers = new Map<string, Turns>();

  constructor(limits: CheckedLimits) {
    this.#limits = limits;
    this.#requests = new RateLimiter(limits.requestsPerSecond, limits.requestsPerSecond * burstSeconds);
    this.#failedSignIns = new RateLimiter(limits.failedSignInsPerMinute / 60, limits.failedSignInsPerMinute);
  }

  /** What holds for the statements of reads. */
  get reads(): ReadLimits {
    const { connections, statementTimeoutMs } = this.#limits;
    return { connections: Math.floor(connections), statementTimeoutMs };
  }

  /**
   * Looks up a secret; undefined and `token_invalid` mean that it is wrong. An address that sent too many wrong ones is
   * refused before the look-up, except for secrets that were valid when they were used last: behind a proxy, one address
   * is everybody's.
   */
  async lookUp<T>(address: string, secret: string, find: () => Promise<T | undefined>): Promise<T | undefined> {
    const waitMs = this.#recentSecrets.has(secret) ? 0 : this.#failedSignIns.waitMs(address);
    if (waitMs > 0) throw tooMany(`Too many failed sign-ins from ${address}.`, waitMs);
    try {
      const found = await find();
      if (found === undefined) this.#noteFailure(address, secret);
      else this.#recentSecrets.add(secret);
      return found;
    } catch (error) {
      if (isPawlError(error, "token_invalid")) this.#noteFailure(address, secret);
      throw error;
    }
  }

  #noteFailure(address: string, secret: string): void {
    this.#recentSecrets.delete(secret);
    this.#failedSignIns.take(address);
  }

  /** Waits for a turn of this caller. Call the returned function when the request has been answered. */
  async enter(caller: string): Promise<() => void> {
    const waitMs = this.#requests.take(caller);
    if (waitMs > 0)
      throw tooMany(`${caller} exceeds the limit of ${this.#limits.requestsPerSecond} requests a second.`, waitMs);
    const turns = this.#turnsOf(caller);
    if (turns.running < this.#limits.concurrency) turns.running += 1;
    else {
      if (turns.waiting.length >= this.#limits.concurrency * maxWaitingPerSlot)
        throw tooMany(`${caller} already has ${turns.waiting.length} waiting requests.`, 1_000);
      await new Promise<void>((resolve) => turns.waiting.push(resolve)); // The turn is passed on: `running` stays.
    }
    return once(() => {
      const next = turns.waiting.shift();
      if (next !== undefined) next();
      else turns.running -= 1;
      this.#forget(caller, turns);
    });
  }

  /** Counts one more live stream. Call the returned function when the stream has ended. */
  openStream(caller: string): () => void {
    const turns = this.#turnsOf(caller);
    if (turns.streams >= this.#limits.streams) {
      this.#forget(caller, turns);
      throw tooMany(`${caller} already has ${this.#limits.streams} open live streams. Close one of them.`, 5_000);
    }
    turns.streams += 1;
    return once(() => {
      turns.streams -= 1;
      this.#forget(caller, turns);
    });
  }

  #turnsOf(caller: string): Turns {
    const known = this.#callers.get(caller) ?? { running: 0, streams: 0, waiting: [] };
    this.#callers.set(caller, known);
    return known;
  }

  #forget(caller: string, { running, streams, waiting }: Turns): void {
    if (running === 0 && streams === 0 && waiting.length === 0) this.#callers.delete(caller);
  }
}

function once(act: () => void): () => void {
  let done = false;
  return () => {
    if (done) return;
    done = true;
    act();
  };
}

function tooMany(message: string, retryAfterMs: number): PawlError {
  return new PawlError("rate_limited", `${message} Try again in ${Math.ceil(retryAfterMs / 1_000)} s.`, {
    retryAfterMs,
  });
}
