import { isPawlError, PawlError } from "../../base/errors.ts";
import { storableText } from "../../base/json.ts";
import { decideStart } from "../../definition/decide/decide.ts";
import type { InstanceModel } from "../../definition/decide/instance.ts";
import type { Decision } from "../../definition/decide/move.ts";
import { type InstanceRow, readInstances, readInstancesByKey } from "../../store/move/instances.ts";
import { isPlain, type NewInstance } from "../../store/move/start-instances.ts";
import type { NextStep } from "../../store/move/written.ts";
import type { Executor } from "../../store/port/db.ts";
import { commitStarts } from "../commit/commit-rows.ts";
import { groupByCompanion } from "../commit/group-by-companion.ts";
import { deadlineAfterMs, earliest, noMove, noRows, type Rows, shelfOf, timerRow } from "../commit/rows.ts";
import { splitBySize } from "../commit/split-by-size.ts";
import { asPawlError, itemInvalid } from "../errors.ts";
import { inTransaction, type Kernel } from "../kernel.ts";
import { retryUntilKnown } from "../retry-unknown-outcome.ts";
import { FirstLeases } from "../tasks/first-leases.ts";
import type { Snapshot } from "../types/snapshot.ts";
import type { PlannedStart, Start, Started } from "../types/start.ts";
import { snapshotAfter, snapshotOf } from "./snapshot.ts";

/** More starts than this are bulk work: their tasks are claimed in batches, and notifications about them collected. */
const mostFew = 64;

/**
 * Starts a list of instances in one statement. If a key is in use, its instance is returned. They are written in the
 * order of their keys, so that two batches with the same keys cannot deadlock.
 */
export async function startAll(kernel: Kernel, db: Executor, planned: readonly PlannedStart[]): Promise<Started[]> {
  const outcomes = new Map<PlannedStart, Started>();
  const first = new Map<string, PlannedStart>();
  const fresh: PlannedStart[] = [];
  for (const one of [...planned].sort(byKey)) {
    const name = nameOf(one);
    if (name !== undefined && first.has(name)) continue;
    if (name !== undefined) first.set(name, one);
    fresh.push(one);
  }
  const isHooked = ({ start }: PlannedStart) => start.lifecycle.onMove !== undefined;
  const hooked = fresh.filter(isHooked);
  const together = hooked.length === 0 ? fresh : fresh.filter((one) => !isHooked(one));
  for (const some of groupByCompanion(kernel, together, ({ row }) => row.lifecycle)) {
    for (const part of splitBySize(some, (one) => one.row.dataText.length)) await write(kernel, db, part, outcomes);
  }
  for (const one of hooked) await writeHooked(kernel, db, one, outcomes);
  return planned.map((one) => outcomes.get(one) ?? again(outcomes.get(first.get(nameOf(one)!)!)!));
}

/** The answer to a start whose key is that of another one in the same list. */
function again(first: Started): Started {
  return first.ok ? { ...first, created: false } : first;
}

function nameOf({ row }: PlannedStart): string | undefined {
  return row.key === null ? undefined : `${row.lifecycle}/${row.key}`;
}

function byKey({ row: one }: PlannedStart, { row: other }: PlannedStart): number {
  if (one.lifecycle !== other.lifecycle) return one.lifecycle < other.lifecycle ? -1 : 1;
  if (one.key === other.key) return 0;
  return (one.key ?? "") < (other.key ?? "") ? -1 : 1;
}

/** One whose lifecycle has an `onMove`, in a transaction of its own: a throw fails this start alone. */
async function writeHooked(
  kernel: Kernel,
  db: Executor,
  one: PlannedStart,
  outcomes: Map<PlannedStart, Started>,
): Promise<void> {
  if (db !== kernel.db) return writeOnce(kernel, db, [one], outcomes);
  try {
    await retryUntilKnown(kernel, () => inTransaction(kernel, (tx) => writeOnce(kernel, tx, [one], outcomes)));
  } catch (thrown) {
    const error = asPawlError(thrown);
    if (error.fault === "environment") throw error;
    outcomes.set(one, { ok: false, error });
  }
}

/** How starts are written outside of a transaction: with leases of first steps, and a notification of their own. */
interface StartedWith {
  readonly leases?: FirstLeases | undefined;
  readonly notice?: string | undefined;
}

async function writeOnce(
  kernel: Kernel,
  db: Executor,
  planned: readonly PlannedStart[],
  outcomes: Map<PlannedStart, Started>,
  { leases, notice }: StartedWith = {},
): Promise<void> {
  const starts = leases?.starts ?? planned;
  const written = await commitStarts(kernel, db, starts, rowsOf(planned), notice);
  for (const [index, one] of planned.entries()) {
    const { now_ms: atMs, leased } = written.get(one.row.id) ?? {};
    if (atMs === undefined) continue;
    outcomes.set(one, { ok: true, created: true, instance: bornAt(one, atMs) });
    const { step } = starts[index]!.row;
    if (step?.grant != null && leased === true) leases!.give(starts[index]!, atMs);
    else if (step !== null && notice !== undefined) kernel.signals.receive(step.lane);
    else if (step !== null) kernel.signals.hint(step.lane);
  }
  const rest = planned.filter((one) => !written.has(one.row.id));
  if (rest.length === 0) return;
  await adopt(db, rest, outcomes);
  await leases?.find(rest.filter((one) => isCreated(outcomes.get(one))));
}

async function write(
  kernel: Kernel,
  db: Executor,
  planned: readonly PlannedStart[],
  outcomes: Map<PlannedStart, Started>,
): Promise<void> {
  if (db !== kernel.db) return writeOnce(kernel, db, planned, outcomes);
  const companion = kernel.companions.get(planned[0]!.row.lifecycle);
  const isFew = planned.length <= mostFew && isPlain({ related: rowsOf(planned), companion });
  const leases = isFew ? new FirstLeases(kernel, planned) : undefined;
  const notice = isFew ? noticeOf(kernel, leases!.starts) : undefined;
  try {
    // The same statement again after a lost reply: rows that it wrote the first time are found by id.
    await retryUntilKnown(kernel, () => writeOnce(kernel, db, planned, outcomes, { leases, notice }));
    leases?.settle("unwritten");
  } catch (thrown) {
    const error = asPawlError(thrown);
    leases?.settle(isPawlError(error, "outcome_unknown") ? "unknown" : "unwritten");
    if (error.fault === "environment") throw error;
    // One that the database refuses is not to keep its neighbours out.
    if (planned.length > 1) for (const one of planned) await write(kernel, db, [one], outcomes);
    else outcomes.set(planned[0]!, { ok: false, error });
  }
}

/** The notification that these starts can send themselves: then the workers of other processes hear of it a round trip sooner. */
function noticeOf({ notifier }: Kernel, starts: readonly PlannedStart[]): string | undefined {
  const isLeased = starts.some(({ row: { step } }) => step?.grant != null);
  const lanes = new Set(starts.flatMap(({ row: { step } }) => (step === null ? [] : [step.lane])));
  return isLeased || lanes.size === 0 ? undefined : notifier?.claimNotice([...lanes]);
}

function isCreated(started: Started | undefined): boolean {
  return started?.ok === true && started.created;
}

/** The related rows of new instances. */
export function rowsOf(planned: readonly PlannedStart[]): Rows {
  const rows = noRows();
  for (const { timers, start, row } of planned) {
    const { kind } = start.lifecycle.states.get(row.state)!;
    if (kind === "join" || kind === "ask")
      rows.checks.push({ instanceId: row.id, parentId: row.id, lifecycle: row.lifecycle });
    rows.timers.push(...timers);
  }
  return rows;
}

/** Its times are those at which it was written. */
function bornAt({ decision, row }: PlannedStart, atMs: number): Snapshot {
  const deadlineAtMs = row.deadlineAfterMs === null ? null : atMs + row.deadlineAfterMs;
  return snapshotAfter({ ...decision.instance, createdAtMs: atMs, deadlineAtMs }, atMs, null);
}

/** Existing instances: after a lost reply the instance itself, otherwise the one with the key. */
async function adopt(db: Executor, rest: readonly PlannedStart[], outcomes: Map<PlannedStart, Started>): Promise<void> {
  const mine = new Map(
    (
      await readInstances(
        db,
        rest.map((one) => one.row.id),
      )
    ).map((row) => [row.id, row]),
  );
  const keyed = rest.flatMap(({ row }) => (row.key === null ? [] : [{ lifecycle: row.lifecycle, key: row.key }]));
  const taken = new Map<string, InstanceRow>();
  if (keyed.length > 0) {
    for (const row of await readInstancesByKey(db, keyed)) taken.set(`${row.lifecycle}/${row.key}`, row);
  }
  for (const one of rest) {
    const { row } = one;
    const own = mine.get(row.id);
    const other = own ?? taken.get(`${row.lifecycle}/${row.key}`);
    outcomes.set(
      one,
      other === undefined
        ? { ok: false, error: takenMeanwhile(row.key) }
        : { ok: true, created: own !== undefined, instance: snapshotOf(other) },
    );
  }
}

function takenMeanwhile(key: string | null): PawlError {
  const what =
    key === null ? "A row that it needs was taken by another start" : `The key "${key}" was taken and released`;
  return new PawlError("busy", `${what} at this moment. Start it again.`);
}

/** Checks a start and plans what to write. Throws errors that its caller or its author has to fix. */
export function planStart(kernel: Kernel, start: Start, nowMs = kernel.clock.nowMs()): PlannedStart {
  const { lifecycle, key, data, actor, reason } = start;
  const id = kernel.newId();
  const parent = start.parent ?? null;
  const decision = decideStart(lifecycle, { id, key, parent: parentOf(parent), data, actor, reason }, nowMs);
  const dataText = storableText(decision.instance.data, `The data of \`${lifecycle.name}\``);
  const source = start.source ?? (parent === null ? ("call" as const) : ("pawl" as const));
  return {
    start,
    decision,
    timers: decision.timers.map((timer) => timerRow(id, kernel.newId(), 1, timer)),
    row: {
      id,
      lifecycle: lifecycle.name,
      definition: lifecycle.version,
      key,
      parent,
      state: decision.to,
      shelf: shelfOf(lifecycle, decision.to),
      dataText,
      deadlineAfterMs: deadlineAfterMs(decision),
      dueAfterMs: earliest(decision.timers, "afterMs"),
      outcome: decision.instance.outcome,
      move: { ...noMove, event: decision.event, source, actor, reason, requestId: start.requestId },
      step: firstStep(decision, start.first),
    },
  };
}

function parentOf(parent: NewInstance["parent"]): InstanceModel["parent"] {
  return parent === null ? null : { lifecycle: parent.lifecycle, id: parent.id };
}

/** Checks a list as a whole, so that one bad element does not leave a part of it written. */
export function planStarts(kernel: Kernel, starts: readonly Start[]): PlannedStart[] {
  const nowMs = kernel.clock.nowMs();
  return starts.map((start, index) => {
    try {
      return planStart(kernel, start, nowMs);
    } catch (thrown) {
      throw itemInvalid(thrown, index);
    }
  });
}

function firstStep(decision: Decision, first: Start["first"]): NextStep | null {
  if (decision.step === null) return null;
  const { lane, priority, key } = decision.step;
  const { afterMs = null, atMs = null } = first ?? {};
  return { lane, priority: first?.priority ?? priority, afterMs, atMs, grant: null, key };
}
