import type { Readings, Sample, ValueName } from "./catalogue.ts";
import { batchBounds, durationBounds, Histogram } from "./histogram.ts";

/** The counters of one lane. Plain numbers: they are incremented for every task. */
export class LaneMeters {
  claimed = 0;
  done = 0;
  failed = 0;
  retried = 0;
  deferred = 0;
  released = 0;
  lapsed = 0;
  leasesLost = 0;
  deadLetters = 0;
  readonly durations = new Histogram(durationBounds);
  readonly #alsoTell: ((seconds: number) => void) | undefined;

  constructor(alsoTell: ((seconds: number) => void) | undefined) {
    this.#alsoTell = alsoTell;
  }

  ran(ms: number): void {
    this.durations.observe(ms / 1_000);
    this.#alsoTell?.(ms / 1_000);
  }
}

/** The counters of a worker. */
export interface WatchedWorker {
  readonly state: string;
  readonly slots: Readonly<Record<string, number>>;
  readonly stuck: number;
}

/** A second receiver of single observations, since a histogram cannot be forwarded as a whole. */
export interface Mirror {
  duration(lane: string): (seconds: number) => void;
  batch(what: "claim" | "report", tasks: number): void;
}

const counted: readonly (readonly [ValueName, keyof LaneMeters])[] = [
  ["tasks_claimed", "claimed"],
  ["tasks_done", "done"],
  ["tasks_failed", "failed"],
  ["tasks_retried", "retried"],
  ["tasks_deferred", "deferred"],
  ["tasks_released", "released"],
  ["tasks_lapsed", "lapsed"],
  ["leases_lost", "leasesLost"],
  ["dead_letters", "deadLetters"],
];

/** The counters of this process since its start. Reading them is the reader's cost; incrementing is almost free. */
export class Meters {
  readonly workers = new Set<WatchedWorker>();
  readonly #lanes = new Map<string, LaneMeters>();
  readonly #ticks = new Map<string, number>();
  readonly #pruned = new Map<string, number>();
  readonly #messages = new Map<string, number>();
  readonly #flips = new Map<string, Map<string, number>>();
  readonly #callbacks = new Map<string, Map<string, number>>();
  readonly #batches = { claim: new Histogram(batchBounds), report: new Histogram(batchBounds) };
  readonly #mirror: Mirror | undefined;

  constructor(mirror?: Mirror) {
    this.#mirror = mirror;
  }

  lane(name: string): LaneMeters {
    let lane = this.#lanes.get(name);
    if (lane === undefined) {
      lane = new LaneMeters(this.#mirror?.duration(name));
      this.#lanes.set(name, lane);
    }
    return lane;
  }

  batch(what: "claim" | "report", tasks: number): void {
    this.#batches[what].observe(tasks);
    this.#mirror?.batch(what, tasks);
  }

  ticked(schedule: string, ticks: number): void {
    this.#ticks.set(schedule, (this.#ticks.get(schedule) ?? 0) + ticks);
  }

  pruned(lifecycle: string, instances: number): void {
    this.#pruned.set(lifecycle, (this.#pruned.get(lifecycle) ?? 0) + instances);
  }

  /** The outcome of a leased message. */
  relayed(outcome: string): void {
    this.#messages.set(outcome, (this.#messages.get(outcome) ?? 0) + 1);
  }

  flipped(breaker: string, to: string): void {
    addTo(this.#flips, breaker, to);
  }

  /** The result of a received callback. */
  received(lifecycle: string, status: string): void {
    addTo(this.#callbacks, lifecycle, status);
  }

  read(): Readings {
    const lanes = [...this.#lanes];
    const perLane = counted.map(([name, key]) => [
      name,
      lanes.map(([lane, meters]) => ({ labels: { lane }, value: meters[key] as number })),
    ]);
    return {
      values: {
        ...(Object.fromEntries(perLane) as Readings["values"]),
        schedule_ticks: samples(this.#ticks, "schedule"),
        instances_pruned: samples(this.#pruned, "lifecycle"),
        messages: samples(this.#messages, "outcome"),
        breaker_changes: samplesByTwo(this.#flips, "breaker", "to"),
        callbacks: samplesByTwo(this.#callbacks, "lifecycle", "status"),
        workers: samples(summed([...this.workers].map(({ state }) => ({ [state]: 1 }))), "state"),
        stuck_steps: [{ labels: {}, value: [...this.workers].reduce((sum, { stuck }) => sum + stuck, 0) }],
        worker_slots: samples(summed([...this.workers].map(({ slots }) => slots)), "state"),
      },
      histograms: {
        step_duration_seconds: lanes.map(([lane, { durations }]) => ({ labels: { lane }, value: durations })),
        claim_batch_tasks: [{ labels: {}, value: this.#batches.claim }],
        report_batch_tasks: [{ labels: {}, value: this.#batches.report }],
      },
    };
  }
}

function addTo(counts: Map<string, Map<string, number>>, name: string, what: string): void {
  const own = counts.get(name) ?? new Map<string, number>();
  own.set(what, (own.get(what) ?? 0) + 1);
  counts.set(name, own);
}

function samplesByTwo(
  counts: ReadonlyMap<string, ReadonlyMap<string, number>>,
  label: string,
  other: string,
): Sample<number>[] {
  return [...counts].flatMap(([name, own]) =>
    [...own].map(([what, value]) => ({ labels: { [label]: name, [other]: what }, value })),
  );
}

function samples(values: ReadonlyMap<string, number>, label: string): Sample<number>[] {
  return [...values].map(([name, value]) => ({ labels: { [label]: name }, value }));
}

function summed(records: readonly Readonly<Record<string, number>>[]): Map<string, number> {
  const sums = new Map<string, number>();
  for (const record of records) {
    for (const [name, value] of Object.entries(record)) sums.set(name, (sums.get(name) ?? 0) + value);
  }
  return sums;
}
