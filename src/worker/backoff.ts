const firstMs = 10;

/** Rests that grow while there is nothing to do: doubled each time, up to the poll interval. */
export class Backoff {
  readonly #maxMs: number;
  #nextMs = firstMs;

  constructor(maxMs: number) {
    this.#maxMs = maxMs;
  }

  /** How long to rest now. */
  next(): number {
    const restMs = Math.min(this.#nextMs, this.#maxMs);
    this.#nextMs = Math.min(this.#nextMs * 2, this.#maxMs);
    return restMs;
  }

  /** There was work: the next rest is short again. */
  reset(): void {
    this.#nextMs = firstMs;
  }
}
