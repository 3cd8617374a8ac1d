import { timerMs } from "../base/duration.ts";

/** A rest that something can end: a hint that there is work, a free slot, the wish to stop. */
export class WakeableSleep {
  #resolve: (() => void) | undefined;
  #hinted = false;

  /** Ends the rest under way, or makes the next one end at once. */
  wake(): void {
    this.#hinted = true;
    this.#resolve?.();
  }

  /** Rests for so long at most; undefined: until it is ended. */
  async sleep(ms?: number): Promise<void> {
    if (!this.#hinted) {
      await new Promise<void>((resolve) => {
        const timer = ms === undefined ? undefined : setTimeout(resolve, timerMs(ms));
        this.#resolve = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    this.#resolve = undefined;
    this.#hinted = false;
  }
}
