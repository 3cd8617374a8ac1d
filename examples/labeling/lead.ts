import { isPawlError, type Pawl } from "pawl";

/** Reviews late labels: one that can still be used is accepted. */
export class Lead {
  readonly #people: Pawl["people"];
  readonly #seen = new Set<string>();
  accepted = 0;

  constructor(people: Pawl["people"]) {
    this.#people = people;
  }

  async lookAt(queue: string): Promise<void> {
    for (const label of await this.#people.labels(queue, { late: true })) {
      if (this.#seen.has(label.id)) continue;
      this.#seen.add(label.id);
      try {
        await this.#people.accept(label.id, { actor: "lead", comment: "Better late than never." });
        this.accepted += 1;
      } catch (error) {
        // Another labeler has labeled it meanwhile, or is working on it. The label stays late.
        if (!isPawlError(error, "not_allowed") && !isPawlError(error, "invalid_transition")) throw error;
      }
    }
  }
}
