/** A message as it arrived at the other end: the n-th about its aggregate. */
export interface Arrival {
  readonly id: string;
  readonly aggregate: string;
  readonly n: number;
}

/** The record of the receivers, compared with what was published at the end. */
export class Deliveries {
  readonly #all: Arrival[] = [];
  readonly #waiting = new Set<() => void>();

  get count(): number {
    return this.#all.length;
  }

  add(arrival: Arrival): void {
    this.#all.push(arrival);
    for (const look of this.#waiting) look();
  }

  /** Resolves when this many different messages have arrived. */
  async whenArrived(different: number): Promise<void> {
    while (new Set(this.#all.map((one) => one.id)).size < different) {
      await new Promise<void>((resolve) => {
        const look = (): void => {
          this.#waiting.delete(look);
          resolve();
        };
        this.#waiting.add(look);
      });
    }
  }

  /** How many came more than once. */
  get repeated(): number {
    return this.#all.length - new Set(this.#all.map((one) => one.id)).size;
  }

  /**
   * Every contradiction between arrived and published messages: a number of messages per aggregate, from 1 on. A
   * message may come twice only where something was killed, stopped or cut off.
   */
  contradictions(published: ReadonlyMap<string, number>, options: { readonly mayRepeat: boolean }): string[] {
    const found: string[] = [];
    for (const [aggregate, count] of published) {
      const arrivals = this.#all.filter((one) => one.aggregate === aggregate);
      const firsts = [...new Map(arrivals.map((one) => [one.n, one])).keys()];
      for (let n = 1; n <= count; n++) if (!firsts.includes(n)) found.push(`${aggregate}:${n} was lost`);
      const late = firsts.find((n, at) => at > 0 && n < firsts[at - 1]!);
      if (late !== undefined) found.push(`${aggregate}:${late} came after a later one`);
      for (const n of firsts) {
        const ids = new Set(arrivals.filter((one) => one.n === n).map((one) => one.id));
        if (ids.size > 1) found.push(`${aggregate}:${n} came under ${ids.size} ids`);
      }
      const stray = firsts.find((n) => n > count);
      if (stray !== undefined) found.push(`${aggregate}:${stray} was never published`);
    }
    if (!options.mayRepeat && this.repeated > 0)
      found.push(`${this.repeated} messages came twice, and nothing had failed`);
    return found;
  }
}
