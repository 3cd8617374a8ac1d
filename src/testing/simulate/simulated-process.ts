import { AsyncLocalStorage } from "node:async_hooks";
import type { FaultPoint } from "../../kernel/faults.ts";
import type { CrashPlace } from "../crash-everywhere/crash-point.ts";
import type { EffectObserver, RecordedEffect } from "../effect-ledger.ts";
import { PlantedFaults } from "../faults.ts";
import { never } from "../killable-db.ts";
import type { TestBench } from "../test-bench.ts";
import type { TestPawl } from "../test-pawl.ts";

/** When a process is to die: at the n-th place that it reaches, or after the next effect. */
export type PlannedDeath = { readonly at: "effect" } | { readonly at: "any"; readonly visits: number };

/** The process on whose behalf code runs. */
const owners = new AsyncLocalStorage<FaultsUntilDeath>();

class FaultsUntilDeath extends PlantedFaults {
  isDead = false;
  doom: PlannedDeath | undefined;
  #left = 0;
  #kill: () => void = () => {};
  #tellDeath: (place: CrashPlace) => void = () => {};
  /** Resolves with the place at which the process dies. */
  readonly died = new Promise<CrashPlace>((resolve) => {
    this.#tellDeath = resolve;
  });

  condemn(doom: PlannedDeath, kill: () => void): void {
    this.doom = doom;
    this.#left = doom.at === "any" ? doom.visits : 0;
    this.#kill = kill;
  }

  override at(point: FaultPoint): Promise<void> {
    return this.visit(point);
  }

  async visit(place: CrashPlace): Promise<void> {
    if (this.isDead) await never();
    if (this.doom === undefined) return;
    const isHere = this.doom.at === "any" ? --this.#left <= 0 : place.startsWith("effect:");
    if (!isHere) return;
    this.isDead = true;
    this.#kill();
    this.#tellDeath(place);
    await never();
  }
}

/** A process of a simulation: it can die, and what still runs on its behalf then has no effect on anything. */
export class SimulatedProcess {
  readonly t: TestPawl;
  readonly #faults: FaultsUntilDeath;
  readonly #kill: () => void;

  private constructor(t: TestPawl, faults: FaultsUntilDeath, kill: () => void) {
    this.t = t;
    this.#faults = faults;
    this.#kill = kill;
  }

  static async start(bench: TestBench, options: { leaseMs: number; newId: () => string }): Promise<SimulatedProcess> {
    const faults = new FaultsUntilDeath();
    const process = await bench.start(faults, options.leaseMs, options.newId);
    return new SimulatedProcess(process.t, faults, () => process.kill());
  }

  /** Plans its death. */
  condemn(doom: PlannedDeath): void {
    this.#faults.condemn(doom, this.#kill);
  }

  /** The result of this process, or the place at which it died. */
  run<Result>(
    work: (t: TestPawl) => Promise<Result>,
  ): Promise<{ readonly result: Result } | { readonly died: CrashPlace }> {
    const working = owners.run(this.#faults, async () => ({ result: await work(this.t) }));
    return Promise.race([working, this.#faults.died.then((died) => ({ died }))]);
  }

  /** A read that does not count as a visit of a place. */
  async look<Result>(work: (t: TestPawl) => Promise<Result>): Promise<Result> {
    const { doom } = this.#faults;
    this.#faults.doom = undefined;
    try {
      return await work(this.t);
    } finally {
      this.#faults.doom = doom;
    }
  }

  end(): void {
    this.#faults.isDead = true;
    this.#kill();
  }
}

/** Around every effect: a dead process requests nothing, and one with a planned death may die right after it. */
export function effectsUntilDeath(observe: (effect: RecordedEffect, isRepeat: boolean) => void): EffectObserver {
  return {
    before: async () => {
      if (owners.getStore()?.isDead === true) await never();
    },
    after: async (effect, isRepeat) => {
      observe(effect, isRepeat);
      await owners.getStore()?.visit(`effect:${effect.name}`);
    },
  };
}
