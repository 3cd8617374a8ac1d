import type { AnyLifecycle, Pawl } from "pawl";
import { sql } from "../../../src/store/port/db.ts";
import { installTestClock } from "../../../src/testing/clock.ts";
import { Dice } from "../../../src/testing/dice.ts";
import type { TestStore } from "../../../src/testing/stores.ts";
import { type LaneClosure, limitsExceeded } from "../checks/bounds.ts";
import { readDelayed } from "../checks/delayed.ts";
import { Ledger } from "../checks/ledger.ts";
import { isFault } from "../code/faults.ts";
import { type Declared, declare } from "../code/lifecycles.ts";
import { hooksTable } from "../code/names.ts";
import { UserCode } from "../code/user-code.ts";
import type { Plan } from "../plan/plan.ts";
import { SimulatedDatabase } from "./simulated-database.ts";
import { SimulatedProcess } from "./simulated-process.ts";
import { VirtualTime } from "./virtual-time.ts";

/** A place for a process: who runs there now, and by which version of the definitions. */
export interface Slot {
  process: SimulatedProcess;
  newerBy: number;
  declared: Declared;
}

/** Where an instance stands, read past all faults. */
export interface Standing {
  readonly id: string;
  readonly lifecycle: string;
  readonly state: string;
  readonly closed: boolean;
}

const tickMs = 5_000;
/** How long after it was closed a lane may still be claimed from: half a second, and a late timer. */
const closureKnownMs = 6_000;

/** Everything that one run is made of: time, a database, processes, and what was seen of them. */
export class World {
  readonly plan: Plan;
  readonly dice: Dice;
  readonly time: VirtualTime;
  readonly database: SimulatedDatabase;
  readonly ledger = new Ledger();
  readonly slots: Slot[] = [];
  /** Features that were at work for all. */
  readonly used = new Set<string>();
  /** Features that were at work for one instance, by its name. */
  readonly usedBy = new Map<string, Set<string>>();
  /** What happened, in one line each. */
  readonly story: string[] = [];
  /** The lifecycle of each instance that was started, by its name. */
  readonly names = new Map<string, string>();
  readonly unhandled: unknown[] = [];
  /** How many faults there were. */
  faults = 0;
  #marks = 0;
  readonly #code: UserCode;
  #isHealed = false;
  readonly #closed = new Set<LaneClosure>();

  private constructor(plan: Plan, store: TestStore) {
    this.plan = plan;
    this.dice = new Dice(plan.seed);
    this.time = new VirtualTime(this.dice.stream("random"));
    this.database = new SimulatedDatabase(store.db, this.time, this.dice.stream("turns"));
    this.#code = new UserCode({
      dice: this.dice,
      temper: plan.temper,
      ledger: this.ledger,
      used: (feature, name) => this.note(feature, name),
      owner: () => this.time.owner,
      isHealed: () => this.#isHealed,
    });
  }

  static async open(plan: Plan, store: TestStore): Promise<World> {
    await installTestClock(store.db);
    await store.db.script(`create table ${hooksTable} (id uuid, state text)`);
    return new World(plan, store);
  }

  async boot(): Promise<void> {
    for (let index = 0; index < this.plan.processes; index++) {
      this.slots.push(this.#newSlot(index, 0));
      await this.#bootSlot(index);
    }
  }

  get isHealed(): boolean {
    return this.#isHealed;
  }

  tell(line: string): void {
    this.story.push(`${((this.time.nowMs - 1_000_000) / 1_000).toFixed(1)} s: ${line}`);
  }

  /** A name for one call, by which its traces are found. */
  newMark(): string {
    return `m${++this.#marks}`;
  }

  /** Processes that can be asked. */
  ready(): SimulatedProcess[] {
    return this.slots.map(({ process }) => process).filter((one) => one.isReady);
  }

  /** A lifecycle as this process declares it. */
  lifecycleAt(process: SimulatedProcess, name: string): AnyLifecycle {
    const { declared } = this.slots.find((slot) => slot.process === process)!;
    return declared.lifecycles.find((one) => one.name === name)!;
  }

  /** Notes that a feature was at work: for this instance, or for all of them. */
  note(feature: string, name?: unknown): void {
    if (isFault(feature)) this.faults++;
    if (name === undefined) this.used.add(feature);
    else this.usedBy.set(String(name), (this.usedBy.get(String(name)) ?? new Set()).add(feature));
  }

  /** Looks at what may be so at no time, and at what a later look needs to know. */
  async look(): Promise<void> {
    for (const closure of this.#closed) closure.untilMs = this.database.nowMs;
    await this.database.check(async (db) => {
      for (const message of await limitsExceeded(db, this.plan)) this.ledger.problem(message, "gates");
      for (const { request, instance } of await readDelayed(db)) this.ledger.delayed.set(request, instance);
    });
  }

  /** Lanes have just been closed: nothing is claimed in them from now on. */
  closed(by: LaneClosure["by"], lifecycle: string | undefined): void {
    const fromMs = this.database.nowMs + closureKnownMs;
    const closure = { by, lifecycle, fromMs, untilMs: fromMs };
    this.#closed.add(closure);
    this.ledger.closures.push(closure);
  }

  /** They are about to be opened. */
  opened(by: LaneClosure["by"]): void {
    for (const closure of this.#closed) {
      if (closure.by !== by) continue;
      closure.untilMs = this.database.nowMs;
      this.#closed.delete(closure);
    }
  }

  /** Time has jumped: processes act for a moment on what they knew before. */
  disturbed(): void {
    for (const { by, lifecycle } of [...this.#closed]) {
      this.opened(by);
      this.closed(by, lifecycle);
    }
  }

  /** Lets virtual time pass until something is so, at most for so long. */
  async until(isSo: () => boolean, atMostMs: number): Promise<boolean> {
    const endMs = this.time.nowMs + atMostMs;
    for (;;) {
      await this.database.settle();
      if (isSo()) return true;
      if (!this.time.fireNext(endMs)) return false;
    }
  }

  /** Lets time pass. Timers fire a little late, as on a busy machine: the loops of all processes then cost less. */
  async pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= tickMs) await this.jump(Math.min(left, tickMs));
  }

  /** Time goes by in one piece, as for processes that were suspended. */
  async jump(ms: number): Promise<void> {
    await this.database.settle();
    this.time.nowMs += ms;
    await this.until(() => false, 0);
  }

  /** Begins a call by somebody to one process. */
  begin(process: SimulatedProcess, work: (pawl: Pawl) => Promise<unknown>): Call {
    const call: Call = { process, answer: undefined };
    void this.time
      .as(process, async () => work(process.pawl!))
      .then(
        () => {
          call.answer = { ok: true };
        },
        (error: unknown) => {
          call.answer = { ok: false, error };
        },
      );
    return call;
  }

  /** Waits until these calls were answered; those of a process that died never are, and nobody waits longer than a minute. */
  async answered(calls: readonly Call[]): Promise<void> {
    await this.until(() => calls.every(({ answer, process }) => answer !== undefined || !process.isAlive), 60_000);
  }

  /** Starts what is dead anew, as a supervisor does. */
  async revive(): Promise<void> {
    for (const [index, slot] of this.slots.entries()) {
      if (slot.process.isReady) continue;
      slot.process.kill();
      this.slots[index] = this.#newSlot(index, slot.newerBy);
      await this.#bootSlot(index);
    }
  }

  /** Stops one process in an orderly way and starts it with newer definitions. */
  async replace(index: number, newerBy: number): Promise<void> {
    const { process } = this.slots[index]!;
    if (process.isReady) {
      let isOver = false;
      void process.stop().then(
        () => {
          isOver = true;
        },
        () => {
          isOver = true;
        },
      );
      await this.until(() => isOver || !process.isAlive, 90_000);
    }
    process.kill();
    this.slots[index] = this.#newSlot(index, newerBy);
    await this.#bootSlot(index);
  }

  /** Nothing goes wrong from here on: no faults, all processes run the newest definitions, user code behaves. */
  async heal(): Promise<void> {
    this.#isHealed = true;
    this.database.awayUntilMs = 0;
    const newest = Math.max(...this.slots.map(({ newerBy }) => newerBy));
    for (const [index, slot] of this.slots.entries())
      if (slot.newerBy < newest || !slot.process.isReady) await this.replace(index, newest);
  }

  async standing(name: string): Promise<Standing | undefined> {
    const [row] = await this.database.check((db) =>
      db.rows<Standing>(sql`
        select id::text as id, lifecycle, state, closed_at is not null as closed from pawl.instances
        where key = ${name} and parent_id is null and lifecycle not like 'pawl%' order by id desc limit 1`),
    );
    return row;
  }

  /** How many moves all instances have made. */
  async moves(): Promise<number> {
    const [row] = await this.database.check((db) =>
      db.rows<{ moves: number }>(sql`select count(*)::int as moves from pawl.journal`),
    );
    return row!.moves;
  }

  #newSlot(index: number, newerBy: number): Slot {
    const declared = declare(this.plan, this.#code, newerBy);
    const { time, database, ledger, dice } = this;
    const used = (feature: string) => this.note(feature);
    const process = new SimulatedProcess({
      index,
      time,
      database,
      declared,
      ledger,
      dice,
      isHealed: () => this.#isHealed,
      used,
    });
    return { process, newerBy, declared };
  }

  async #bootSlot(index: number): Promise<void> {
    const { process } = this.slots[index]!;
    let isOver = false;
    process.boot().then(
      () => {
        isOver = true;
      },
      (error: unknown) => {
        isOver = true;
        this.tell(`process ${index} cannot start: ${String(error)}`);
        process.kill();
      },
    );
    await this.until(() => isOver || !process.isAlive, 60_000);
  }
}

/** A call that was made, and its answer once there is one. */
export interface Call {
  readonly process: SimulatedProcess;
  answer: { readonly ok: true } | { readonly ok: false; readonly error: unknown } | undefined;
}
