import { messageOf } from "../../base/errors.ts";
import { cleanText } from "../../base/json.ts";
import { questionAskedBy, questionOf } from "../../definition/decide/question.ts";
import { type QuestionRow, readQuestions } from "../../store/family/children.ts";
import { type InstanceRow, readInstances } from "../../store/move/instances.ts";
import type { Executor } from "../../store/port/db.ts";
import { startChildrenWithoutMove } from "../commit/commit-families.ts";
import type { InstanceUpdate } from "../commit/instance-update.ts";
import { asPawlError } from "../errors.ts";
import { isForeign, type Kernel, lifecycleOf } from "../kernel.ts";
import { applyDueFirst, deliverOwnEvent } from "../move/apply-due.ts";
import { sendAll } from "../move/send.ts";
import { planStart } from "../move/start.ts";
import { type Decide, writeAlone } from "../move/sweep.ts";
import type { PlannedStart } from "../types/start.ts";
import { providerOf, type QuestionProvider } from "./question-provider.ts";

/** A visit asks once: its question is named after it. No child of a step has such a name. */
function nameOfQuestion({ visit }: { readonly visit: number }): string {
  return `?${visit}`;
}

/** A planned question, and the version of the instance that asks it. */
interface PlannedQuestion {
  readonly version: number;
  readonly child: PlannedStart;
}

/** Questions by the instance that asks. */
export type PlannedQuestions = Map<string, PlannedQuestion>;

/**
 * Sends answers to the instances that asked for them. Missing questions are planned into `planned`; an instance whose
 * question cannot be planned is failed, since it would never get an answer.
 */
export async function deliverAnswers(
  kernel: Kernel,
  db: Executor,
  updates: readonly InstanceUpdate[],
  planned: PlannedQuestions,
): Promise<void> {
  const asking = updates.filter(
    ({ error, lifecycle, instance }) => error === undefined && questionAskedBy(lifecycle, instance),
  );
  if (asking.length === 0) return;
  const runs = asking.map(({ instance }) => ({ id: instance.id, run: instance.run }));
  const questions = await readQuestions(db, runs, questionLifecycles(kernel));
  const own = new Map<InstanceUpdate, QuestionRow>();
  for (const update of asking) {
    const name = nameOfQuestion(update.instance);
    const found = questions.find((one) => one.parent_id === update.instance.id && one.name === name);
    if (found === undefined) update.decide(() => planOrFail(kernel, update, planned));
    else own.set(update, found);
  }
  for (const provider of Object.values(kernel.questionProviders)) {
    const of = [...own].filter(([, question]) => isOf(provider, question));
    if (of.length === 0) continue;
    const answers = await provider.answers(
      db,
      of.map(([, question]) => question.id),
    );
    for (const [update, { id }] of of) {
      const answer = answers.get(id);
      if (answer === undefined) continue;
      const { event: name, payload, reason } = answer;
      update.decide(() => deliverOwnEvent(update, { name, payload, reason }));
    }
  }
}

function planOrFail(kernel: Kernel, update: InstanceUpdate, planned: PlannedQuestions): void {
  const { instance } = update;
  planned.delete(instance.id);
  try {
    planned.set(instance.id, { version: instance.version, child: plan(kernel, update) });
  } catch (thrown) {
    failWith(update, thrown);
  }
}

/** The instance fails with what its question failed of. */
function failWith(update: InstanceUpdate, thrown: unknown): void {
  const message = cleanText(messageOf(thrown), 2_000);
  const payload = { reason: "question_failed", error: { name: asPawlError(thrown).code, message }, attempts: 1 };
  deliverOwnEvent(update, { name: "fail", payload, reason: message });
}

/**
 * Starts the planned questions of these instances where they are missing, and closes those whose instance has moved on.
 * Returns the instances that must be checked again. A visit asks once, however often this is repeated.
 */
export async function syncQuestions(
  kernel: Kernel,
  ids: readonly string[],
  planned: PlannedQuestions,
): Promise<SyncedQuestions> {
  if (ids.length === 0) return { again: new Set(), failures: [] };
  const rows = (await readInstances(kernel.db, ids)).filter((row) => !isForeign(kernel, row));
  const questions = await readQuestions(
    kernel.db,
    rows.map(({ id, run }) => ({ id, run })),
    questionLifecycles(kernel),
  );
  const again = new Set<string>();
  const failures: { id: string; error: unknown }[] = [];
  const wanted: MissingQuestion[] = [];
  for (const row of rows) {
    if (row.outcome !== null || !isMissing(kernel, row, questions)) continue;
    const question = planned.get(row.id);
    // Without a plan it was failed, or refused to be, and that is in its history.
    if (question?.version === row.version) wanted.push({ parent: row, children: [question.child] });
    else if (question !== undefined) again.add(row.id);
  }
  await startQuestions(kernel, wanted, again, failures);
  const stale = questions.filter((one) => one.outcome === null && !isWanted(kernel, rows, one));
  await cancelQuestions(kernel, stale, again);
  return { again, failures };
}

/** What `syncQuestions` left undone. */
interface SyncedQuestions {
  /** Instances that must be checked again. */
  readonly again: ReadonlySet<string>;
  readonly failures: readonly { readonly id: string; readonly error: unknown }[];
}

interface MissingQuestion {
  readonly parent: InstanceRow;
  readonly children: readonly PlannedStart[];
}

/** Starts questions together; if the database refuses them, each alone, and an instance whose question it refuses fails. */
async function startQuestions(
  kernel: Kernel,
  wanted: readonly MissingQuestion[],
  again: Set<string>,
  failures: { id: string; error: unknown }[],
): Promise<void> {
  if (wanted.length === 0) return;
  try {
    for (const id of await startChildrenWithoutMove(kernel, wanted)) again.add(id);
  } catch (thrown) {
    if (asPawlError(thrown).fault === "environment") throw thrown;
    if (wanted.length > 1) for (const one of wanted) await startQuestions(kernel, [one], again, failures);
    else await failInstance(kernel, wanted[0]!.parent, thrown, again, failures);
  }
}

async function failInstance(
  kernel: Kernel,
  { id, visit }: InstanceRow,
  thrown: unknown,
  again: Set<string>,
  failures: { id: string; error: unknown }[],
): Promise<void> {
  const decide: Decide = async (db, updates) => {
    await applyDueFirst(db, updates);
    for (const update of updates)
      if (update.instance.visit === visit && update.instance.outcome === null)
        update.decide(() => failWith(update, thrown));
  };
  try {
    await writeAlone(kernel, id, decide);
  } catch (error) {
    again.add(id);
    failures.push({ id, error: asPawlError(error) });
  }
}

function isMissing(kernel: Kernel, row: InstanceRow, questions: readonly QuestionRow[]): boolean {
  if (questionAskedBy(lifecycleOf(kernel, row), row) === undefined) return false;
  const name = nameOfQuestion(row);
  return !questions.some((one) => one.parent_id === row.id && one.name === name);
}

function isWanted(kernel: Kernel, rows: readonly InstanceRow[], question: QuestionRow): boolean {
  const row = rows.find((one) => one.id === question.parent_id)!;
  return (
    row.outcome === null &&
    questionAskedBy(lifecycleOf(kernel, row), row) !== undefined &&
    nameOfQuestion(row) === question.name
  );
}

/**
 * The question of an instance, as the child that is started for it. Throws the errors of the queue's `sample` and
 * `order`.
 */
function plan(kernel: Kernel, { lifecycle, instance, row }: InstanceUpdate): PlannedStart {
  const asked = questionAskedBy(lifecycle, instance)!;
  const provider = providerOf(kernel.questionProviders, asked)!;
  const { id, run, key } = instance;
  const shown = questionOf(lifecycle, instance, asked, row.now_ms);
  return planStart(kernel, {
    ...provider.question(asked, shown, { id, key }),
    actor: `${row.lifecycle}:${id}`,
    reason: null,
    requestId: null,
    parent: { lifecycle: row.lifecycle, id, run, name: nameOfQuestion(instance) },
  });
}

async function cancelQuestions(kernel: Kernel, stale: readonly QuestionRow[], again: Set<string>): Promise<void> {
  if (stale.length === 0) return;
  const questionProviders = Object.values(kernel.questionProviders);
  const sent = await sendAll(
    kernel,
    stale.map((one) => {
      const provider = questionProviders.find((each) => isOf(each, one))!;
      return {
        lifecycle: kernel.lifecycles.get(one.lifecycle)!,
        ref: { id: one.id },
        event: provider.cancelEvent,
        payload: undefined,
        actor: null,
        reason: "The instance that asked has left its state.",
        expectedVersion: undefined,
        idempotency: undefined,
        delay: undefined,
        requestId: kernel.newId(),
        source: "pawl" as const,
      };
    }),
  );
  for (const [index, one] of sent.entries()) {
    if (!one.ok && one.error.fault === "environment") again.add(stale[index]!.parent_id);
  }
}

function isOf(provider: QuestionProvider, question: QuestionRow): boolean {
  return provider.lifecycles.some(({ name }) => name === question.lifecycle);
}

function questionLifecycles(kernel: Kernel): string[] {
  return Object.values(kernel.questionProviders).flatMap((provider: QuestionProvider) =>
    provider.lifecycles.map(({ name }) => name),
  );
}
