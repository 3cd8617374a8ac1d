const windowMs = 100;
const most = 1_000;

/**
 * How many tasks to hold beyond those that run: as many as were finished in a tenth of a second. Quick steps are then
 * never waited for, and slow ones are left to other workers.
 */
export class Pace {
  #perWindow = 0;
  #finished = 0;
  #since: number;
  readonly #now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#since = now();
  }

  finished(tasks: number): void {
    this.#finished += tasks;
  }

  get prefetch(): number {
    const elapsedMs = this.#now() - this.#since;
    if (elapsedMs >= windowMs / 4) {
      const seen = (this.#finished * windowMs) / elapsedMs;
      this.#perWindow = seen > this.#perWindow ? seen : (this.#perWindow + seen) / 2;
      this.#finished = 0;
      this.#since = this.#now();
    }
    return Math.min(most, Math.floor(this.#perWindow));
  }
}
