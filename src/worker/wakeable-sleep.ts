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

  /** Something has ended the next rest already. */
  get isWoken(): boolean {
    return this.#hinted;
  }

  /** Rests for so long at most; undefined: until it is ended. Returns whether something ended it. */
  async sleep(ms?: number): Promise<boolean> {
    if (!this.#hinted) {
      await new Promise<void>((resolve) => {
        const timer = ms === undefined ? undefined : setTimeout(resolve, timerMs(ms));
        this.#resolve = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    const isWoken = this.#hinted;
    this.#resolve = undefined;
    this.#hinted = false;
    return isWoken;
  }
}
