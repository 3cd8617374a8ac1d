import type { ProgressReport } from "../../kernel/tasks/progress.ts";

/**
 * Forwards the progress of a step: the first report at once, then the latest of each interval, so that a tight loop
 * does not flood the database. An error in forwarding does not affect the step.
 */
export class ProgressThrottle {
  readonly #save: (report: ProgressReport) => Promise<void>;
  readonly #everyMs: number;
  #newest: ProgressReport | undefined;
  #timer: NodeJS.Timeout | undefined;
  #resting = false;
  #stopped = false;

  constructor(save: (report: ProgressReport) => Promise<void>, everyMs = 1_000) {
    this.#save = save;
    this.#everyMs = everyMs;
  }

  report(report: ProgressReport): void {
    this.#newest = report;
    if (!this.#resting) void this.#flush();
  }

  /** The step has ended: pending progress is dropped. */
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
