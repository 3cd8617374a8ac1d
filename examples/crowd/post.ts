import { isPawlError, type Pawl } from "pawl";
import { chance } from "../chance.ts";

/** Brings notifications of the marketplace, as the post does: some get lost, some come twice, some come too early. */
export class Post {
  readonly #crowd: Pawl["crowd"];
  readonly #seed: number;
  sent = 0;
  lost = 0;
  twice = 0;
  early = 0;

  constructor(pawl: Pick<Pawl, "crowd">, seed: number) {
    this.#crowd = pawl.crowd;
    this.#seed = seed;
  }

  async bring(posting: string): Promise<void> {
    this.sent++;
    const luck = chance(this.#seed, "post", this.sent);
    if (luck < 0.2) {
      this.lost++;
      return; // The job finds out by itself, when it looks again.
    }
    await this.#bringOnce(posting);
    if (luck < 0.8) return;
    this.twice++;
    await this.#bringOnce(posting);
  }

  async #bringOnce(posting: string): Promise<void> {
    try {
      await this.#crowd.notice("memory", posting);
    } catch (error) {
      // The reply to the publishing was lost, so Pawl does not know yet that it has worked; or the job has just ended.
      if (!isPawlError(error, "transition_refused")) throw error;
      this.early++;
    }
  }
}
