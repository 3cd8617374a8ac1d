import type { Kernel } from "../kernel/kernel.ts";
import { readGateViews } from "../kernel/lanes/gates.ts";
import { claimByTurns, claimFromGates, claimFromLanes, claimProbeTask, type Turn } from "../kernel/tasks/claim.ts";
import type { ClaimedTask } from "../kernel/types/claimed-task.ts";
import type { Lanes } from "./lanes.ts";

/** Who claims. */
export interface LeaseHolder {
  readonly worker: string;
  readonly leaseMs: number;
}

/** While other lanes keep the worker busy, gates are polled at this interval. */
const gatesEveryMs = 20;
/** Another worker is claiming behind the same gate: it will not take long. */
const gateBusyMs = 10;
const wholeLookEveryMs = 2_000;

/**
 * Claims tasks for a worker: from open lanes in one statement, and behind gates in another, alternating which is first.
 * If a lane returned the full limit, the next search starts after the last claimed task: while a transaction elsewhere
 * keeps dead rows from being removed, a search from the start would pass over all of them. That is a hint. A search
 * with fewer tasks than the limit is followed by one of the complete lane, and so is one every two seconds: a task with
 * a better priority, or one that was put back, waits no longer than that.
 */
export class Claimer {
  readonly #kernel: Kernel;
  readonly #lanes: Lanes;
  readonly #holder: LeaseHolder;
  readonly #now: () => number;
  readonly #lastClaimed = new Map<string, { priority: number; id: string }>();
  /** Where the ring of each gate with keys continues: every process serves each key once in a round of its own. */
  readonly #turns = new Map<string, Turn>();
  #wholeLookAt = Number.NEGATIVE_INFINITY;
  #gatesAt = Number.NEGATIVE_INFINITY;
  #turn = 0;
  #urgency = Number.POSITIVE_INFINITY;
  #restMs = Number.POSITIVE_INFINITY;
  #isEmptied = false;

  constructor(kernel: Kernel, lanes: Lanes, leaseHolder: LeaseHolder, now: () => number = () => performance.now()) {
    this.#kernel = kernel;
    this.#lanes = lanes;
    this.#holder = leaseHolder;
    this.#now = now;
  }

  /** The priority up to which nothing is known to wait. */
  get urgency(): number {
    return this.#urgency;
  }

  /** When a gate will let the next one through, as far as is known, in milliseconds from the last claim. */
  get restMs(): number {
    return this.#restMs;
  }

  /** The last claim has looked at all open lanes, and has left nothing in them that could be claimed. */
  get isEmptied(): boolean {
    return this.#isEmptied;
  }

  /** The same as `claimFrom`, once the closed lanes are known as they were half a second ago at most. */
  async claim(room: number, gatedRoom = room, idle = room): Promise<ClaimedTask[]> {
    await this.#lanes.refresh();
    return this.claimFrom(room, gatedRoom, idle);
  }

  /**
   * Claims up to a number of tasks, up to a number of them from behind gates, and as many probes as can begin at once.
   * Tasks beyond `idle` wait here for a slot: until a task has begun, it spends no attempt.
   */
  async claimFrom(room: number, gatedRoom: number, idle: number): Promise<ClaimedTask[]> {
    const probes = await this.#probes(idle);
    const open = await this.#takeOpen(room - probes.length, gatedRoom - probes.length, idle - probes.length);
    if (probes.length > 0) this.#isEmptied = false;
    return [...probes, ...open];
  }

  async #takeOpen(room: number, gatedRoom: number, idle: number): Promise<ClaimedTask[]> {
    this.#restMs = Number.POSITIVE_INFINITY;
    const gatesAreFirst = this.#turn++ % 2 === 1 && this.#now() - this.#gatesAt >= gatesEveryMs;
    const gated = gatesAreFirst ? await this.#behindGates(Math.min(room, gatedRoom), idle) : [];
    const free = await this.#fromLanes(room - gated.length, idle - gated.length);
    const left = Math.min(room - free.length, gatedRoom);
    const isDue = free.length === 0 || this.#now() - this.#gatesAt >= gatesEveryMs;
    const looksBehindGates = !gatesAreFirst && isDue;
    if (looksBehindGates) gated.push(...(await this.#behindGates(left, idle - free.length)));
    if (this.#lanes.hasOpenGates) this.#isEmptied &&= looksBehindGates && gated.length < left;
    return [...gated, ...free];
  }

  /** From lanes that nothing limits: those whose tasks take turns, and the others, alternating which are first. */
  async #fromLanes(limit: number, idle: number): Promise<ClaimedTask[]> {
    const turnsAreFirst = this.#turn % 4 < 2;
    const first = turnsAreFirst
      ? await this.#byTurns("unlimited", limit, idle)
      : await this.#fromOpenLanes(limit, idle);
    const [left, stillIdle] = [limit - first.length, idle - first.length];
    const rest = turnsAreFirst
      ? await this.#fromOpenLanes(left, stillIdle)
      : await this.#byTurns("unlimited", left, stillIdle);
    return [...first, ...rest];
  }

  async #byTurns(which: "limited" | "unlimited", limit: number, idle: number): Promise<ClaimedTask[]> {
    if (limit <= 0) return [];
    const gates = this.#lanes.keyedGatesInTurn(which);
    const claim = { gates, limit, begins: Math.max(0, idle), ...this.#holder };
    const { tasks, turns } = await claimByTurns(this.#kernel, claim, this.#turns);
    for (const { gate, after, credit, waitMs } of turns) {
      this.#turns.set(gate, { after, credit });
      if (waitMs !== null) this.#restMs = Math.min(this.#restMs, waitMs);
    }
    return tasks;
  }

  /** One task for each half-open breaker, unless another worker has one. */
  async #probes(limit: number): Promise<ClaimedTask[]> {
    const tasks: ClaimedTask[] = [];
    for (const { place, gates } of this.#lanes.probes()) {
      if (tasks.length >= limit) break;
      tasks.push(...(await claimProbeTask(this.#kernel, place, { gates, ...this.#holder })));
    }
    return tasks;
  }

  async #fromOpenLanes(limit: number, idle: number): Promise<ClaimedTask[]> {
    const lanes = this.#lanes.freeInTurn();
    this.#isEmptied = lanes.length === 0;
    if (lanes.length === 0 || limit <= 0) return [];
    const now = this.#now();
    if (now - this.#wholeLookAt >= wholeLookEveryMs) this.#lastClaimed.clear();
    const isWhole = this.#lastClaimed.size === 0;
    if (isWhole) this.#wholeLookAt = now;
    const begins = Math.max(0, idle);
    const tasks = await claimFromLanes(this.#kernel, {
      lanes,
      limit,
      share: limit,
      after: this.#lastClaimed,
      begins,
      ...this.#holder,
    });
    // What waits beyond a full claim is not more urgent than the least urgent of it; beyond a small one nothing waits.
    const isFull = tasks.length >= limit;
    this.#urgency = isFull ? Math.max(...tasks.map((one) => one.priority)) : Number.POSITIVE_INFINITY;
    if (isFull)
      for (const { lane, priority, lease } of tasks) this.#lastClaimed.set(lane, { priority, id: lease.taskId });
    else this.#lastClaimed.clear();
    this.#isEmptied = isWhole && !isFull;
    return tasks.length === 0 && !isWhole ? this.#fromOpenLanes(limit, idle) : tasks;
  }

  async #behindGates(limit: number, idle: number): Promise<ClaimedTask[]> {
    if (limit <= 0) return [];
    this.#gatesAt = this.#now();
    const keyed = await this.#byTurns("limited", limit, idle);
    return [...keyed, ...(await this.#behindPlainGates(limit - keyed.length, idle - keyed.length))];
  }

  async #behindPlainGates(limit: number, idle: number): Promise<ClaimedTask[]> {
    const gates = this.#lanes.gatesInTurn();
    if (gates.length === 0 || limit <= 0) return [];
    const views = await readGateViews(this.#kernel, gates);
    for (const { wait_ms } of views) if (wait_ms !== null) this.#restMs = Math.min(this.#restMs, Math.max(1, wait_ms));
    const free = new Set(views.filter((view) => view.room > 0).map((view) => view.name));
    if (free.size === 0) return [];
    const tasks = await claimFromGates(this.#kernel, {
      gates: gates.filter((gate) => free.has(gate.name)),
      limit,
      begins: Math.max(0, idle),
      ...this.#holder,
    });
    if (tasks.length === 0) this.#restMs = gateBusyMs;
    return tasks;
  }
}
