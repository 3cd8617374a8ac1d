import { isPawlError, type Pawl } from "pawl";

/** Looks after the labels that came late: one that can still be used is accepted. */
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
        // Somebody else has labeled it meanwhile, or is at it. The label stays where it is.
        if (!isPawlError(error, "not_allowed") && !isPawlError(error, "invalid_transition")) throw error;
      }
    }
  }
}
