import { PawlError } from "../base/errors.ts";
import { storableText } from "../base/json.ts";
import { type Decision, decideStart } from "../definition/decide.ts";
import type { LifecycleModel } from "../definition/model.ts";
import type { Executor } from "../store/db.ts";
import { type InstanceRow, type NewInstance, readInstances, readInstancesByKey } from "../store/instances.ts";
import { commitStarts } from "./commit.ts";
import { deadlineAfterMs, earliest, journalRow, noRows, type Rows, shelfOf, timerRow } from "./course.ts";
import { asPawlError } from "./errors.ts";
import type { Kernel } from "./kernel.ts";
import { untilAnswered } from "./lost-reply.ts";
import { type Snapshot, snapshotAfter, snapshotOf } from "./snapshot.ts";

/** An instance on its way into the world. */
export interface Start {
  readonly lifecycle: LifecycleModel;
  readonly key: string | null;
  readonly data: unknown;
  readonly actor: string | null;
  readonly reason: string | null;
  readonly requestId: string;
}

export type Started =
  | { readonly ok: true; readonly created: boolean; readonly instance: Snapshot }
  | { readonly ok: false; readonly error: PawlError };

interface Planned {
  readonly start: Start;
  readonly decision: Decision;
  readonly row: NewInstance;
}

/**
 * Starts a list of instances in one statement. A key that is taken gives back the instance that has it. Ids are given in
 * the order of the keys, so that rows land side by side and two batches with the same keys never wait crosswise.
 */
export async function startAll(kernel: Kernel, db: Executor, starts: readonly Start[]): Promise<Started[]> {
  const outcomes = new Map<Start, Started>();
  const first = new Map<string, Start>();
  const sameKey: Start[] = [];
  const plans = new Map<string, Planned>();
  const rows = noRows();
  for (const start of [...starts].sort(byKey)) {
    const name = start.key === null ? undefined : `${start.lifecycle.name}/${start.key}`;
    if (name !== undefined && first.has(name)) {
      sameKey.push(start);
      continue;
    }
    try {
      const planned = plan(kernel, start, rows);
      plans.set(planned.row.id, planned);
      if (name !== undefined) first.set(name, start);
    } catch (thrown) {
      outcomes.set(start, { ok: false, error: asPawlError(thrown) });
    }
  }
  await write(kernel, db, plans, rows, outcomes);
  for (const start of sameKey) {
    const winner = outcomes.get(first.get(`${start.lifecycle.name}/${start.key}`)!)!;
    outcomes.set(start, winner.ok ? { ...winner, created: false } : winner);
  }
  return starts.map((start) => outcomes.get(start)!);
}

function byKey(one: Start, other: Start): number {
  if (one.lifecycle.name !== other.lifecycle.name) return one.lifecycle.name < other.lifecycle.name ? -1 : 1;
  if (one.key === other.key) return 0;
  return (one.key ?? "") < (other.key ?? "") ? -1 : 1;
}

async function write(
  kernel: Kernel,
  db: Executor,
  plans: ReadonlyMap<string, Planned>,
  rows: Rows,
  outcomes: Map<Start, Started>,
): Promise<void> {
  if (plans.size === 0) return;
  const inserted = [...plans.values()].map((planned) => planned.row);
  const round = async (): Promise<void> => {
    const written = await commitStarts(kernel, db, inserted, rows);
    for (const [id, atMs] of written) {
      const { start, decision } = plans.get(id)!;
      outcomes.set(start, {
        ok: true,
        created: true,
        instance: snapshotAfter({ ...decision.instance, createdAtMs: atMs }, atMs),
      });
      if (decision.step !== null) kernel.signals.hint(decision.step.lane);
    }
    const rest = [...plans.values()].filter((planned) => !written.has(planned.row.id));
    if (rest.length > 0) await adopt(db, rest, outcomes);
  };
  // The same statement again after a lost reply: what it wrote the first time is found by its id.
  await (db === kernel.db ? untilAnswered(round) : round());
}

/** What was there already: after a lost reply the instance itself, else the one that has the key. */
async function adopt(db: Executor, rest: readonly Planned[], outcomes: Map<Start, Started>): Promise<void> {
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
  for (const { start, row } of rest) {
    const own = mine.get(row.id);
    const other = own ?? taken.get(`${row.lifecycle}/${row.key}`);
    outcomes.set(
      start,
      other === undefined
        ? {
            ok: false,
            error: new PawlError(
              "busy",
              `The key "${row.key}" was taken and given back at this moment. Start it again.`,
            ),
          }
        : { ok: true, created: own !== undefined, instance: snapshotOf(other) },
    );
  }
}

function plan(kernel: Kernel, start: Start, rows: Rows): Planned {
  const { lifecycle } = start;
  const id = kernel.newId();
  const decision = decideStart(lifecycle, { ...start, id }, kernel.clock.nowMs());
  const dataText = storableText(decision.instance.data, `The data of \`${lifecycle.name}\``);
  const maker = { source: "call" as const, requestId: start.requestId, lease: null };
  rows.journal.push({ ...journalRow(id, lifecycle, { ...decision, patch: null }, maker), patchText: dataText });
  for (const timer of decision.timers) rows.timers.push(timerRow(id, kernel.newId(), 1, timer));
  if (decision.step !== null) rows.steps.push({ instanceId: id, ...decision.step, visit: 1, dueAtMs: null });
  return {
    start,
    decision,
    row: {
      id,
      lifecycle: lifecycle.name,
      definition: lifecycle.version,
      key: start.key,
      state: decision.to,
      shelf: shelfOf(lifecycle, decision.to),
      dataText,
      deadlineAfterMs: deadlineAfterMs(decision),
      dueAfterMs: earliest(decision.timers, "afterMs"),
      outcome: decision.instance.outcome,
    },
  };
}
