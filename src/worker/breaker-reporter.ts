import { callsTopic, writeCalls, writeCallsEveryMs } from "../kernel/breakers/breakers.ts";
import type { Kernel } from "../kernel/kernel.ts";

/**
 * Writes the counted calls of this process, four times a second while there are any or while failures make the counts
 * of other processes worth reading. Idle between calls.
 */
export class BreakerReporter {
  readonly #kernel: Kernel;
  readonly #onFailure: (error: unknown) => void;
  readonly #forget: () => void;
  #timer: NodeJS.Timeout | undefined;
  #underWay: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(kernel: Kernel, onFailure: (error: unknown) => void) {
    this.#kernel = kernel;
    this.#onFailure = onFailure;
    this.#forget = kernel.signals.wait(callsTopic, () => this.#arm());
  }

  /** Writes the remaining counts. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#forget();
    clearTimeout(this.#timer);
    await this.#underWay;
    await this.#write();
  }

  #arm(): void {
    if (this.#timer !== undefined || this.#stopped) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#underWay = this.#write();
    }, writeCallsEveryMs);
    this.#timer.unref();
  }

  async #write(): Promise<void> {
    try {
      if (await writeCalls(this.#kernel)) this.#arm();
    } catch (error) {
      this.#onFailure(error);
      this.#arm(); // What could not be written is kept.
    }
  }
}
