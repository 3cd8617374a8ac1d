import { exponential } from "../../../policy/retry.ts";

const failuresBeforeRest = 5;
const rest = exponential({ first: "30s", cap: "15m" });
const maxEndpoints = 10_000;

interface EndpointHealth {
  failures: number;
  restUntil: number;
  disabled: string | undefined;
}

/**
 * The health of endpoints, as seen by this process. One that fails repeatedly is paused, and then tried with one
 * message at a time; one that answers 410 Gone gets nothing more.
 */
export class Endpoints {
  readonly #standings = new Map<string, EndpointHealth>();
  readonly #now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Why it gets nothing more; undefined when it does. */
  disabled(id: string): string | undefined {
    return this.#standings.get(id)?.disabled;
  }

  disable(id: string, reason: string): void {
    this.#of(id).disabled = reason;
  }

  enable(id: string): void {
    this.#standings.delete(id);
  }

  /**
   * How long nothing is sent to it; 0 to allow an attempt. After a pause, the first caller gets 0 and sends the probe:
   * until it has an answer, other callers keep waiting.
   */
  restMs(id: string): number {
    const standing = this.#standings.get(id);
    if (standing === undefined || standing.failures < failuresBeforeRest) return 0;
    const leftMs = standing.restUntil - this.#now();
    if (leftMs > 0) return leftMs;
    standing.restUntil = this.#now() + rest(1, 0.5);
    return 0;
  }

  succeeded(id: string): void {
    this.#standings.delete(id);
  }

  /** `restMs`: the pause that the endpoint requested. */
  failed(id: string, restMs?: number): void {
    const standing = this.#of(id);
    standing.failures += 1;
    if (restMs !== undefined) standing.failures = Math.max(standing.failures, failuresBeforeRest);
    if (standing.failures < failuresBeforeRest) return;
    const pauseMs = restMs ?? rest(standing.failures - failuresBeforeRest + 1, Math.random());
    standing.restUntil = this.#now() + pauseMs;
  }

  #of(id: string): EndpointHealth {
    const known = this.#standings.get(id);
    if (known !== undefined) return known;
    if (this.#standings.size >= maxEndpoints) this.#standings.delete(this.#standings.keys().next().value!);
    const fresh: EndpointHealth = { failures: 0, restUntil: 0, disabled: undefined };
    this.#standings.set(id, fresh);
    return fresh;
  }
}
