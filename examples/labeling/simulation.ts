import { setTimeout as rest } from "node:timers/promises";
import { createPawl, type Metrics, type Pawl, type Sample, type SampleState, type Violation } from "pawl";
import type { GivenLabel } from "pawl/quality";
import { Desk, type Tally } from "./desk.ts";
import { team } from "./labelers.ts";
import { Lead } from "./lead.ts";
import { type LabelingQueues, labelingQueues } from "./queues.ts";
import { exampleKey, loadExamples, openRound, type Round, roundOf, samplesOf } from "./round.ts";
import type { Example } from "./samples.ts";

export interface SimulationOptions {
  readonly seed: number;
  /** How long a minute of the queues lasts. */
  readonly minuteMs: number;
  /** A PostgreSQL URL; without one, the database is embedded in `folder`. */
  readonly database: string | undefined;
  readonly folder: string;
}

/** The state at one moment. */
export interface Look {
  readonly queues: readonly { readonly name: string; readonly states: ReadonlyMap<SampleState, number> }[];
  readonly people: readonly { readonly name: string; readonly doing: string; readonly tally: Readonly<Tally> }[];
  /** Every sample has ended, or the team can do nothing more about the others. */
  readonly isOver: boolean;
}

/** The result of a queue. */
export interface QueueResult {
  readonly queue: LabelingQueues[keyof LabelingQueues];
  readonly examples: readonly Example[];
  readonly samples: readonly Sample[];
  /** The labels that count. */
  readonly labels: readonly GivenLabel[];
  /** Of all rounds. */
  readonly metrics: Metrics;
  /** Samples that have more labels than they need, or are agreed with fewer; labels of one person for one sample. */
  readonly overshot: readonly string[];
}

export interface Result {
  readonly queues: readonly QueueResult[];
  readonly people: Look["people"];
  readonly lateAccepted: number;
  readonly violations: readonly Violation[];
}

/** Two queues, the team that works on them, and a lead, in this process. */
export class Simulation {
  readonly #options: SimulationOptions;
  readonly #queues: LabelingQueues;
  readonly #pawl: Pawl;
  readonly #goHome = new AbortController();
  readonly #lead: Lead;
  #desks: readonly Desk[] = [];
  #round = 0;
  #examples: ReadonlyMap<string, readonly Example[]> = new Map();
  #working: Promise<unknown> = Promise.resolve();

  private constructor(options: SimulationOptions, queues: LabelingQueues, pawl: Pawl) {
    this.#options = options;
    this.#queues = queues;
    this.#pawl = pawl;
    this.#lead = new Lead(pawl.people);
  }

  static async open(options: SimulationOptions): Promise<Simulation> {
    const { minuteMs, database, folder } = options;
    const queues = labelingQueues(minuteMs);
    const pawl = await createPawl({
      database,
      folder,
      lifecycles: [],
      queues: Object.values(queues),
      logger: false,
    });
    return new Simulation(options, queues, pawl);
  }

  /** Puts the samples into their queues, unless there are some that wait. */
  fill(): Promise<Round> {
    return openRound(this.#pawl);
  }

  /** The same, and starts the labelers. */
  async begin(): Promise<Round> {
    const round = await this.fill();
    this.#round = round.number;
    this.#examples = await loadExamples();
    const all = [...this.#examples.values()].flat();
    const around = {
      people: this.#pawl.people,
      examples: new Map(all.map((one) => [one.key, one])),
      seed: this.#options.seed,
      pause: (minutes: number) => this.#pause(minutes),
      isOver: () => this.#goHome.signal.aborted,
    };
    const names = Object.keys(this.#queues);
    // Every second one begins at the other end, so that both queues get on.
    this.#desks = team.map(
      (labeler, at) => new Desk(labeler, { ...around, queues: at % 2 === 0 ? names : names.toReversed() }),
    );
    this.#pawl.maintain({ interval: Math.max(50, this.#options.minuteMs) }); // Expires overdue assignments.
    this.#working = Promise.all([...this.#desks.map((desk) => desk.work()), this.#leadWorks()]);
    this.#working.catch(() => this.#goHome.abort()); // Returned by `look`.
    return round;
  }

  async #leadWorks(): Promise<void> {
    while (!this.#goHome.signal.aborted) {
      for (const name of Object.keys(this.#queues)) await this.#lead.lookAt(name);
      await this.#pause(2);
    }
  }

  async #pause(minutes: number): Promise<void> {
    await rest(minutes * this.#options.minuteMs, undefined, { signal: this.#goHome.signal }).catch(() => {});
  }

  async look(): Promise<Look> {
    if (this.#goHome.signal.aborted) await this.#working;
    const queues: { name: string; states: Map<SampleState, number> }[] = [];
    for (const name of Object.keys(this.#queues)) {
      const states = new Map<SampleState, number>();
      for (const { state } of await samplesOf(this.#pawl, name, this.#round)) {
        states.set(state, (states.get(state) ?? 0) + 1);
      }
      queues.push({ name, states });
    }
    const isOver = queues.every(({ states }) => !states.has("open")) || Desk.areThrough(this.#desks);
    return { queues, people: this.#people(), isOver };
  }

  #people(): Look["people"] {
    return this.#desks.map(({ labeler, doing, tally }) => ({ name: labeler.name, doing, tally: { ...tally } }));
  }

  async result(): Promise<Result> {
    await this.#sendHome();
    const queues: QueueResult[] = [];
    for (const queue of Object.values(this.#queues)) queues.push(await this.#resultOf(queue));
    return {
      queues,
      people: this.#people(),
      lateAccepted: this.#lead.accepted,
      violations: await this.#pawl.inspect.verify(),
    };
  }

  async #resultOf(queue: QueueResult["queue"]): Promise<QueueResult> {
    const { people } = this.#pawl;
    const samples = await samplesOf(this.#pawl, queue.name, this.#round);
    const labels: GivenLabel[] = [];
    for await (const { sample, labeler, label } of people.exportLabels(queue)) {
      if (roundOf(sample) === this.#round) labels.push({ sample: exampleKey(sample.key), labeler, label });
    }
    const overshot = samples.flatMap((one) => {
      const key = exampleKey(one.key);
      const own = labels.filter(({ sample }) => sample === key);
      const twice = new Set(own.map(({ labeler }) => labeler)).size < own.length;
      const isWrong = own.length > one.needs || (one.state === "agreed" && own.length !== one.needs);
      return isWrong || twice ? [key] : [];
    });
    const metrics = await people.metrics(queue);
    return { queue, examples: this.#examples.get(queue.name)!, samples, labels, metrics, overshot };
  }

  async #sendHome(): Promise<void> {
    this.#goHome.abort();
    await this.#working;
  }

  async close(): Promise<void> {
    await this.#sendHome().catch(() => {}); // Was printed already.
    await this.#pawl.close();
  }
}
