import { PawlError } from "../base/errors.ts";
import { asPawlError } from "../kernel/errors.ts";
import type { Kernel } from "../kernel/kernel.ts";
import { refusedRequeues, unknownLifecycle } from "../kernel/recovery/requeue.ts";
import type { Verbs } from "../kernel/verbs.ts";
import {
  type DecideItems,
  type ItemOutcome,
  knownOutcomes,
  type LeasedOperation,
  mostItems,
  reasonOf,
  refusalOf,
  refusedOutcome,
} from "../operations/run-operations.ts";
import type { StoredBody, StoredDeadMessage } from "../outbox/broker-dead-message.ts";
import { decideDeadMessages } from "../outbox/dead-messages.ts";
import type { DeadLetterView } from "../views/dead-letters.ts";
import { discardLetter, requeueLetter } from "./decide-letter.ts";
import type { LetterFilter } from "./store/dead-letter-filter.ts";
import { readLettersById, readMatchingLetters } from "./views/dead-letters.ts";

export type { LetterFilter };

const pageSize = 500;
const firstId = "00000000-0000-0000-0000-000000000000";

/** The expected outcome of a letter. */
interface ExpectedOutcome {
  readonly letter: DeadLetterView;
  readonly outcome: string;
  readonly note: string | null;
}

/** The expected result of a decision at present. Changes nothing. */
export interface Preview {
  readonly letters: number;
  readonly outcomes: Readonly<Record<string, number>>;
  /** The first few of each outcome. */
  readonly sample: readonly ExpectedOutcome[];
}

const sampleOfEach = 5;

export async function previewDecision(
  kernel: Kernel,
  filter: LetterFilter,
  { decision, restart }: { decision: "requeue" | "discard"; restart: boolean },
): Promise<Preview> {
  const outcomes: Record<string, number> = {};
  const sample: ExpectedOutcome[] = [];
  let letters = 0;
  for (let afterId = firstId; letters < mostItems; ) {
    const page = await readMatchingLetters(kernel.db, filter, { afterId, limit: pageSize });
    if (page.length === 0) break;
    const foreseen =
      decision === "discard"
        ? page.map((letter): ExpectedOutcome => ({ letter, outcome: "discarded", note: null }))
        : await previewRequeues(kernel, page, restart);
    for (const one of foreseen) {
      const before = outcomes[one.outcome] ?? 0;
      outcomes[one.outcome] = before + 1;
      if (before < sampleOfEach) sample.push(one);
    }
    letters += page.length;
    afterId = page.at(-1)!.id;
  }
  return { letters, outcomes, sample };
}

async function previewRequeues(
  kernel: Kernel,
  page: readonly DeadLetterView[],
  restart: boolean,
): Promise<ExpectedOutcome[]> {
  const instances = page.filter((letter) => letter.kind === "instance");
  const refused = await refusedRequeues(kernel, instances, restart);
  return page.map((letter) => {
    const refusal = letter.kind === "instance" ? refused.get(letter.id) : unfit(kernel, letter, restart);
    if (refusal === undefined) return { letter, outcome: "requeued", note: null };
    return { letter, ...refusalOf(refusal) };
  });
}

/** Why a letter that is not about an instance cannot be requeued. */
function unfit(kernel: Kernel, letter: DeadLetterView, restart: boolean): PawlError | undefined {
  if (letter.kind === "effect" && !kernel.lifecycles.has(letter.lifecycle)) return unknownLifecycle(letter);
  if (restart) return new PawlError("option_invalid", "Only instances can be restarted.");
  const isLost =
    letter.kind === "broker" &&
    ((letter.details as StoredDeadMessage).queue === null || (letter.payload as StoredBody).truncated);
  return isLost ? new PawlError("option_invalid", "It cannot be sent back to its queue.") : undefined;
}

/** Decides the dead letters of a bulk operation. */
export function decideLetters(kernel: Kernel, verbs: Verbs): DecideItems {
  return (operation, items) =>
    decideAll(
      kernel,
      verbs,
      operation,
      items.map((item) => item.id),
    );
}

/** Decides each letter on its own: a refused one does not block others. */
async function decideAll(
  kernel: Kernel,
  verbs: Verbs,
  operation: LeasedOperation,
  ids: readonly string[],
): Promise<ItemOutcome[]> {
  const letters = new Map((await readLettersById(kernel.db, ids)).map((letter) => [letter.id, letter]));
  const open = [...letters.values()].filter((letter) => letter.status === "open");
  const refusals = new Map<string, PawlError>();
  const isSent = (letter: DeadLetterView) => letter.kind === "message" && !operation.restart;
  const messages = open.filter(isSent);
  const { actor } = operation;
  const by = { actor, reason: reasonOf(operation) };
  // Their shards are leased together.
  const decidingMessages =
    messages.length === 0
      ? undefined
      : decideDeadMessages(kernel, { ids: messages.map((one) => one.task_id!), type: null }, decisionOf(operation), by);
  const deciding = open.map(async (letter) => {
    if (isSent(letter)) return;
    try {
      if (operation.decision === "discard") await discardLetter(kernel, verbs, letter, by, undefined);
      else
        await requeueLetter(kernel, verbs, { letter, data: undefined, restart: operation.restart, ...by }, undefined);
    } catch (error) {
      refusals.set(letter.id, asPawlError(error));
    }
  });
  await Promise.all([...deciding, decidingMessages]);
  const after = new Map((await readLettersById(kernel.db, ids)).map((letter) => [letter.id, letter]));
  const outcomes = ids.map((id) => outcomeOf(operation, id, after.get(id), refusals.get(id)));
  return knownOutcomes(outcomes, refusals.values());
}

/**
 * The stored decision of a letter gives its outcome, even if a process that has died since made it for this operation:
 * the decision names the operation.
 */
function outcomeOf(
  operation: LeasedOperation,
  itemId: string,
  letter: DeadLetterView | undefined,
  refusal: PawlError | undefined,
): ItemOutcome | undefined {
  if (letter === undefined) return { itemId, outcome: "gone", note: "It was archived, or deleted with its instance." };
  if (letter.status !== "open") {
    const isOurs =
      letter.status === (operation.decision === "discard" ? "discarded" : "requeued") &&
      letter.decided_by === operation.actor &&
      letter.decision === reasonOf(operation) &&
      letter.decided_ms! >= operation.created_ms;
    if (isOurs) return { itemId, outcome: letter.status, note: null };
    return { itemId, outcome: "already_decided", note: `It was already ${letter.status} by another call.` };
  }
  return refusal === undefined ? undefined : refusedOutcome(itemId, refusal);
}

function decisionOf({ decision }: LeasedOperation): "requeue" | "discard" {
  return decision === "discard" ? "discard" : "requeue";
}
