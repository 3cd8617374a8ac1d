import { isInternal } from "../../definition/internal.ts";
import { failed } from "../../definition/model.ts";
import type { Executor } from "../../store/port/db.ts";
import type { Events } from "../events.ts";
import type { Kernel } from "../kernel.ts";
import type { PlannedStart } from "../types/start.ts";
import type { InstanceUpdate } from "./instance-update.ts";

/** Announces the moves of updates that were written, once their transaction is committed. */
export function announceMoves(
  { events, signals, db: own }: Kernel,
  db: Executor,
  updates: readonly InstanceUpdate[],
  written: ReadonlyMap<string, number>,
): void {
  if (!events.isHeard) return;
  signals.onceCommitted(db === own, () => {
    for (const update of updates) {
      const atMs = written.get(update.row.id);
      if (atMs !== undefined) announce(events, update, new Date(atMs));
    }
  });
}

function announce(events: Events, update: InstanceUpdate, at: Date): void {
  const { lifecycle, instance } = update;
  if (isInternal(lifecycle.name)) return;
  const about = { lifecycle: lifecycle.name, key: instance.key };
  for (const decision of update.decisions) {
    const { event, from, to, actor } = decision;
    const { id, version, outcome } = decision.instance;
    const moved = { ...about, id, event, from, to, version, outcome, actor, at };
    events.emit("moved", moved);
    const isFailure = lifecycle.builtIns && to === failed && from !== failed;
    if (isFailure || (event === "fail" && outcome === "failure")) events.emit("failed", moved);
  }
  for (const { id, origin, reason } of update.deadLetters)
    events.emit("deadLettered", { ...about, id, instance: instance.id, state: origin, reason, at });
  for (const { kind, message } of update.alerts)
    events.emit("alert", { ...about, kind, instance: instance.id, message, at });
}

/** Announces instances that were started, once their transaction is committed. */
export function announceStarts(
  { events, signals, db: own }: Kernel,
  db: Executor,
  starts: readonly Pick<PlannedStart, "row" | "decision">[],
  written: ReadonlyMap<string, number>,
): void {
  if (!events.isHeard) return;
  signals.onceCommitted(db === own, () => {
    for (const { row, decision } of starts) {
      const atMs = written.get(row.id);
      if (atMs === undefined || isInternal(row.lifecycle)) continue;
      const { event, to, actor } = decision;
      const { version, outcome } = decision.instance;
      const { id, lifecycle, key } = row;
      events.emit("moved", { lifecycle, id, key, event, from: null, to, version, outcome, actor, at: new Date(atMs) });
    }
  });
}
