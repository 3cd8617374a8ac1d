import type { Said, WorkerProcess } from "../harm/worker-process.ts";
import type { Finding, Witness } from "./checker.ts";

/** Watches calls that steps make under `once`: one is made again only by a step whose process was killed in its midst. */
export class Calls implements Witness {
  readonly #isAlive: (worker: WorkerProcess) => boolean;
  readonly #by = new Map<string, WorkerProcess>();
  readonly #found: string[] = [];
  #aborted = 0;
  #again = 0;

  constructor(isAlive: (worker: WorkerProcess) => boolean) {
    this.#isAlive = isAlive;
  }

  /** How many calls were made, how many of them again after a kill, and how many steps were aborted. */
  get counts(): { readonly made: number; readonly again: number; readonly aborted: number } {
    return { made: this.#by.size, again: this.#again, aborted: this.#aborted };
  }

  hear({ by, what, words: [, attempt = "", key = ""] }: Said): void {
    if (what === "aborted") {
      this.#aborted += 1;
      this.#found.push(`attempt ${attempt} of ${key} was aborted though its process lives`);
    }
    if (what === "twice") this.#found.push(`a call of ${key} whose result was kept was made again`);
    if (what !== "call") return;
    const before = this.#by.get(key);
    if (before !== undefined && (before === by || this.#isAlive(before))) this.#found.push(`${key} was made twice`);
    if (before !== undefined) this.#again += 1;
    this.#by.set(key, by);
  }

  async contradictions(): Promise<Finding[]> {
    return this.#found.map((message) => ({ invariant: "I5", message }));
  }
}
