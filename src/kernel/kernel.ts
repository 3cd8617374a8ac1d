import { AsyncLocalStorage } from "node:async_hooks";
import { PawlError } from "../base/errors.ts";
import { idMaker } from "../base/ids.ts";
import type { LifecycleModel } from "../definition/model.ts";
import type { AnySchedule } from "../definition/schedule/schedule.ts";
import { Timetable } from "../definition/schedule/timetable.ts";
import type { BreakerOptions } from "../policy/breaker.ts";
import { ItemBackoff } from "../policy/item-backoff.ts";
import type { InstanceRow } from "../store/move/instances.ts";
import type { Db, Tx } from "../store/port/db.ts";
import { logFailure } from "../telemetry/log.ts";
import type { Telemetry } from "../telemetry/telemetry.ts";
import { BreakerStates } from "./breakers/breaker-states.ts";
import { type Clock, databaseClock } from "./clock.ts";
import { Events } from "./events.ts";
import type { QuestionProviders } from "./family/question-provider.ts";
import type { Faults } from "./faults.ts";
import { ChangedLimits } from "./lanes/changed-limits.ts";
import { standardOutcomeTimeoutMs } from "./retry-unknown-outcome.ts";
import { Notifier } from "./signals/notifier.ts";
import { Signals } from "./signals/signals.ts";
import { type StuckAfter, stuckAfterOf } from "./stuck-after.ts";
import { LeaseExpiry } from "./tasks/lease-expiry.ts";
import { LocalWorkers } from "./tasks/local-workers.ts";
import type { CompanionTable } from "./types/companion-table.ts";

/** The context of the kernel's verbs. Created once per process, and passed to all parts that need it. */
export interface Kernel {
  readonly db: Db;
  readonly clock: Clock;
  readonly newId: () => string;
  readonly signals: Signals;
  /** The events that this process announces about its commits. */
  readonly events: Events;
  /** Other processes on the same database; undefined if there are none, or notifications are off. */
  readonly notifier: Notifier | undefined;
  readonly faults: Faults | undefined;
  /** How long a `before` hook may take: it holds a connection and a lock. */
  readonly hookLimitMs: number;
  /** Set while a hook or an embedded transaction runs: a call without `tx` there would wait for itself. */
  readonly inside: { run<T>(place: string, work: () => T): T; getStore(): string | undefined };
  /** Every lifecycle of this process by name. */
  readonly lifecycles: ReadonlyMap<string, LifecycleModel>;
  readonly timetable: Timetable;
  readonly breakers: BreakerStates;
  /** The limits of lanes that operators have changed. */
  readonly changedLimits: ChangedLimits;
  /** How long an unknown outcome of a call is retried. */
  readonly outcomeTimeoutMs: number;
  /** The workers of this process. */
  readonly localWorkers: LocalWorkers;
  /** Decides when leases count as those of dead workers. */
  readonly expiry: LeaseExpiry;
  /** Lapsed leases that could not be reported, by their tasks. */
  readonly unwritableLapses: ItemBackoff;
  /** Identifies this process in what it writes. */
  readonly process: string;
  readonly telemetry: Telemetry;
  /** The companion tables of lifecycles, by name. */
  readonly companions: ReadonlyMap<string, CompanionTable>;
  /** Who answers for the states that ask. */
  readonly questionProviders: QuestionProviders;
  /** What other rooms have done in each round of maintenance. */
  readonly chores: readonly MaintenanceDuty[];
  /** How long something may wait before it is reported as stuck. */
  readonly stuckAfter: StuckAfter;
}

/** What another part of Pawl does in each round of maintenance; a round returns what could not be done. */
export interface MaintenanceDuty {
  /** Completes "Maintenance could not …". */
  readonly name: string;
  round(kernel: Kernel): Promise<readonly { readonly id: string; readonly error: unknown }[]>;
}

/** As long as the database waits for a statement at most. */
const standardHookLimitMs = 30_000;

export function makeKernel(given: {
  db: Db;
  lifecycles: readonly LifecycleModel[];
  schedules?: readonly AnySchedule[];
  breakers?: Readonly<Record<string, BreakerOptions>>;
  companions?: ReadonlyMap<string, CompanionTable>;
  questionProviders?: QuestionProviders;
  chores?: readonly MaintenanceDuty[];
  clock?: Clock;
  newId?: (() => string) | undefined;
  faults?: Faults | undefined;
  hookLimitMs?: number | undefined;
  outcomeTimeoutMs?: number;
  telemetry: Telemetry;
  notify?: boolean;
  stuckAfter?: StuckAfter;
}): Kernel {
  const clock = given.clock ?? databaseClock();
  const newId = given.newId ?? idMaker(() => clock.nowMs());
  const signals = new Signals();
  const isShared = given.db.listen !== undefined && given.notify !== false;
  return {
    db: given.db,
    clock,
    newId,
    signals,
    events: new Events((error) => logFailure(given.telemetry.log, error)),
    notifier: isShared ? new Notifier(given.db, signals, given.telemetry.log) : undefined,
    faults: given.faults,
    hookLimitMs: given.hookLimitMs ?? standardHookLimitMs,
    outcomeTimeoutMs: given.outcomeTimeoutMs ?? standardOutcomeTimeoutMs,
    inside: new AsyncLocalStorage(),
    lifecycles: new Map(given.lifecycles.map((one) => [one.name, one])),
    timetable: new Timetable(given.schedules ?? []),
    breakers: new BreakerStates(given.lifecycles, given.breakers),
    unwritableLapses: new ItemBackoff(),
    localWorkers: new LocalWorkers(),
    changedLimits: new ChangedLimits(),
    expiry: new LeaseExpiry((text) => given.telemetry.log.warn({}, text)),
    process: newId(),
    telemetry: given.telemetry,
    companions: given.companions ?? new Map(),
    questionProviders: given.questionProviders ?? {},
    chores: given.chores ?? [],
    stuckAfter: given.stuckAfter ?? stuckAfterOf(undefined),
  };
}

/** A transaction of Pawl's own: its hints are sent after the commit. */
export function inTransaction<T>(kernel: Kernel, work: (tx: Tx) => Promise<T>): Promise<T> {
  return kernel.signals.afterCommit(() => kernel.db.transaction(work));
}

/** What decides whether a process may move an instance. */
type Movable = Pick<InstanceRow, "lifecycle" | "definition" | "state" | "outcome">;

/** The definition by which this process moves an instance: its own. Throws where that of another process decides. */
export function lifecycleOf(kernel: Kernel, instance: Movable & { readonly id: string }): LifecycleModel {
  const { id, lifecycle: name, definition, state } = instance;
  const lifecycle = kernel.lifecycles.get(name);
  if (lifecycle === undefined) {
    throw new PawlError(
      "lifecycle_unknown",
      `Instance ${id} belongs to lifecycle \`${name}\`, which is not registered in this process. Add it to \`lifecycles\`.`,
      { lifecycle: name },
    );
  }
  if (definition > lifecycle.version) {
    throw new PawlError(
      "definition_newer",
      `Instance ${id} was moved by version ${definition} of \`${name}\`, and this process has version ${lifecycle.version}. Upgrade this process.`,
      { lifecycle: name, instance: definition, process: lifecycle.version },
    );
  }
  if (isForeign(kernel, instance)) {
    throw new PawlError(
      "state_undeclared",
      `Instance ${id} is in state \`${state}\`, which version ${lifecycle.version} of \`${name}\` in this process does not have. Use a process whose definition has it, or declare it in \`states\` or \`renamed\`.`,
      { lifecycle: name, state, instance: definition, process: lifecycle.version },
    );
  }
  return lifecycle;
}

/** A lifecycle as this process registered it: the same value, not another one of that name. */
export function knownLifecycle(kernel: Kernel, lifecycle: unknown): LifecycleModel {
  const name = (lifecycle as { name?: unknown } | null | undefined)?.name;
  const known = kernel.lifecycles.get(String(name));
  if (known !== undefined && known === lifecycle) return known;
  const why =
    known === undefined
      ? "is not among the `lifecycles` of this Pawl"
      : "is another value than the one registered under that name";
  throw new PawlError(
    "lifecycle_unknown",
    `The lifecycle ${name === undefined ? "given" : `\`${String(name)}\``} ${why}. Pass it to createPawl({ lifecycles: […] }).`,
  );
}

/**
 * Whether only other processes can move an instance: a newer definition moved it, or it is in a state that the definition of
 * this process does not have, as there may be while versions change. An end stays an end in every definition.
 */
export function isForeign(kernel: Kernel, { lifecycle: name, definition, state, outcome }: Movable): boolean {
  const lifecycle = kernel.lifecycles.get(name);
  if (lifecycle === undefined || definition > lifecycle.version) return true;
  return outcome === null && !lifecycle.states.has(state) && lifecycle.renamed[state] === undefined;
}

/** Refuses a call that would wait for the very transaction it is made in. */
export function refuseInside(kernel: Kernel, verb: string): void {
  const where = kernel.inside.getStore();
  if (where === undefined) return;
  throw new PawlError(
    "transaction_required",
    `\`${verb}\` was called without \`tx\` inside ${where}: it would wait for that transaction to end. Pass its \`tx\` along.`,
    { verb, inside: where },
  );
}
