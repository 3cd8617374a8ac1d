import { timerMs } from "../../base/duration.ts";

export interface StuckStepsOptions {
  /** How long a step may continue after its signal was aborted. */
  readonly graceMs: number;
  /** How many slots are freed at most: beyond them stuck steps keep theirs, so that memory does not grow without end. */
  readonly maxFreed: number;
}

/**
 * Steps that ignore their aborted signal. JavaScript cannot end them: after a grace period they count as stuck, and the
 * slots of the first of them are freed for other work.
 */
export class StuckSteps<Step> {
  readonly #options: StuckStepsOptions;
  /** Called once for each step, with whether its slot is freed. */
  readonly #onStuck: (step: Step, isFreed: boolean) => void;
  readonly #timers = new Map<Step, NodeJS.Timeout>();
  readonly #freed = new Set<Step>();
  readonly #waiting = new Set<Step>();

  constructor(options: StuckStepsOptions, onStuck: (step: Step, isFreed: boolean) => void) {
    this.#options = options;
    this.#onStuck = onStuck;
  }

  /** How many steps are stuck now. */
  get count(): number {
    return this.#freed.size + this.#waiting.size;
  }

  /** Those whose slots were freed. */
  get freed(): ReadonlySet<Step> {
    return this.#freed;
  }

  /** The signal of a running step was aborted. */
  watch(step: Step): void {
    const timer = setTimeout(() => this.#becomeStuck(step), timerMs(this.#options.graceMs));
    timer.unref();
    this.#timers.set(step, timer);
  }

  /** A step has ended, watched or not; returns whether its slot had been freed. */
  ended(step: Step): boolean {
    clearTimeout(this.#timers.get(step));
    this.#timers.delete(step);
    this.#waiting.delete(step);
    return this.#freed.delete(step);
  }

  /** Nothing becomes stuck any more. */
  stop(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
  }

  #becomeStuck(step: Step): void {
    this.#timers.delete(step);
    const isFreed = this.#freed.size < this.#options.maxFreed;
    (isFreed ? this.#freed : this.#waiting).add(step);
    this.#onStuck(step, isFreed);
  }
}
