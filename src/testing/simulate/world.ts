import { idMaker } from "../../base/ids.ts";
import type { AnyLifecycle } from "../../definition/language/public-types.ts";
import { describePlace } from "../crash-everywhere/crash-point.ts";
import { Dice } from "../dice.ts";
import { instancesOf, type NamedInstance } from "../instances.ts";
import type { TestBench } from "../test-bench.ts";
import type { TestPawl } from "../test-pawl.ts";
import type { Plan } from "./act.ts";
import { type Problem, settled } from "./problem.ts";
import type { Settings } from "./settings.ts";
import { type PlannedDeath, SimulatedProcess } from "./simulated-process.ts";
import { Story } from "./story.ts";

/** A planned fault of a step, before it begins or after it has done its work. */
export interface StepFault {
  readonly kind: "fail" | "failPermanently" | "stall" | "interrupt";
  readonly when: "before" | "after";
  /** How many steps run before the one that it happens to. */
  left: number;
  readonly dice: Dice;
}

/** An act may call many functions of the user's, and each has a limit of its own. */
const limitsPerAct = 6;

/** Everything that one run is made of: a process on a database, the instances as they were last seen, and what happened. */
export class World {
  readonly settings: Settings;
  readonly dice: Dice;
  readonly story: Story;
  readonly #mishaps: StepFault[] = [];
  readonly #bench: TestBench;
  readonly #newId: () => string;
  readonly #broken: Promise<never>;
  #break: (problem: Problem) => void = () => {};
  #process: SimulatedProcess | undefined;
  #instances: readonly NamedInstance[] = [];

  constructor(bench: TestBench, settings: Settings, plan: Plan) {
    this.settings = settings;
    this.dice = new Dice(plan.seed);
    this.#bench = bench;
    this.story = new Story(() => bench.clock.nowMs());
    this.#newId = idMaker(() => bench.clock.nowMs(), tailsOf(this.dice.stream("ids")));
    this.#broken = new Promise((_, reject) => {
      this.#break = reject;
    });
    this.#broken.catch(() => {}); // Created on demand: a run without a problem never needs it.
  }

  /** As they were after the last act, oldest first. */
  get instances(): readonly NamedInstance[] {
    return this.#instances;
  }

  async boot(): Promise<void> {
    this.#process = await this.#newProcess();
  }

  end(): void {
    this.#process?.end();
  }

  /** The result of the process; undefined if it died. Then another one takes over. */
  async attempt<Result>(work: (t: TestPawl) => Promise<Result>): Promise<{ readonly result: Result } | undefined> {
    const limitMs = limitsPerAct * this.settings.timeoutMs;
    const what = "An act of the simulation, with the steps that ran during it,";
    const done = await settled(limitMs, what, () => Promise.race([this.#running.run(work), this.#broken]));
    if ("result" in done) return done;
    this.story.add(`The process dies ${describePlace(done.died)}, and another one takes over.`);
    await this.boot();
    return undefined;
  }

  /** A call by a caller that retries when there was no answer. */
  async call<Result>(work: (t: TestPawl) => Promise<Result>): Promise<Result> {
    for (;;) {
      const done = await this.attempt(work);
      if (done !== undefined) return done.result;
      this.story.add("The caller got no response, and repeats the call.");
    }
  }

  /** A read without faults. */
  look<Result>(work: (t: TestPawl) => Promise<Result>): Promise<Result> {
    return this.#running.look(work);
  }

  condemn(doom: PlannedDeath): void {
    this.#running.condemn(doom);
  }

  expose(mishap: StepFault): void {
    this.#mishaps.push(mishap);
  }

  /** What happens to the step that begins now. */
  nextMishap(): StepFault | undefined {
    const at = this.#mishaps.findIndex(({ left }) => left <= 0);
    for (const mishap of this.#mishaps) mishap.left -= 1;
    return at < 0 ? undefined : this.#mishaps.splice(at, 1)[0];
  }

  /** The run cannot continue, wherever that was detected. */
  stop(problem: Problem): void {
    this.#break(problem);
  }

  /** Another process, in parallel to the current one, which does something and ends. */
  async inParallel(work: (t: TestPawl) => Promise<void>): Promise<void> {
    const other = await this.#newProcess();
    await other.run(work);
    other.end();
  }

  /** When something happens by itself; undefined if nothing will. */
  async nextMomentMs(): Promise<number | undefined> {
    const { clock } = this.#bench;
    const next = await clock.nextMoment();
    return next === undefined ? undefined : next - clock.nowMs();
  }

  /** Reads all instances, and returns which of them moved. */
  async see(): Promise<void> {
    const lifecycles = [...this.settings.lifecycles.values()] as AnyLifecycle[];
    const seen = await this.look((t) => instancesOf(t.pawl, lifecycles));
    const before = new Map(this.#instances.map(({ id, instance }) => [id, instance]));
    this.story.know(seen);
    for (const { id, name, instance } of seen) {
      const last = before.get(id);
      if (last === undefined) {
        if (instance.parent !== null) this.story.add(`${name} was started by a step, and is in ${instance.state}.`);
      } else if (last.version !== instance.version) {
        this.story.add(`${name} has come from ${last.state} to ${instance.state}.`);
      }
    }
    this.#instances = seen;
  }

  get #running(): SimulatedProcess {
    return this.#process!;
  }

  #newProcess(): Promise<SimulatedProcess> {
    return SimulatedProcess.start(this.#bench, { leaseMs: this.settings.leaseMs, newId: this.#newId });
  }
}

/** The ends of ids, the same for the same seed. */
function tailsOf(random: () => number): () => string {
  const digits = (count: number) =>
    Array.from({ length: count }, () => Math.floor(random() * 16).toString(16)).join("");
  return () => `${"89ab"[Math.floor(random() * 4)]}${digits(3)}-${digits(12)}`;
}
