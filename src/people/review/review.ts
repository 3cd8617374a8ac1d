import { isPawlError, PawlError } from "../../base/errors.ts";
import type { Json } from "../../base/json.ts";
import { inTransaction, type Kernel } from "../../kernel/kernel.ts";
import { sendAllIn } from "../../kernel/move/send.ts";
import { planStart, startAll } from "../../kernel/move/start.ts";
import type { Sent } from "../../kernel/types/send.ts";
import type { Verbs } from "../../kernel/verbs.ts";
import type { Executor, Tx } from "../../store/port/db.ts";
import { assignment } from "../lifecycle/assignment.ts";
import { assignmentOfInstance, revisionOf } from "../lifecycle/new-assignment.ts";
import { sample } from "../lifecycle/sample.ts";
import { eventFor } from "../lifecycle/sends.ts";
import type { Queues } from "../queues.ts";
import { labelUnknown, sampleRefuses, sampleUnknown } from "../refusals.ts";
import { type Assignment, assignmentOf, type Label, labelOf } from "../results.ts";
import { readAssignments, readRevisions } from "../store/assignments.ts";
import { type LabelRow, readLabels } from "../store/labels.ts";
import { type LeadsSample, readSampleForLead } from "../store/samples.ts";
import { isRight } from "./conclude.ts";
import { settle } from "./settle.ts";

/** A lead and the review. */
export interface LeadReview {
  readonly actor: string;
  readonly comment: string | null;
  /** Refuse a label that has this review already, instead of returning it. @default false */
  readonly isFirst?: boolean;
}

/** A rejected label, and the assignment in which its labeler corrects it. */
export interface Rejected {
  readonly label: Label;
  /** Null for a late label, which has nothing to correct. */
  readonly revision: Assignment | null;
}

/** Reviews of labels by leads. Each review is a move of the sample, so it is part of its history. */
export class Reviews {
  readonly #kernel: Kernel;
  readonly #verbs: Verbs;
  readonly #queues: Queues;

  constructor(kernel: Kernel, verbs: Verbs, queues: Queues) {
    this.#kernel = kernel;
    this.#verbs = verbs;
    this.#queues = queues;
  }

  /** Accepts a label. A late label takes the first open slot. */
  async accept(labelId: string, saying: LeadReview): Promise<Label> {
    const { db } = this.#kernel;
    const label = await this.#reviewable(db, labelId, saying, "accepted");
    if (saying.isFirst === true) refuseReviewed(label);
    if (label.review === "accepted") return labelOf(label);
    if (label.late) await this.#acceptLate(label, saying);
    else {
      const payload = { labelId, comment: saying.comment };
      const event = { lifecycle: sample, id: label.sample_id, event: "accept_label", payload, actor: saying.actor };
      ended(label.sample_id, await this.#verbs.send(eventFor(this.#kernel, event), undefined));
      await this.#reviewable(db, labelId, saying, "accepted"); // Another lead may have rejected it in the meantime.
    }
    await settle(this.#kernel, [label.assignment_id]);
    return this.#shown(labelId);
  }

  /** Rejects a label; its labeler gets the sample back to correct it. */
  async reject(labelId: string, saying: LeadReview): Promise<Rejected> {
    const label = await this.#reviewable(this.#kernel.db, labelId, saying, "rejected");
    if (saying.isFirst === true) refuseReviewed(label);
    if (label.review === "rejected") return { label: labelOf(label), revision: await this.#revisionOf(label) };
    const revision = await inTransaction(this.#kernel, async (tx) => {
      const payload = { labelId, comment: saying.comment };
      const event = { lifecycle: sample, id: label.sample_id, event: "reject_label", payload, actor: saying.actor };
      const [sent] = await sendAllIn(this.#kernel, tx, [eventFor(this.#kernel, event)]);
      ended(label.sample_id, sent!);
      await this.#reviewable(tx, labelId, saying, "rejected"); // Another lead may have accepted it in the meantime.
      return label.late ? null : this.#openRevision(tx, label, saying);
    });
    return { label: await this.#shown(labelId), revision };
  }

  async #openRevision(tx: Tx, label: LabelRow, { actor }: LeadReview): Promise<Assignment> {
    const [earlier] = await readAssignments(tx, [label.assignment_id]);
    const settings = await this.#queues.settings(tx, label.queue);
    const { id, slot, attempts } = earlier!;
    const start = revisionOf(this.#kernel, earlier!, settings, { slot, takesOver: id, attempts, actor });
    const [started] = await startAll(this.#kernel, tx, [planStart(this.#kernel, start)]);
    if (!started!.ok) throw started!.error;
    return assignmentOfInstance(started!.instance);
  }

  /**
   * A new assignment represents the expired one: created, started and completed in one transaction, so that the label
   * gets a slot by the usual rules.
   */
  #acceptLate(label: LabelRow, saying: LeadReview): Promise<void> {
    return inTransaction(this.#kernel, async (tx) => {
      const [late] = await readAssignments(tx, [label.assignment_id]);
      const open = await this.#openSlot(tx, label, saying);
      const queue = await this.#queues.known(label.queue, tx);
      const settings = await this.#queues.settings(tx, label.queue);
      const attempts = Math.max(late!.attempts - 1, 0);
      const given = { slot: open, takesOver: null, attempts, actor: label.labeler };
      const [started] = await startAll(this.#kernel, tx, [
        planStart(this.#kernel, revisionOf(this.#kernel, late!, settings, given)),
      ]);
      if (!started!.ok) throw started!.error;
      const gold = late!.gold as Json | null;
      const value = label.value as Json;
      const right = gold === null ? null : isRight(value, gold, queue.form);
      // A label can arrive for an assignment that was never started; then its duration is unknown.
      const workedMs = Math.max(label.at_ms - (late!.started_ms ?? label.at_ms), 0);
      const moves = [
        { event: "start", payload: undefined },
        { event: "submit", payload: { labelId: this.#kernel.newId(), label: value, isRight: right, workedMs } },
      ];
      const { id } = started!.instance.model;
      const reason = `The late label was accepted by ${saying.actor}.`;
      const sends = moves.map((move) =>
        eventFor(this.#kernel, { lifecycle: assignment, id, actor: label.labeler, reason, ...move }),
      );
      const payload = { labelId: label.id, comment: saying.comment };
      const said = { lifecycle: sample, id: label.sample_id, event: "accept_late", payload, actor: saying.actor };
      for (const sent of await sendAllIn(this.#kernel, tx, [...sends, eventFor(this.#kernel, said)])) {
        ended(label.sample_id, sent);
      }
      await this.#reviewable(tx, label.id, saying, "accepted"); // Another lead may have rejected it in the meantime.
    });
  }

  /** Returns a slot for a late label; a sample that ended without a result is reopened for it. */
  async #openSlot(tx: Tx, label: LabelRow, { actor }: LeadReview): Promise<number> {
    let found = await this.#sample(tx, label.sample_id);
    const mine = found.held?.find((one) => one.labeler === label.labeler);
    if (mine !== undefined) {
      throw refused(label, `\`${label.labeler}\` has the sample again, in assignment ${mine.id}`);
    }
    const done = found.done?.find((one) => one.labeler === label.labeler);
    if (done !== undefined) {
      throw refused(label, `\`${label.labeler}\` has labeled the sample in the meantime, in assignment ${done.id}`);
    }
    if (found.state !== "open" && found.spent > 0) {
      const payload = { attempts: Math.max(found.spent - found.spare, 0), slots: 0 };
      const reason = "A late label was accepted.";
      const event = { lifecycle: sample, id: found.id, event: "reopen", payload, actor, reason };
      const [sent] = await sendAllIn(this.#kernel, tx, [eventFor(this.#kernel, event)]);
      ended(found.id, sent!);
      found = await this.#sample(tx, label.sample_id);
    }
    if (found.open_slot !== null) return found.open_slot;
    const holders = (found.held ?? []).map((one) => `\`${one.labeler}\` (assignment ${one.id})`).join(", ");
    if (holders === "") throw refused(label, "the sample has all its labels");
    throw refused(label, `no slot is free: it is assigned to ${holders}; a lead can release it`);
  }

  async #sample(tx: Tx, id: string): Promise<LeadsSample> {
    const found = await readSampleForLead(tx, id);
    if (found === undefined) throw sampleUnknown(id);
    return found;
  }

  async #reviewable(
    db: Executor,
    labelId: string,
    { actor }: LeadReview,
    review: "accepted" | "rejected",
  ): Promise<LabelRow> {
    const [label] = await readLabels(db, [labelId]);
    if (label === undefined) throw labelUnknown(labelId);
    if (label.labeler === actor) throw refused(label, "reviewers cannot review their own labels");
    if (label.review !== review) refuseReviewed(label);
    return label;
  }

  async #revisionOf(label: LabelRow): Promise<Assignment | null> {
    const [revision] = await readRevisions(this.#kernel.db, label);
    return revision === undefined ? null : assignmentOf(revision);
  }

  async #shown(labelId: string): Promise<Label> {
    const [label] = await readLabels(this.#kernel.db, [labelId]);
    return labelOf(label!);
  }
}

/** Labels of an ended sample cannot be reviewed any more. */
function ended(id: string, sent: Sent): void {
  if (sent.ok) return;
  if (!isPawlError(sent.error, "transition_refused")) throw sent.error;
  throw sampleRefuses(id, String(sent.error.details.state), "its labels can no longer be reviewed");
}

function refuseReviewed(label: LabelRow): void {
  if (label.review !== null) throw refused(label, `\`${label.reviewed_by}\` already ${label.review} it`);
}

function refused(label: LabelRow, why: string): PawlError {
  return new PawlError("not_allowed", `Label ${label.id} cannot be reviewed: ${why}.`, { label: label.id });
}
