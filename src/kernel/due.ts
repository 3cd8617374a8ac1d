import { decideRename } from "../definition/decide.ts";
import { readWaitingCallbacks, type WaitingCallback } from "../store/callbacks.ts";
import type { Executor } from "../store/db.ts";
import { payloadIn } from "../store/payloads.ts";
import { type DueTimer, readDueTimers } from "../store/timers.ts";
import type { Course, Maker } from "./course.ts";
import { asPawlError } from "./errors.ts";
import { failEvent } from "./failed-events.ts";
import { happen } from "./happen.ts";
import { match } from "./match.ts";

const byPawl: Maker = { source: "pawl", requestId: null, lease: null };

/**
 * What is due comes first: before the event at hand is decided, an instance catches up with a new name of its state, with
 * its overdue timers and with the callbacks that came for it, each by its time, so that no outcome depends on when a
 * sweeper ran. One statement for all, and only if the rows say that there is something. An event whose guard or hook throws
 * is retried by its own policy and keeps no other event from the instance.
 */
export async function catchUp(db: Executor, courses: readonly Course[]): Promise<void> {
  for (const course of courses) rename(course);
  const timers = await dueTimers(db, courses.filter(isOverdue));
  const callbacks = await waitingCallbacks(
    db,
    courses.filter(({ row }) => row.inbox > 0),
  );
  for (const course of courses) {
    const { id } = course.row;
    if (!timers.has(id) && !callbacks.has(id)) continue;
    course.attempt(() => {
      if (timers.has(id)) course.settle(course.row.now_ms);
      // What came before it has to happen before it.
      if (timers.has(id) && course.matching === "passing") course.matching = "due";
      inOrder(course, timers.get(id) ?? [], callbacks.get(id) ?? []);
    });
  }
}

/** The same for whoever has nothing else to do than to look at callbacks. */
export async function lookInto(db: Executor, courses: readonly Course[]): Promise<void> {
  for (const course of courses) course.matching = "looking";
  await catchUp(db, courses);
}

function isOverdue({ row }: Course): boolean {
  return row.next_due_ms !== null && row.next_due_ms <= row.now_ms;
}

async function dueTimers(db: Executor, courses: readonly Course[]): Promise<Map<string, DueTimer[]>> {
  const due = courses.map(({ row }) => ({ id: row.id, asOfMs: row.now_ms }));
  return byInstance(due, due.length === 0 ? [] : await readDueTimers(db, due));
}

async function waitingCallbacks(db: Executor, courses: readonly Course[]): Promise<Map<string, WaitingCallback[]>> {
  const ids = courses.map(({ row }) => row.id);
  const wanted = ids.map((id) => ({ id }));
  return byInstance(wanted, ids.length === 0 ? [] : await readWaitingCallbacks(db, ids));
}

function byInstance<One extends { readonly instance_id: string }>(
  wanted: readonly { readonly id: string }[],
  found: readonly One[],
): Map<string, One[]> {
  const lists = new Map<string, One[]>(wanted.map(({ id }) => [id, []]));
  for (const one of found) lists.get(one.instance_id)!.push(one);
  return lists;
}

/** Gives an instance's state the name that it has in this definition. */
export function rename(course: Course): void {
  course.attempt(() => {
    const renamed = decideRename(course.lifecycle, course.instance, course.row.now_ms);
    if (renamed !== undefined) course.add(renamed, byPawl);
  });
}

/** By their time, and at a tie the callback first: what came at the last moment came in time. */
function inOrder(course: Course, timers: readonly DueTimer[], callbacks: readonly WaitingCallback[]): void {
  const { run } = course.instance;
  let arrived = 0;
  for (const timer of timers) {
    const before = callbacks.findIndex((one, index) => index >= arrived && one.received_ms > timer.due_ms);
    const end = before < 0 ? callbacks.length : before;
    match(course, callbacks.slice(arrived, end));
    arrived = end;
    // An earlier one may have ended the visit or the whole run: what belonged to it is void.
    if (course.instance.outcome !== null || course.instance.run !== run) break;
    if (timer.visit === null || timer.visit === course.instance.visit) ring(course, timer);
  }
  match(course, callbacks.slice(arrived));
}

/** Fires a timer. An event that throws is retried later, unless the cause is the database. */
function ring(course: Course, timer: DueTimer): void {
  const thrownBefore = course.failedTimers.get(timer.id);
  if (thrownBefore !== undefined) {
    failEvent(course, timer, thrownBefore);
    return;
  }
  try {
    send(course, timer);
  } catch (thrown) {
    if (timer.kind === "deadline" || asPawlError(thrown).who === "surroundings") throw thrown;
    failEvent(course, timer, thrown);
  }
}

function send(course: Course, timer: DueTimer): void {
  const event = {
    name: timer.event,
    payload: timer.kind !== "send" && timer.event === "fail" ? { reason: timer.kind } : payloadIn(timer),
    actor: timer.actor,
    reason: timer.reason ?? (timer.kind === "send" ? null : timer.kind),
    pastOwnFailEdge: timer.kind === "deadline",
  };
  // A delayed event carries the mark of the call that sent it, which may have lost its reply.
  const maker: Maker = { source: "timer", requestId: timer.kind === "send" ? timer.request_id : null, lease: null };
  const hooked = course.hooked.length;
  const refusal = happen(course, event, maker);
  for (const decision of course.hooked.slice(hooked)) course.timersOfHooks.set(decision, timer.id);
  if (refusal === undefined || timer.kind === "deadline") return;
  course.refuse({ event: timer.event, blockers: refusal.blockers }, timer.request_id);
}
