import { chance } from "../../chance.ts";

/** It refuses at once; it does its work and never answers; it dies over the request. */
export const faults = ["refuses", "hangs", "crashes"] as const;
export type Fault = (typeof faults)[number];

export interface Tally {
  requests: number;
  readonly struck: Record<Fault, number>;
}

/** The switches of all faults. The same seed hits the same requests, whatever their timing. */
export class Trouble {
  readonly #seed: number;
  readonly #tallies = new Map<string, Tally>();
  readonly #requests = new Map<string, number>();
  /** The share of requests that go wrong, from 0 to 1. */
  rate: number;

  constructor({ seed = 1, rate = 0 }: { seed?: number; rate?: number } = {}) {
    this.#seed = seed;
    this.rate = rate;
  }

  /** What goes wrong with the next request that a service gets about this subject, if anything does. */
  strike(service: string, subject: string): Fault | undefined {
    const about = `${service} ${subject}`;
    const time = (this.#requests.get(about) ?? 0) + 1;
    this.#requests.set(about, time);
    this.tally(service).requests += 1;
    if (chance(this.#seed, about, time) >= this.rate) return undefined;
    const fault = faults[Math.floor(chance(this.#seed, about, time, "which") * faults.length)]!;
    this.note(service, fault);
    return fault;
  }

  note(service: string, fault: Fault): void {
    this.tally(service).struck[fault] += 1;
  }

  tally(service: string): Tally {
    const tally = this.#tallies.get(service) ?? { requests: 0, struck: { refuses: 0, hangs: 0, crashes: 0 } };
    this.#tallies.set(service, tally);
    return tally;
  }

  get tallies(): ReadonlyMap<string, Tally> {
    return this.#tallies;
  }

  /** All faults so far. */
  get struck(): number {
    return [...this.#tallies.values()]
      .flatMap(({ struck }) => Object.values(struck))
      .reduce((sum, one) => sum + one, 0);
  }
}
