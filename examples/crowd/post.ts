import type { Pawl } from "pawl";
import { chance } from "../chance.ts";

/** Delivers notifications of the marketplace: some are lost, some come twice, some come too late. */
export class Post {
  readonly #crowd: Pawl["crowd"];
  readonly #seed: number;
  sent = 0;
  lost = 0;
  twice = 0;
  inVain = 0;

  constructor(pawl: Pick<Pawl, "crowd">, seed: number) {
    this.#crowd = pawl.crowd;
    this.#seed = seed;
  }

  async bring(posting: string): Promise<void> {
    this.sent++;
    const luck = chance(this.#seed, "post", this.sent);
    if (luck < 0.2) {
      this.lost++;
      return; // The job finds out by itself, with its next sync.
    }
    await this.#bringOnce(posting);
    if (luck < 0.8) return;
    this.twice++;
    await this.#bringOnce(posting);
  }

  async #bringOnce(posting: string): Promise<void> {
    if (!(await this.#crowd.handleNotification("memory", posting))) this.inVain++; // The job has ended meanwhile.
  }
}
