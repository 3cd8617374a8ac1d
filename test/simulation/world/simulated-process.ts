import { type Broker, type Pawl, PawlError } from "pawl";
import { openOn } from "../../../src/api/open/create.ts";
import type { FaultPoint } from "../../../src/kernel/faults.ts";
import type { Kernel } from "../../../src/kernel/kernel.ts";
import type { Dice } from "../../../src/testing/dice.ts";
import type { Ledger } from "../checks/ledger.ts";
import type { Declared } from "../code/lifecycles.ts";
import { breakerName } from "../code/names.ts";
import { sleep } from "../code/user-code.ts";
import type { Client, SimulatedDatabase, StatementFault } from "./simulated-database.ts";
import type { Owner, VirtualTime } from "./virtual-time.ts";

export interface ProcessOptions {
  readonly index: number;
  readonly time: VirtualTime;
  readonly database: SimulatedDatabase;
  readonly declared: Declared;
  readonly ledger: Ledger;
  readonly dice: Dice;
  readonly isHealed: () => boolean;
  readonly used: (feature: string) => void;
}

type PointFault = "kill" | "lose" | "wait";

/** One operating system process, from its start to its end: a Pawl with a worker, a relay and all that belongs to it. */
export class SimulatedProcess implements Client, Owner {
  isAlive = true;
  readonly death: Promise<never>;
  readonly #options: ProcessOptions;
  readonly #statementFaults: { readonly fault: StatementFault; nth: number }[] = [];
  readonly #pointFaults: { readonly point: FaultPoint; readonly does: PointFault; nth: number }[] = [];
  #die: (error: Error) => void = () => {};
  #pawl: Pawl | undefined;
  #kernel: Kernel | undefined;

  constructor(options: ProcessOptions) {
    this.#options = options;
    this.death = new Promise((_, reject) => {
      this.#die = reject;
    });
    this.death.catch(() => {});
  }

  get pawl(): Pawl | undefined {
    return this.#pawl;
  }

  get kernel(): Kernel | undefined {
    return this.#kernel;
  }

  get isReady(): boolean {
    return this.isAlive && this.#pawl !== undefined;
  }

  /** Opens the Pawl and begins to work. */
  async boot(): Promise<void> {
    const { time, database, declared, index } = this.#options;
    await time.as(this, async () => {
      const { pawl, kernel } = await openOn(
        database.connect(this),
        {
          ...declared,
          migrate: false,
          logger: false,
          breakers: { [breakerName]: { minimum: 4, window: "1m", openFor: "30s", probes: 2, ramp: "2s" } },
          outbox: {
            brokers: [this.#broker()],
            pollInterval: "20s",
            retry: { maxAttempts: 5, backoff: () => this.#backoff() },
          },
          alerts: [{ name: "people", send: (alert) => this.#hear(alert) }],
        },
        {
          // Ids are made by the database's time; a millisecond apart, so that those of two processes have an order.
          clock: { nowMs: () => database.nowMs + index, observe: () => {} },
          faults: { at: (point) => this.#at(point) },
        },
      );
      pawl.work({ concurrency: 4, pollInterval: "20s", maintenanceInterval: "10s", onFailure: () => this.#listen() });
      this.#kernel = kernel;
      this.#pawl = pawl;
    });
  }

  /** Ends at once: nothing that it waits for comes any more. */
  kill(): void {
    if (!this.isAlive) return;
    this.isAlive = false;
    this.#die(new Error("This process was killed."));
  }

  /** Stops as a deployment would: steps may finish within the grace time. */
  stop(): Promise<void> {
    return this.#options.time.as(this, async () => this.#pawl?.close());
  }

  /** The n-th statement from now on fails in this way. */
  failStatement(fault: StatementFault, nth: number): void {
    this.#statementFaults.push({ fault, nth });
  }

  /** The n-th visit of this point from now on fails in this way. */
  failPoint(point: FaultPoint, does: PointFault, nth: number): void {
    this.#pointFaults.push({ point, does, nth });
  }

  faultOf(): StatementFault | undefined {
    if (this.#options.isHealed()) return undefined;
    let found: StatementFault | undefined;
    for (const one of this.#statementFaults) if (--one.nth === 0) found = one.fault;
    if (found !== undefined) this.#options.used(found);
    return found;
  }

  async #at(point: FaultPoint): Promise<void> {
    if (this.#options.isHealed()) return;
    for (const one of this.#pointFaults) {
      if (one.point !== point || --one.nth !== 0) continue;
      this.#options.used(`point: ${one.does}`);
      this.#options.used(`point ${point}`);
      if (one.does === "kill") {
        this.kill();
        await new Promise(() => {}); // The dead do not go on.
      }
      if (one.does === "lose") throw new PawlError("outcome_unknown", `The simulated connection was lost at ${point}.`);
      await sleep(3_000);
    }
  }

  /** A listener that throws now and then. */
  #listen(): void {
    const { dice, isHealed } = this.#options;
    if (!isHealed() && dice.chance(`listener ${Math.random()}`, 0.2))
      throw new Error("The listener of failures throws.");
  }

  #backoff(): number {
    const { dice, isHealed } = this.#options;
    const odd = dice.draw(`backoff ${Math.random()}`);
    if (!isHealed() && odd < 0.1) throw new Error("The backoff of the outbox throws.");
    return !isHealed() && odd < 0.2 ? Number.NaN : 5_000;
  }

  #hear({ cause, kind, instanceId }: { cause: string; kind: string; instanceId: string | null }): void {
    const { dice, isHealed, ledger } = this.#options;
    if (!isHealed() && dice.chance(`alert ${Math.random()}`, 0.1)) throw new Error("The alert was not heard.");
    ledger.alerts.push({ cause, kind, instanceId });
  }

  #broker(): Broker {
    const { dice, isHealed, ledger } = this.#options;
    return {
      name: "simulated",
      timeoutMs: 5_000,
      takes: () => true,
      awayMs: () => 0,
      close: async () => {},
      publish: async (message) => {
        const odd = isHealed() ? 1 : dice.draw(`broker ${Math.random()}`);
        if (odd < 0.1) throw new Error("The broker refuses.");
        if (odd < 0.15) await sleep(20_000);
        const { id, aggregate, version } = message;
        ledger.confirmed.push({ id, aggregate: aggregate.id, version });
      },
    };
  }
}
