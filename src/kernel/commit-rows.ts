import type { Decision } from "../definition/move.ts";
import { insertAlerts } from "../store/alerts.ts";
import { insertNotes } from "../store/attempts.ts";
import { insertChecks } from "../store/checks.ts";
import { type Executor, noPart, type Part, part, partsInARow } from "../store/db.ts";
import { decideLetters, insertDeadLetters } from "../store/dead-letters.ts";
import { insertMessages } from "../store/messages.ts";
import { moveInstances } from "../store/move-instances.ts";
import { insertRequests } from "../store/requests.ts";
import { insertInstances, type NewInstance, type Written } from "../store/start-instances.ts";
import { insertEffects } from "../store/tasks.ts";
import { insertTimers } from "../store/timers.ts";
import type { Course } from "./course.ts";
import type { Kernel } from "./kernel.ts";
import { noRows, type Rows } from "./rows.ts";
import { checksTopic, outboxTopic } from "./signals.ts";

/** Writes courses, all of one kind, in one statement; gives back which were written, and when. */
export async function moveCourses(
  kernel: Kernel,
  db: Executor,
  courses: readonly Course[],
): Promise<Map<string, number>> {
  const rows = noRows();
  const moved = courses.map((course) => course.plan(rows));
  const beside = kernel.besides.get(courses[0]!.lifecycle.name);
  const decided = beside === undefined ? [] : courses.map((one) => one.decisions).filter((some) => some.length > 0);
  const rest = beside === undefined || decided.length === 0 ? noPart : beside.moving(decided);
  if (kernel.faults !== undefined) await kernel.faults.at("commit.before");
  const written = await moveInstances(db, moved, rows.earlier, partsInARow([...belongingsOf(rows), rest]));
  if (kernel.faults !== undefined) await kernel.faults.at("commit.after");
  if (written.some((one) => one.granted !== null)) hand(courses, written);
  return noted(kernel, written, rows);
}

/** Writes new instances, those whose key is not taken, in one statement; gives back which those were, and when. */
export async function commitStarts(
  kernel: Kernel,
  db: Executor,
  starts: readonly { readonly row: NewInstance; readonly decision: Decision }[],
  rows: Rows,
): Promise<Map<string, number>> {
  const beside = kernel.besides.get(starts[0]!.row.lifecycle)?.starting(starts.map((one) => one.decision));
  const { first = noPart, gate = noPart, rest = noPart } = beside ?? {};
  if (kernel.faults !== undefined) await kernel.faults.at("start.before");
  const written = await insertInstances(
    db,
    starts.map((one) => one.row),
    { first, gate, rest: partsInARow([...belongingsOf(rows), rest]) },
  );
  if (kernel.faults !== undefined) await kernel.faults.at("start.after");
  return noted(kernel, written, rows);
}

/** Tells courses of the steps that came leased with them. */
function hand(courses: readonly Course[], written: readonly Written[]): void {
  const tokens = new Map(written.map((one) => [one.id, one]));
  for (const course of courses) {
    const one = tokens.get(course.instance.id);
    if (one?.granted != null) course.granted = { token: one.granted, atMs: one.now_ms };
  }
}

/** The rows of other tables in the statement that commits, those that there are: each part looks at `written` and `clock`. */
function belongingsOf(rows: Rows): Part[] {
  const of = <Row>(list: readonly Row[], make: () => Part): Part => (list.length > 0 ? make() : noPart);
  return [
    of(rows.effects, () => part`followed as (${insertEffects(rows.effects)}),`),
    of(rows.timers, () => part`timed as (${insertTimers(rows.timers)}),`),
    of(rows.messages, () => part`posted as (${insertMessages(rows.messages)}),`),
    of(rows.requests, () => part`answered as (${insertRequests(rows.requests)}),`),
    of(rows.notes, () => part`noted as (${insertNotes(rows.notes)}),`),
    of(rows.deadLetters, () => part`buried as (${insertDeadLetters(rows.deadLetters)}),`),
    of(rows.checks, () => part`checked as (${insertChecks(rows.checks)}),`),
    of(rows.letterDecisions, () => part`settled as (${decideLetters(rows.letterDecisions)}),`),
    of(rows.alerts, () => part`alerted as (${insertAlerts(rows.alerts)}),`),
  ];
}

function noted(kernel: Kernel, written: readonly Written[], rows: Rows): Map<string, number> {
  if (written.length > 0) kernel.clock.observe(written[0]!.now_ms);
  if (rows.checks.length > 0) kernel.signals.hint(checksTopic);
  if (rows.messages.length > 0) kernel.signals.hint(outboxTopic);
  return new Map(written.map((one) => [one.id, one.now_ms]));
}
