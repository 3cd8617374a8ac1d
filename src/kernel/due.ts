import { decideRename } from "../definition/decide.ts";
import type { Executor } from "../store/db.ts";
import { type DueTimer, readDueTimers } from "../store/timers.ts";
import type { Course, Maker } from "./course.ts";
import { happen } from "./happen.ts";

const byPawl: Maker = { source: "pawl", requestId: null, lease: null };

/**
 * What is due comes first: before the event at hand is decided, an instance catches up with a new name of its state and
 * with its overdue timers, so that no outcome depends on when a sweeper ran. One statement for all, and only if the
 * rows say that there is something. A definition that throws here stops its own instance, and nothing is dropped.
 */
export async function catchUp(db: Executor, courses: readonly Course[]): Promise<void> {
  for (const course of courses) rename(course);
  const overdue = courses.filter(({ row }) => row.next_due_ms !== null && row.next_due_ms <= row.now_ms);
  if (overdue.length === 0) return;
  const timers = await readDueTimers(
    db,
    overdue.map(({ row }) => ({ id: row.id, asOfMs: row.now_ms })),
  );
  const byInstance = new Map<string, DueTimer[]>();
  for (const timer of timers) {
    const list = byInstance.get(timer.instance_id) ?? [];
    list.push(timer);
    byInstance.set(timer.instance_id, list);
  }
  for (const course of overdue) {
    course.attempt(() => {
      course.settle(course.row.now_ms);
      ring(course, byInstance.get(course.row.id) ?? []);
    });
  }
}

/** Gives an instance's state the name that it has in this definition. */
export function rename(course: Course): void {
  course.attempt(() => {
    const renamed = decideRename(course.lifecycle, course.instance, course.row.now_ms);
    if (renamed !== undefined) course.add(renamed, byPawl);
  });
}

function ring(course: Course, timers: readonly DueTimer[]): void {
  const { run } = course.instance;
  for (const timer of timers) {
    // An earlier one may have ended the visit or the whole run: what belonged to it is void.
    if (course.instance.outcome !== null || course.instance.run !== run) return;
    if (timer.visit !== null && timer.visit !== course.instance.visit) continue;
    const event = {
      name: timer.event,
      payload:
        timer.kind === "timeout" && timer.event === "fail" ? { reason: "timeout" } : (timer.payload ?? undefined),
      actor: timer.actor,
      reason: timer.reason ?? (timer.kind === "send" ? null : timer.kind),
      pastOwnFailEdge: timer.kind === "deadline",
    };
    // A delayed event carries the mark of the call that sent it, which may have lost its reply.
    const maker: Maker = { source: "timer", requestId: timer.kind === "send" ? timer.id : null, lease: null };
    const refusal = happen(course, event, maker);
    if (refusal === undefined || timer.kind === "deadline") continue;
    course.refuse({ event: timer.event, blockers: refusal.blockers }, timer.id);
  }
}
