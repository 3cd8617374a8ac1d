import { advanceBreakers, probePlace, rampLimitOf } from "../kernel/breakers/breakers.ts";
import type { Kernel } from "../kernel/kernel.ts";
import { breakerOf, closedLanesTopic, type LaneClosedReason, readClosedLanes } from "../kernel/lanes/closed-lanes.ts";
import { type Gate, gatesOf, isKeyed, isLimited, type KeyedGate, probeGates } from "../kernel/lanes/gates.ts";
import { hasLimits, readChangedLimits } from "../kernel/lanes/lane-limits.ts";
import { laneFilter, lanesOf } from "../kernel/lanes/lanes.ts";
import { definitionsTopic } from "../kernel/register.ts";
import type { ProbePlace } from "../kernel/tasks/claim.ts";
import type { ClaimedTask } from "../kernel/types/claimed-task.ts";

/**
 * How long the read lanes are valid: a process of an older version may register its definition, and start work in new
 * lanes, long after this worker has started.
 */
const rereadMs = 30_000;

/** The maximum age of the closed lanes when tasks are claimed. */
export const freshMs = 500;

/**
 * The lanes of a worker: which are open, which are closed and why, and which are behind a gate. A closed lane is left
 * out of every claim, so it costs nothing and none of its rows is touched.
 */
export class Lanes {
  readonly #kernel: Kernel;
  readonly #isOurs: (lane: string) => boolean;
  readonly #now: () => number;
  /** Those that this process can serve, and those of them that this worker is for. */
  #all: readonly string[] = [];
  #ours: readonly string[] = [];
  /** The breakers of those of ours that have one. */
  #breakers: ReadonlyMap<string, string> = new Map();
  #gated: ReadonlySet<string> = new Set();
  #closed: ReadonlyMap<string, LaneClosedReason> = new Map();
  #free: readonly string[] = [];
  #freeSet: ReadonlySet<string> = new Set();
  #openGates: readonly Gate[] = [];
  #readAt = Number.NEGATIVE_INFINITY;
  #refreshedAt = Number.NEGATIVE_INFINITY;
  #turn = 0;
  /** Called when there may be work in a lane, and how to stop that for each of them. */
  #wake: (() => void) | undefined;
  readonly #watched = new Map<string, () => void>();

  constructor(kernel: Kernel, lanes?: readonly string[], now: () => number = () => performance.now()) {
    this.#kernel = kernel;
    this.#now = now;
    this.#isOurs = laneFilter(kernel, lanes);
  }

  /** All lanes that this process can serve: maintenance covers those too that its worker does not claim from. */
  get all(): readonly string[] {
    return this.#all;
  }

  get ours(): readonly string[] {
    return this.#ours;
  }

  /** The closed lanes, and why, by the last read. */
  get closed(): ReadonlyMap<string, LaneClosedReason> {
    return this.#closed;
  }

  /**
   * Whether a claimed task must not begin: its lane was closed meanwhile. Known states of breakers count at once; a
   * task that is the probe of one may begin while that is half-open.
   */
  mustWait({ lane, probe }: Pick<ClaimedTask, "lane" | "probe">): boolean {
    if (this.#isPaused(lane)) return true;
    const name = this.#breakers.get(lane);
    if (name === undefined) return false;
    const { state, flip } = this.#kernel.breakers.of(name);
    return state !== "closed" && !(state === "half_open" && probe?.flip === flip);
  }

  /** Paused by a person, and not closed by a breaker alone. */
  #isPaused(lane: string): boolean {
    const closure = this.#closed.get(lane);
    return closure !== undefined && closure.by !== "breaker";
  }

  isGated(lane: string): boolean {
    return this.#gated.has(lane);
  }

  /** Reads which lanes there are. */
  async read(): Promise<void> {
    const readAt = this.#now();
    this.#all = await lanesOf(this.#kernel);
    this.#ours = this.#all.filter(this.#isOurs);
    this.#breakers = new Map(
      this.#ours.flatMap((lane) => {
        const name = breakerOf(this.#kernel, lane);
        return name === undefined ? [] : [[lane, name]];
      }),
    );
    this.#refreshedAt = Number.NEGATIVE_INFINITY;
    this.#readAt = readAt;
    this.#watchOurs();
  }

  /** Nothing is known about which are open, or it has changed: a claim must not go by it. */
  get isUnknown(): boolean {
    return this.#refreshedAt === Number.NEGATIVE_INFINITY;
  }

  /** As far as is known, all are open and stay open unless a person pauses one: no breaker can close or open one. */
  get areSteady(): boolean {
    return !this.isUnknown && this.#closed.size === 0 && this.#breakers.size === 0 && !this.#isOld;
  }

  get #isOld(): boolean {
    return this.#now() - this.#readAt > rereadMs;
  }

  /** Reads which are closed, unless the last read is recent. Returns whether one was opened. */
  async refresh(): Promise<boolean> {
    if (this.#isOld) await this.read();
    if (this.#now() - this.#refreshedAt < freshMs) return false;
    const lookedAt = this.#now();
    const before = this.#closed;
    await advanceBreakers(this.#kernel);
    this.#closed = await readClosedLanes(this.#kernel, this.#ours);
    if (hasLimits(this.#kernel, this.#ours)) await readChangedLimits(this.#kernel);
    const gates = gatesOf(this.#kernel, this.#ours, (breaker) => rampLimitOf(this.#kernel, breaker));
    this.#gated = new Set(gates.filter(isLimited).flatMap((gate) => gate.lanes));
    const behindGates = new Set(gates.flatMap((gate) => gate.lanes));
    this.#free = this.#ours.filter((lane) => !this.#closed.has(lane) && !behindGates.has(lane));
    this.#freeSet = new Set(this.#free);
    this.#openGates = gates.flatMap((gate) => {
      const lanes = gate.lanes.filter((lane) => !this.#closed.has(lane));
      return lanes.length === 0 ? [] : [{ ...gate, lanes }];
    });
    this.#refreshedAt = lookedAt;
    return [...before.keys()].some((lane) => !this.#closed.has(lane));
  }

  /** Those that are open and have no gate. The order turns by one each time, so that no lane starves another. */
  freeInTurn(): string[] {
    return turned(this.#free, this.#turn++);
  }

  get hasOpenGates(): boolean {
    return this.#openGates.length > 0;
  }

  /** The gates before open lanes: these are claimed separately. */
  gatesInTurn(): Gate[] {
    return turned(
      this.#openGates.filter((gate) => !isKeyed(gate)),
      this.#turn++,
    );
  }

  /** Those whose tasks take turns by their keys: with limits or rates, or without any. */
  keyedGatesInTurn(which: "limited" | "unlimited"): KeyedGate[] {
    const gates = this.#openGates.filter(isKeyed).filter((gate) => isLimited(gate) === (which === "limited"));
    const turn = this.#turn++;
    // Of the lanes of several versions, the first with tasks is served.
    return turned(gates, turn).map((gate) => ({ ...gate, lanes: turned(gate.lanes, turn) }));
  }

  /** The half-open breakers that need a probe, as far as is known, and the gates before the lanes of their probes. */
  probes(): { readonly place: ProbePlace; readonly gates: readonly Gate[] }[] {
    return [...new Set(this.#breakers.values())].flatMap((breaker) => {
      const place = probePlace(this.#kernel, breaker);
      if (place === undefined) return [];
      const lanes = this.#ours.filter((lane) => this.#breakers.get(lane) === breaker && !this.#isPaused(lane));
      return lanes.length === 0 ? [] : [{ place, gates: probeGates(this.#kernel, lanes) }];
    });
  }

  /**
   * Whether a task of this lane can be granted without a claim: it is open as far as is known, has no gate, and its tasks
   * take no turns.
   */
  mayGrant(lane: string): boolean {
    const isFresh = this.#now() - this.#refreshedAt < 2 * freshMs;
    return isFresh && this.#isFree(lane);
  }

  /**
   * Whether the first step of a new instance can be leased with the start. The start checks itself that the lane is not
   * paused, so only a breaker must be known.
   */
  mayGrantAtStart(lane: string): boolean {
    return !this.isUnknown && (this.#breakers.has(lane) ? this.mayGrant(lane) : this.#isFree(lane));
  }

  #isFree(lane: string): boolean {
    return this.#freeSet.has(lane) && !this.mustWait({ lane });
  }

  /**
   * Calls `wake` when there may be work in a lane, or lanes were closed or opened; returns a function that ends that.
   */
  watch(wake: () => void): () => void {
    const { signals } = this.#kernel;
    const reopened = signals.wait(closedLanesTopic, () => {
      this.#refreshedAt = Number.NEGATIVE_INFINITY;
      wake();
    });
    const registered = signals.wait(definitionsTopic, () => {
      this.#readAt = Number.NEGATIVE_INFINITY;
      wake();
    });
    this.#wake = wake;
    this.#watchOurs();
    return () => {
      this.#wake = undefined;
      for (const stop of [reopened, registered, ...this.#watched.values()]) stop();
      this.#watched.clear();
    };
  }

  /** Those that were found since the last time, too. */
  #watchOurs(): void {
    const wake = this.#wake;
    if (wake === undefined) return;
    for (const lane of this.#ours)
      if (!this.#watched.has(lane)) this.#watched.set(lane, this.#kernel.signals.wait(lane, wake));
  }
}

function turned<T>(list: readonly T[], by: number): T[] {
  const from = by % Math.max(1, list.length);
  return [...list.slice(from), ...list.slice(0, from)];
}
