import type { LifecycleModel } from "../../definition/model.ts";
import {
  type BreakerOptions,
  type BreakerPolicy,
  breakerPolicies,
  checkedBreaker,
  sliceOf,
  standardBreaker,
  type Verdict,
} from "../../policy/breaker.ts";
import type { BreakerRow, CallCount } from "../../store/tasks/breakers.ts";
import type { ClaimedTask } from "../types/claimed-task.ts";

/** The counts of a process for one slice of time. */
interface Slice {
  readonly flip: number;
  readonly atMs: number;
  good: number;
  failed: number;
  retryAtMs: number | null;
  isWritten: boolean;
}

/** The outcomes that a running step has reported for the dependency of its state. */
export interface StepCalls {
  /** The flip of the breaker after which it began. */
  readonly flip: number;
  good: number;
  failed: number;
}

const none: ReadonlyMap<string, number> = new Map();

/** Nothing is known of it but its name: it is closed. */
function neverFlipped(name: string): BreakerRow {
  return {
    name,
    state: "closed",
    flip: 0,
    since_ms: 0,
    until_ms: null,
    probe_token: null,
    is_probing: false,
    probes_done: 0,
    probes_good: 0,
    forced: null,
    reason: null,
    actor: null,
    now_ms: 0,
  };
}

/**
 * The breakers as a process knows them: their states at the last read, and the calls counted since. All of it is in
 * memory, so a call under a closed breaker costs two additions.
 */
export class BreakerStates {
  /** The states that use each breaker, as `lifecycle/state`. */
  readonly users: ReadonlyMap<string, readonly string[]>;
  readonly #policies: ReadonlyMap<string, BreakerPolicy>;
  readonly #names: Set<string>;
  readonly #rows = new Map<string, BreakerRow>();
  readonly #probeClaims = new Set<string>();
  readonly #slices = new Map<string, Slice[]>();
  readonly #steps = new WeakMap<ClaimedTask, StepCalls>();
  readonly #cuts = new WeakMap<ClaimedTask, Map<string, number>>();
  /** Those that the database has a row for. */
  readonly declared = new Set<string>();

  constructor(lifecycles: readonly LifecycleModel[], options: Readonly<Record<string, BreakerOptions>> | undefined) {
    this.#policies = breakerPolicies(options);
    this.#names = new Set(this.#policies.keys());
    const users = new Map<string, string[]>();
    for (const lifecycle of lifecycles) {
      for (const { name, uses } of lifecycle.states.values()) {
        if (uses === undefined) continue;
        this.add(checkedBreaker(uses));
        users.set(uses, [...(users.get(uses) ?? []), `${lifecycle.name}/${name}`]);
      }
    }
    this.users = users;
  }

  /** All that are configured, used by a state, or were called by a step. */
  get names(): readonly string[] {
    return [...this.#names];
  }

  isKnown(name: string): boolean {
    return this.#names.has(name);
  }

  /** From now on it is read with the others. */
  add(name: string): void {
    this.#names.add(name);
  }

  /** A breaker without configuration has the defaults. */
  policyOf(name: string): BreakerPolicy {
    return this.#policies.get(name) ?? standardBreaker;
  }

  /** Its state at the last read. */
  of(name: string): BreakerRow {
    return this.#rows.get(name) ?? neverFlipped(name);
  }

  /** Stores the states that were read; returns whether the lanes that may be claimed have changed. */
  put(rows: readonly BreakerRow[]): boolean {
    let hasChanged = false;
    for (const row of rows) {
      const before = this.of(row.name);
      if (row.flip < before.flip && row.now_ms <= before.now_ms) continue; // An answer that was overtaken.
      hasChanged ||= row.flip !== before.flip || row.is_probing !== before.is_probing;
      this.#rows.set(row.name, row);
      this.#probeClaims.delete(row.name);
      this.declared.add(row.name);
    }
    return hasChanged;
  }

  /** Another worker has the probe, or tried to: until the next read this process does not try. */
  markProbing(name: string): void {
    this.#rows.set(name, { ...this.of(name), is_probing: true });
  }

  /**
   * A claim tries for a task that could be the probe. Until the next read no other claim does; but if none was ready, a
   * step that calls the dependency itself may still be the probe.
   */
  markProbeClaim(name: string): void {
    this.#probeClaims.add(name);
  }

  hasProbeClaim(name: string): boolean {
    return this.#probeClaims.has(name);
  }

  /** A step begins: its outcome counts since the current flip. */
  begin(task: ClaimedTask): void {
    const uses = usesOf(task);
    if (uses !== undefined) this.#steps.set(task, { flip: this.of(uses).flip, good: 0, failed: 0 });
  }

  /** The outcomes of a step so far, for the dependency of its state. */
  stepOf(task: ClaimedTask): StepCalls | undefined {
    return this.#steps.get(task);
  }

  /** A call of this step was aborted while it ran: how it counts is decided when the step has ended. */
  cut(task: ClaimedTask, name: string, flip: number): void {
    this.#cuts.set(task, (this.#cuts.get(task) ?? new Map<string, number>()).set(name, flip));
  }

  /** The breakers of the calls of this step that were cut off, and the flips after which they began. */
  cutsOf(task: ClaimedTask): ReadonlyMap<string, number> {
    return this.#cuts.get(task) ?? none;
  }

  /** Counts a call; returns whether it is the first since the counts were written. */
  count(name: string, call: { flip: number; verdict: Verdict; atMs: number; retryAtMs: number | null }): boolean {
    if (call.verdict === null) return false;
    const atMs = sliceOf(this.policyOf(name), call.atMs);
    const slices = this.#slices.get(name) ?? [];
    this.#slices.set(name, slices);
    let slice = slices.findLast((one) => one.atMs === atMs && one.flip === call.flip);
    if (slice === undefined) {
      slice = { flip: call.flip, atMs, good: 0, failed: 0, retryAtMs: null, isWritten: true };
      slices.push(slice);
    }
    slice[call.verdict] += 1;
    if (call.retryAtMs !== null) slice.retryAtMs = Math.max(slice.retryAtMs ?? 0, call.retryAtMs);
    const isFirst = slice.isWritten;
    slice.isWritten = false;
    return isFirst;
  }

  /** The counts to write, each slice with its total. They count as written from here on. */
  toWrite(nowMs: number): CallCount[] {
    const counts: CallCount[] = [];
    for (const [breaker, slices] of this.#slices) {
      const { windowMs } = this.policyOf(breaker);
      const kept = slices.filter((slice) => slice.atMs > nowMs - windowMs);
      this.#slices.set(breaker, kept);
      for (const slice of kept) {
        if (slice.isWritten) continue;
        const { isWritten: _, ...count } = slice;
        counts.push({ breaker, ...count });
        slice.isWritten = true;
      }
    }
    return counts;
  }

  /** It was not written: the next time, all of it is. */
  markUnwritten(counts: readonly CallCount[]): void {
    for (const { breaker, flip, atMs } of counts) {
      const slice = this.#slices.get(breaker)?.find((one) => one.atMs === atMs && one.flip === flip);
      if (slice !== undefined) slice.isWritten = false;
    }
  }

  /** Closed breakers with recent failures in this process: the counts of all processes are worth reading. */
  suspects(nowMs: number): { name: string; flip: number; windowMs: number }[] {
    return this.names.flatMap((name) => {
      const { state, forced, flip } = this.of(name);
      const { windowMs } = this.policyOf(name);
      const hasFailed = this.#slices
        .get(name)
        ?.some((slice) => slice.flip === flip && slice.failed > 0 && slice.atMs > nowMs - windowMs);
      return state === "closed" && forced === null && hasFailed === true ? [{ name, flip, windowMs }] : [];
    });
  }

  /** The latest time until which a dependency has requested a pause, as far as this process knows. */
  askedUntil(name: string): number | null {
    const asked = (this.#slices.get(name) ?? []).map((slice) => slice.retryAtMs ?? 0);
    return asked.length === 0 ? null : Math.max(...asked);
  }
}

/** The breaker of the state whose step a task is. */
export function usesOf(task: Pick<ClaimedTask, "kind" | "lifecycle" | "row">): string | undefined {
  return task.kind === "step" ? task.lifecycle.states.get(task.row.state)?.uses : undefined;
}
