import { messageOf } from "../base/errors.ts";
import { cleanText } from "../base/json.ts";
import { decide } from "../definition/decide.ts";
import { askedBy, questionOf } from "../definition/question.ts";
import { type QuestionRow, readQuestions } from "../store/children.ts";
import type { Executor } from "../store/db.ts";
import { type InstanceRow, readInstances } from "../store/instances.ts";
import { type Asker, askerOf } from "./asking.ts";
import { startBeside } from "./commit-families.ts";
import type { Course, Maker } from "./course.ts";
import { asPawlError } from "./errors.ts";
import { isNewer, type Kernel, lifecycleOf } from "./kernel.ts";
import { modelOf } from "./rows.ts";
import { sendAll } from "./send.ts";
import { type Planned, planStart } from "./start.ts";

const byPawl: Maker = { source: "pawl", requestId: null, lease: null };

/** A visit asks once: its question is named after it. No child of a step has such a name. */
function nameOfQuestion({ visit }: { readonly visit: number }): string {
  return `?${visit}`;
}

/** Tells those that have asked what was answered, and fails those that cannot say what they ask. */
export async function tellAnswers(kernel: Kernel, db: Executor, courses: readonly Course[]): Promise<void> {
  const asking = courses.filter(
    ({ failure, lifecycle, instance }) => failure === undefined && askedBy(lifecycle, instance),
  );
  if (asking.length === 0) return;
  const runs = asking.map(({ instance }) => ({ id: instance.id, run: instance.run }));
  const questions = await readQuestions(db, runs, questionLifecycles(kernel));
  const own = new Map<Course, QuestionRow>();
  for (const course of asking) {
    const name = nameOfQuestion(course.instance);
    const found = questions.find((one) => one.parent_id === course.instance.id && one.name === name);
    if (found === undefined) course.attempt(() => tryAsking(course));
    else own.set(course, found);
  }
  for (const asker of Object.values(kernel.askers)) {
    const of = [...own].filter(([, question]) => isOf(asker, question));
    if (of.length === 0) continue;
    const answers = await asker.answers(
      db,
      of.map(([, question]) => question.id),
    );
    for (const [course, { id }] of of) {
      const answer = answers.get(id);
      if (answer === undefined) continue;
      course.attempt(() => take(course, answer.event, answer.payload, answer.reason));
    }
  }
}

/** A question that cannot be put is a failure of the instance: nobody would ever answer it. */
function tryAsking(course: Course): void {
  const { lifecycle, instance, row } = course;
  try {
    questionOf(lifecycle, instance, askedBy(lifecycle, instance)!, row.now_ms);
  } catch (thrown) {
    const message = cleanText(messageOf(thrown), 2_000);
    const payload = { reason: "question_failed", error: { name: asPawlError(thrown).code, message }, attempts: 1 };
    take(course, "fail", payload, message);
  }
}

function take(course: Course, name: string, payload: unknown, reason: string | null): void {
  const { lifecycle, instance, row } = course;
  const decided = decide(lifecycle, instance, { name, payload, actor: null, reason }, row.now_ms);
  if (decided.kind === "decided") course.add(decided, byPawl);
  else course.refuse({ event: name, visit: instance.visit, blockers: decided.blockers });
}

/**
 * Puts the questions of these instances where they are missing, and takes back those whose asker has gone on. Gives back
 * the instances that are to be looked at once more. However often it is done, a visit asks once.
 */
export async function tendQuestions(kernel: Kernel, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = (await readInstances(kernel.db, ids)).filter((row) => !isNewer(kernel, row));
  const questions = await readQuestions(
    kernel.db,
    rows.map(({ id, run }) => ({ id, run })),
    questionLifecycles(kernel),
  );
  const again = new Set<string>();
  const missing = rows.filter((row) => row.outcome === null && isMissing(kernel, row, questions));
  if (missing.length > 0) {
    const wanted = missing.map((row) => ({ parent: { id: row.id, run: row.run }, children: plan(kernel, row) }));
    for (const id of await startBeside(kernel, wanted)) again.add(id);
  }
  const stale = questions.filter((one) => one.outcome === null && !isWanted(kernel, rows, one));
  await takeBack(kernel, stale, again);
  return again;
}

function isMissing(kernel: Kernel, row: InstanceRow, questions: readonly QuestionRow[]): boolean {
  if (askedBy(lifecycleOf(kernel, row), row) === undefined) return false;
  const name = nameOfQuestion(row);
  return !questions.some((one) => one.parent_id === row.id && one.name === name);
}

function isWanted(kernel: Kernel, rows: readonly InstanceRow[], question: QuestionRow): boolean {
  const row = rows.find((one) => one.id === question.parent_id)!;
  return (
    row.outcome === null &&
    askedBy(lifecycleOf(kernel, row), row) !== undefined &&
    nameOfQuestion(row) === question.name
  );
}

/** Nothing where it cannot be put: then its instance was failed for it, or has noted that it would not be. */
function plan(kernel: Kernel, row: InstanceRow): Planned[] {
  const lifecycle = lifecycleOf(kernel, row);
  const asked = askedBy(lifecycle, row)!;
  const asker = askerOf(kernel.askers, asked)!;
  const { id, run, key } = row;
  let shown: unknown;
  try {
    shown = questionOf(lifecycle, modelOf(row), asked, row.now_ms);
  } catch {
    return [];
  }
  const start = {
    ...asker.question(asked, shown, { id, key }),
    actor: `${row.lifecycle}:${id}`,
    reason: null,
    requestId: null,
    parent: { lifecycle: row.lifecycle, id, run, name: nameOfQuestion(row) },
  };
  return [planStart(kernel, start)];
}

async function takeBack(kernel: Kernel, stale: readonly QuestionRow[], again: Set<string>): Promise<void> {
  if (stale.length === 0) return;
  const askers = Object.values(kernel.askers);
  const sent = await sendAll(
    kernel,
    stale.map((one) => {
      const asker = askers.find((each) => isOf(each, one))!;
      return {
        lifecycle: kernel.lifecycles.get(one.lifecycle)!,
        ref: { id: one.id },
        event: asker.takeBack,
        payload: undefined,
        actor: null,
        reason: "Who asked has gone on.",
        expectedVersion: undefined,
        idempotency: undefined,
        delay: undefined,
        requestId: kernel.newId(),
        source: "pawl" as const,
      };
    }),
  );
  for (const [index, one] of sent.entries()) {
    if (!one.ok && one.error.who === "surroundings") again.add(stale[index]!.parent_id);
  }
}

function isOf(asker: Asker, question: QuestionRow): boolean {
  return asker.lifecycles.some(({ name }) => name === question.lifecycle);
}

function questionLifecycles(kernel: Kernel): string[] {
  return Object.values(kernel.askers).flatMap((asker: Asker) => asker.lifecycles.map(({ name }) => name));
}
