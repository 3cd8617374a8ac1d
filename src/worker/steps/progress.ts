import type { ProgressReport } from "../../kernel/tasks/progress.ts";

/**
 * Passes on how far a step is: the first word at once, then the newest of each while, so that a tight loop does not
 * flood the database. A word that cannot be passed on is no harm to the step.
 */
export class ProgressThrottle {
  readonly #save: (report: ProgressReport) => Promise<void>;
  readonly #everyMs: number;
  #newest: ProgressReport | undefined;
  #timer: NodeJS.Timeout | undefined;
  #resting = false;
  #stopped = false;

  constructor(tell: (report: ProgressReport) => Promise<void>, everyMs = 1_000) {
    this.#save = tell;
    this.#everyMs = everyMs;
  }

  report(report: ProgressReport): void {
    this.#newest = report;
    if (!this.#resting) void this.#flush();
  }

  /** The step has ended: what it said is of no interest any more. */
  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  async #flush(): Promise<void> {
    const report = this.#newest;
    if (report === undefined || this.#stopped) return;
    this.#newest = undefined;
    this.#resting = true;
    await this.#save(report).catch(() => {});
    if (this.#stopped) return;
    this.#timer = setTimeout(() => {
      this.#resting = false;
      void this.#flush();
    }, this.#everyMs);
    this.#timer.unref();
  }
}
