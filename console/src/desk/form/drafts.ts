import { signal } from "@preact/signals";
import type { FormValue } from "./form-values.ts";

const everyMs = 2_000;

/** Stores the input on the server, at most two seconds late, one request at a time so that the last one wins. */
export class Drafts {
  /** Whether the server has the current input. */
  readonly state = signal<"none" | "waiting" | "kept" | "failed">("none");
  readonly #keep: (entered: FormValue, leaving: boolean) => Promise<unknown>;
  /** The input that the server does not have yet. */
  #behind: { readonly entered: FormValue } | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #underWay: Promise<void> = Promise.resolve();

  /** `keep` gets `leaving` when the page is being closed, and its request must outlive it. */
  constructor(keep: (entered: FormValue, leaving: boolean) => Promise<unknown>) {
    this.#keep = keep;
  }

  changed(entered: FormValue): void {
    this.#behind = { entered };
    this.resume();
  }

  /** Stores the pending input. */
  write(leaving = false): Promise<void> {
    this.#stop();
    const behind = this.#behind;
    if (behind === undefined) return this.#underWay;
    this.#behind = undefined;
    // A page that is being closed cannot wait for a request in progress.
    this.#underWay = leaving ? this.#write(behind, true) : this.#underWay.then(() => this.#write(behind, false));
    return this.#underWay;
  }

  /** Writes nothing for now; settles when nothing is under way. */
  hold(): Promise<void> {
    this.#stop();
    return this.#underWay;
  }

  /** Continues after `hold`, if there is input to store. */
  resume(): void {
    if (this.#behind === undefined) return;
    this.state.value = "waiting";
    this.#timer ??= setTimeout(() => void this.write(), everyMs);
  }

  /** Another assignment is open, with or without a draft on the server. */
  reset(isKept: boolean): void {
    this.#stop();
    this.#behind = undefined;
    this.state.value = isKept ? "kept" : "none";
  }

  async #write(behind: { readonly entered: FormValue }, leaving: boolean): Promise<void> {
    try {
      await this.#keep(behind.entered, leaving);
      if (this.#behind === undefined) this.state.value = "kept";
    } catch {
      // The next change retries, and the input is still on the page.
      this.#behind ??= behind;
      this.state.value = "failed";
    }
  }

  #stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
