import { moveInstances } from "../../store/move/move-instances.ts";
import { insertInstances } from "../../store/move/start-instances.ts";
import type { Written } from "../../store/move/written.ts";
import type { Executor, Tx } from "../../store/port/db.ts";
import type { Kernel } from "../kernel.ts";
import { runStartHooks } from "../move/hooks.ts";
import { checksTopic, outboxTopic } from "../signals/signals.ts";
import type { PlannedStart } from "../types/start.ts";
import { announceStarts } from "./announce.ts";
import type { InstanceUpdate } from "./instance-update.ts";
import { logKeyProblems } from "./log-key-problems.ts";
import { noRows, type Rows } from "./rows.ts";

/** Writes updates of one kind in one statement; returns which were written, and when. */
export async function writeUpdates(
  kernel: Kernel,
  db: Executor,
  updates: readonly InstanceUpdate[],
): Promise<Map<string, number>> {
  const rows = noRows();
  const moved = updates.map((update) => update.plan(rows));
  const table = kernel.companions.get(updates[0]!.lifecycle.name);
  const decided = table === undefined ? [] : updates.map((one) => one.decisions).filter((some) => some.length > 0);
  const companion = decided.length === 0 ? undefined : table?.moving(decided);
  if (kernel.faults !== undefined) await kernel.faults.at("commit.before");
  const written = await moveInstances(db, moved, { earlier: rows.earlier, related: rows, companion });
  if (kernel.faults !== undefined) await kernel.faults.at("commit.after");
  hand(updates, written);
  return noted(kernel, written, rows);
}

/**
 * Writes new instances whose key is free, in one statement; returns which, when, and whether their leases were given. `onMove` of their lifecycles runs
 * after it: `db` is a transaction then.
 */
export async function commitStarts(
  kernel: Kernel,
  db: Executor,
  starts: readonly PlannedStart[],
  rows: Rows,
  notice?: string,
): Promise<Map<string, Written>> {
  const companion = kernel.companions.get(starts[0]!.row.lifecycle)?.starting(starts.map((one) => one.decision));
  if (kernel.faults !== undefined) await kernel.faults.at("start.before");
  const written = await insertInstances(
    db,
    starts.map((one) => one.row),
    { related: rows, companion, notice },
  );
  if (kernel.faults !== undefined) await kernel.faults.at("start.after");
  const times = noted(kernel, written, rows);
  await runStartHooks(kernel, db as Tx, starts, times);
  announceStarts(kernel, db, starts, times);
  for (const { row, decision } of starts) if (times.has(row.id)) logKeyProblems(kernel, row, decision);
  return new Map(written.map((one) => [one.id, one]));
}

/** Notes when updates were written: then the steps that were leased with them are theirs. */
function hand(updates: readonly InstanceUpdate[], written: readonly Written[]): void {
  const times = new Map(written.map((one) => [one.id, one.now_ms]));
  for (const update of updates) update.grantedAtMs = times.get(update.instance.id);
}

function noted(kernel: Kernel, written: readonly Written[], rows: Rows): Map<string, number> {
  if (written.length > 0) kernel.clock.observe(written[0]!.now_ms);
  if (rows.checks.length > 0) kernel.signals.hint(checksTopic);
  if (rows.messages.length > 0) kernel.signals.hint(outboxTopic);
  return new Map(written.map((one) => [one.id, one.now_ms]));
}
