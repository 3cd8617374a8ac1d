import type { Finding, Witness } from "./checker.ts";

/** Checks that no process exceeds its limits: tasks, connections, memory; and that every error is reported. */
export class Bounds implements Witness {
  readonly #found = new Set<string>();
  #looks = 0;

  /** How often something was held against its bound. */
  get looks(): number {
    return this.#looks;
  }

  hold(what: string, is: number, most: number): void {
    this.#looks += 1;
    if (is > most) this.#found.add(`${what}: ${is}, and ${most} are allowed`);
  }

  unheard(who: string, error: string): void {
    this.#found.add(`${who} did not hear of an error: ${error}`);
  }

  async contradictions(): Promise<Finding[]> {
    return [...this.#found].map((message) => ({ invariant: "I10", message }));
  }
}
