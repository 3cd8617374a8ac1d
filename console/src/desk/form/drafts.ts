import { signal } from "@preact/signals";
import type { Entered } from "./form-values.ts";

const everyMs = 2_000;

/** Keeps what is entered on the server, at most two seconds behind, one after the other so that the last one stays. */
export class Drafts {
  /** Whether the server has what is on the page. */
  readonly state = signal<"none" | "waiting" | "kept" | "failed">("none");
  readonly #keep: (entered: Entered, leaving: boolean) => Promise<unknown>;
  /** What the server does not have yet. */
  #behind: { readonly entered: Entered } | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #underWay: Promise<void> = Promise.resolve();

  /** `keep` is told when the page is being left, and its request must outlive it. */
  constructor(keep: (entered: Entered, leaving: boolean) => Promise<unknown>) {
    this.#keep = keep;
  }

  changed(entered: Entered): void {
    this.#behind = { entered };
    this.resume();
  }

  /** Writes what was not written yet. */
  write(leaving = false): Promise<void> {
    this.#stop();
    const behind = this.#behind;
    if (behind === undefined) return this.#underWay;
    this.#behind = undefined;
    // Whoever leaves cannot wait for what is under way.
    this.#underWay = leaving ? this.#write(behind, true) : this.#underWay.then(() => this.#write(behind, false));
    return this.#underWay;
  }

  /** Writes nothing for now; settles when nothing is under way. */
  hold(): Promise<void> {
    this.#stop();
    return this.#underWay;
  }

  /** Goes on after `hold`, if there is something to be written. */
  resume(): void {
    if (this.#behind === undefined) return;
    this.state.value = "waiting";
    this.#timer ??= setTimeout(() => void this.write(), everyMs);
  }

  /** Something else is in hand, with or without a draft that the server has. */
  reset(isKept: boolean): void {
    this.#stop();
    this.#behind = undefined;
    this.state.value = isKept ? "kept" : "none";
  }

  async #write(behind: { readonly entered: Entered }, leaving: boolean): Promise<void> {
    try {
      await this.#keep(behind.entered, leaving);
      if (this.#behind === undefined) this.state.value = "kept";
    } catch {
      // The next change tries again, and what was entered is still on the page.
      this.#behind ??= behind;
      this.state.value = "failed";
    }
  }

  #stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
