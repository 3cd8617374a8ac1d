import { isInternal } from "../../definition/internal.ts";
import { failed } from "../../definition/model.ts";
import type { Executor } from "../../store/port/db.ts";
import type { Events } from "../events.ts";
import type { Kernel } from "../kernel.ts";
import type { Planned } from "../types/start.ts";
import type { Course } from "./instance-update.ts";

/** Announces the moves of courses that were written, once their transaction is committed. */
export function announceMoves(
  { events, signals, db: own }: Kernel,
  db: Executor,
  courses: readonly Course[],
  written: ReadonlyMap<string, number>,
): void {
  if (!events.isHeard) return;
  signals.onceCommitted(db === own, () => {
    for (const course of courses) {
      const atMs = written.get(course.row.id);
      if (atMs !== undefined) announce(events, course, new Date(atMs));
    }
  });
}

function announce(events: Events, course: Course, at: Date): void {
  const { lifecycle, instance } = course;
  if (isInternal(lifecycle.name)) return;
  const about = { lifecycle: lifecycle.name, key: instance.key };
  for (const decision of course.decisions) {
    const { event, from, to, actor } = decision;
    const { id, version, outcome } = decision.instance;
    const moved = { ...about, id, event, from, to, version, outcome, actor, at };
    events.emit("moved", moved);
    const isFailure = lifecycle.builtIns && to === failed && from !== failed;
    if (isFailure || (event === "fail" && outcome === "failure")) events.emit("failed", moved);
  }
  for (const { id, origin, reason } of course.letters)
    events.emit("deadLettered", { ...about, id, instance: instance.id, state: origin, reason, at });
  for (const { kind, message } of course.alerts)
    events.emit("alert", { ...about, kind, instance: instance.id, message, at });
}

/** Announces instances that were started, once their transaction is committed. */
export function announceStarts(
  { events, signals, db: own }: Kernel,
  db: Executor,
  starts: readonly Pick<Planned, "row" | "decision">[],
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
