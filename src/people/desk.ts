import { PawlError } from "../base/errors.ts";
import { storableText } from "../base/json.ts";
import type { QueueSettings } from "../definition/queue-settings.ts";
import type { JsonSchema } from "../definition/schema/json-schema.ts";
import type { Kernel } from "../kernel/kernel.ts";
import { readNow } from "../views/now.ts";
import { whyNotEligible } from "./assigning/no-work-reason.ts";
import type { Assignments } from "./assignments.ts";
import type { QueueInfo, Queues } from "./queues.ts";
import { notTheAssignee } from "./refusals.ts";
import { type Assignment, assignmentOf, type Label, labelOf, type SampleInfo, sampleOf } from "./results.ts";
import { readVisits } from "./store/assignments.ts";
import { type DraftRow, putDraft, readDraft } from "./store/drafts.ts";
import { readContents } from "./store/samples.ts";
import { maxSlotsSeen, readDeskSums } from "./views/desk.ts";
import { findLabelsFor } from "./views/labels.ts";

/** A queue on a labeler's desk. */
export interface DeskQueue
  extends Pick<
    QueueSettings,
    "instructions" | "finishWithinMs" | "graceMs" | "skipRequiresReason" | "skipUnstarted" | "concurrency"
  > {
  readonly name: string;
  /** An inactive queue is listed only while the labeler has open assignments in it. */
  readonly active: boolean;
  /** The JSON Schema of a label. */
  readonly labelSchema: JsonSchema;
  /** Samples that can be assigned to the labeler. With `waitsMore` there are more than were counted. */
  readonly waiting: number;
  readonly waitsMore: boolean;
  /** Open assignments, oldest first. */
  readonly assignments: readonly Assignment[];
  /** Labels and skips since `since`, in whole hours. */
  readonly done: number;
  readonly skipped: number;
  /** The median time per label, in seconds; null without labels. */
  readonly medianSeconds: number | null;
}

/** A labeler's desk. */
export interface LabelersDesk {
  readonly labeler: string;
  /** The database's time, which may differ from that of the labeler's machine. */
  readonly now: Date;
  readonly queues: readonly DeskQueue[];
}

/** An unsubmitted draft. */
export interface Draft {
  readonly value: unknown;
  readonly at: Date;
}

/** An assignment with everything that its labeler needs. */
export interface DeskWork {
  readonly assignment: Assignment;
  readonly sample: SampleInfo;
  readonly draft: Draft | null;
  /** For a correction: the earlier label, and the lead's review of it. */
  readonly revises: Pick<Label, "value" | "comment" | "reviewedBy"> | null;
  readonly now: Date;
}

const longestDraft = 256 * 1024;
const dayMs = 86_400_000;

/** The desk of one labeler: queues, open assignments, and drafts. */
export class Desk {
  readonly #kernel: Kernel;
  readonly #queues: Queues;
  readonly #work: Assignments;

  constructor(kernel: Kernel, queues: Queues, work: Assignments) {
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
    const eligible = all.flatMap((queue, index) => {
      const { desk, labeler: known } = visits[index]!;
      const mayWork = queue.active && whyNotEligible(queue.name, queue, labeler, known) === undefined;
      return mayWork || desk !== null ? [{ queue, assignments: (desk ?? []).map(assignmentOf) }] : [];
    });
    const sums = await readDeskSums(db, {
      queues: eligible.map(({ queue }) => queue.name),
      labeler,
      sinceMs: sinceMs ?? Math.floor(now.getTime() / dayMs) * dayMs,
    });
    const queues = eligible.map(({ queue, assignments }, index): DeskQueue => {
      const { waiting, slots_seen, done, skipped, median_ms } = sums[index]!;
      return {
        ...settingsOf(queue),
        waiting,
        waitsMore: slots_seen >= maxSlotsSeen,
        assignments,
        done,
        skipped,
        medianSeconds: median_ms === null ? null : median_ms / 1_000,
      };
    });
    return { labeler, now, queues };
  }

  /** Returns an assignment of the labeler, open or ended; assignments of others are unknown. */
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

  async saveDraft(id: string, labeler: string, value: unknown): Promise<Draft> {
    const valueText = storableText(value, "The draft");
    if (valueText.length > longestDraft) {
      const message = `The draft has ${valueText.length} characters; the maximum is ${longestDraft}.`;
      throw new PawlError("value_not_serializable", message, { assignment: id });
    }
    const kept = await putDraft(this.#kernel.db, { assignmentId: id, labeler, valueText });
    if (kept !== undefined) return draftOf(kept)!;
    const { status } = await this.#own(id, labeler);
    const message = `Assignment ${id} is ${status}: drafts are saved only for open assignments.`;
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
