import { PawlError } from "../base/errors.ts";
import { storableText } from "../base/json.ts";
import type { QueueSettings } from "../definition/queue-settings.ts";
import type { JsonSchema } from "../definition/schema/json-schema.ts";
import type { Kernel } from "../kernel/kernel.ts";
import { readNow } from "../views/now.ts";
import { whyNotEligible } from "./handing-out/explain.ts";
import type { QueueInfo, Queues } from "./queues.ts";
import { notTheAssignee } from "./refusals.ts";
import { type Assignment, assignmentOf, type Label, labelOf, type SampleInfo, sampleOf } from "./shown.ts";
import { readVisits } from "./store/assignments.ts";
import { type DraftRow, putDraft, readDraft } from "./store/drafts.ts";
import { readContents } from "./store/samples.ts";
import { mostSlotsSeen, readDeskSums } from "./views/desk.ts";
import { findLabelsFor } from "./views/labels.ts";
import type { Work } from "./work.ts";

/** A queue as a labeler meets it at his desk. */
export interface DeskQueue
  extends Pick<
    QueueSettings,
    "instructions" | "finishWithinMs" | "graceMs" | "skipRequiresReason" | "skipUnstarted" | "concurrency"
  > {
  readonly name: string;
  /** An inactive queue is on the desk only as long as something of it is in hand. */
  readonly active: boolean;
  /** What he fills in, as JSON Schema. */
  readonly labelSchema: JsonSchema;
  /** Samples that he can be given. With `waitsMore` there are more than were counted. */
  readonly waiting: number;
  readonly waitsMore: boolean;
  /** What lies on his desk, oldest first. */
  readonly inHand: readonly Assignment[];
  /** What he labeled and skipped since, by whole hours. */
  readonly done: number;
  readonly skipped: number;
  /** How long a label took him, in seconds; null where he gave none since. */
  readonly medianSeconds: number | null;
}

/** What a labeler finds at his desk. */
export interface LabelersDesk {
  readonly labeler: string;
  /** By the clock that counts, which need not be that of his own machine. */
  readonly now: Date;
  readonly queues: readonly DeskQueue[];
}

/** What somebody has entered and not handed in. */
export interface Draft {
  readonly value: unknown;
  readonly at: Date;
}

/** An assignment with all that its labeler needs for it. */
export interface DeskWork {
  readonly assignment: Assignment;
  readonly sample: SampleInfo;
  readonly draft: Draft | null;
  /** Where it corrects an earlier label: what that said, and what a lead said of it. */
  readonly revises: Pick<Label, "value" | "comment" | "reviewedBy"> | null;
  readonly now: Date;
}

const longestDraft = 256 * 1024;
const dayMs = 86_400_000;

/** The desk of one labeler: where he may work, what he has in hand, and what he has entered so far. */
export class Desk {
  readonly #kernel: Kernel;
  readonly #queues: Queues;
  readonly #work: Work;

  constructor(kernel: Kernel, queues: Queues, work: Work) {
    this.#kernel = kernel;
    this.#queues = queues;
    this.#work = work;
  }

  async look(labeler: string, sinceMs: number | null): Promise<LabelersDesk> {
    const { db } = this.#kernel;
    const now = await this.#now();
    const all = await this.#queues.list(db);
    const visits = await readVisits(
      db,
      all.map(({ name }) => ({ queue: name, labeler })),
    );
    const his = all.flatMap((queue, index) => {
      const { desk, labeler: known } = visits[index]!;
      const mayWork = queue.active && whyNotEligible(queue.name, queue, labeler, known) === undefined;
      return mayWork || desk !== null ? [{ queue, inHand: (desk ?? []).map(assignmentOf) }] : [];
    });
    const sums = await readDeskSums(db, {
      queues: his.map(({ queue }) => queue.name),
      labeler,
      sinceMs: sinceMs ?? Math.floor(now.getTime() / dayMs) * dayMs,
    });
    const queues = his.map(({ queue, inHand }, index): DeskQueue => {
      const { waiting, slots_seen, done, skipped, median_ms } = sums[index]!;
      return {
        ...settingsOf(queue),
        waiting,
        waitsMore: slots_seen >= mostSlotsSeen,
        inHand,
        done,
        skipped,
        medianSeconds: median_ms === null ? null : median_ms / 1_000,
      };
    });
    return { labeler, now, queues };
  }

  /** What was given to him, in hand or not any more. Of what others do he sees nothing. */
  async work(id: string, labeler: string): Promise<DeskWork> {
    const { db } = this.#kernel;
    const assignment = await this.#own(id, labeler);
    const [content] = await readContents(db, [assignment.sampleId]);
    const { revisionOf } = assignment;
    const earlier = revisionOf === null ? [] : await findLabelsFor(db, assignment.sampleId);
    const revised = earlier.find((label) => label.assignment_id === revisionOf);
    return {
      assignment,
      sample: sampleOf(content!),
      draft: draftOf(await readDraft(db, id)),
      revises: revised === undefined ? null : revisedOf(labelOf(revised)),
      now: await this.#now(),
    };
  }

  async draft(id: string, labeler: string): Promise<Draft | null> {
    await this.#own(id, labeler);
    return draftOf(await readDraft(this.#kernel.db, id));
  }

  async keepDraft(id: string, labeler: string, value: unknown): Promise<Draft> {
    const valueText = storableText(value, "The draft");
    if (valueText.length > longestDraft) {
      const message = `The draft has ${valueText.length} characters; ${longestDraft} is the most.`;
      throw new PawlError("value_not_serializable", message, { assignment: id });
    }
    const kept = await putDraft(this.#kernel.db, { assignmentId: id, labeler, valueText });
    if (kept !== undefined) return draftOf(kept)!;
    const { status } = await this.#own(id, labeler);
    const message = `Assignment ${id} is ${status}: a draft is kept only for what is in hand.`;
    throw new PawlError("invalid_transition", message, { assignment: id, from: status });
  }

  async #own(id: string, labeler: string): Promise<Assignment> {
    const assignment = await this.#work.read(id);
    if (assignment.labelerId !== labeler) throw notTheAssignee(id, labeler);
    return assignment;
  }

  async #now(): Promise<Date> {
    return new Date(await readNow(this.#kernel.db));
  }
}

function settingsOf(queue: QueueInfo) {
  const { name, active, labelSchema, instructions, finishWithinMs, graceMs } = queue;
  const { skipRequiresReason, skipUnstarted, concurrency } = queue;
  return {
    name,
    active,
    labelSchema,
    instructions,
    finishWithinMs,
    graceMs,
    skipRequiresReason,
    skipUnstarted,
    concurrency,
  };
}

function draftOf(row: DraftRow | undefined): Draft | null {
  return row === undefined ? null : { value: row.value, at: new Date(row.at_ms) };
}

function revisedOf({ value, comment, reviewedBy }: Label): DeskWork["revises"] {
  return { value, comment, reviewedBy };
}
