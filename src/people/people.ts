import { PawlError } from "../base/errors.ts";
import { causeOf, checkedId, checkedOptions, textOrNull } from "../base/options.ts";
import { checkedText } from "../base/text.ts";
import type { AnyQueue } from "../definition/queue.ts";
import { type Kernel, refuseInside } from "../kernel/kernel.ts";
import { registerLifecycles } from "../kernel/register.ts";
import type { Verbs } from "../kernel/verbs.ts";
import type { Executor } from "../store/port/db.ts";
import { assignSample } from "./assigning/assign.ts";
import { Assigner, type Next } from "./assigning/assigner.ts";
import { recheckEligibility } from "./assigning/eligibility.ts";
import { expireOverdue } from "./assigning/expire-due.ts";
import { Assignments, type Submitted } from "./assignments.ts";
import { Desk, type DeskWork, type Draft, type LabelersDesk } from "./desk.ts";
import type { LabelRow } from "./formats/export-labels.ts";
import type { ImportedLine } from "./formats/import-samples.ts";
import { exportLabels, type Imported, importSamples, type Quality, qualityOf } from "./import-export.ts";
import { readJournal, type WorkMove } from "./journal.ts";
import { assignment } from "./lifecycle/assignment.ts";
import { sample } from "./lifecycle/sample.ts";
import { instanceKeyOf, sampleKeyOf } from "./lifecycle/sample-key.ts";
import { type Metrics, metricsOf, sumOf } from "./metrics.ts";
import {
  type AddOptions,
  attributionOf,
  type LeadOptions,
  labelerOf,
  leadReviewOf,
  type MetricsOptions,
  momentOf,
  oneOf,
  type PageOptions,
  type PeopleCallOptions,
  pageOf,
  type QueueRef,
  queueNameOf,
  type ReviewOptions,
  type SampleRef,
} from "./options.ts";
import { type QueueStats, queueStatsOf } from "./queue-stats.ts";
import { type QueueInfo, Queues, type RunTimeQueue } from "./queues.ts";
import { sampleUnknown } from "./refusals.ts";
import {
  type Assignment,
  assignmentOf,
  type Label,
  labelOf,
  type Sample,
  type SampleState,
  sampleView,
} from "./results.ts";
import { Leads } from "./review/leads.ts";
import { type Rejected, Reviews } from "./review/review.ts";
import { type NewSample, newSamples } from "./samples.ts";
import { type LabelerRow, readAllLabelers, upsertLabeler } from "./store/labelers.ts";
import { hasQueues } from "./store/queues.ts";
import { findAssignments, findAssignmentsFor, findAssignmentsOf } from "./views/assignments.ts";
import { type Earlier, type Span, sumOfQueue, sumsBefore, sumsByHour, sumsByLabeler } from "./views/labeler-hours.ts";
import { findLabels, findLabelsFor, findLateLabels } from "./views/labels.ts";
import { readSample, readSampleByKey, readSamples, readSamplesIn } from "./views/samples.ts";

/** A labeler. */
export interface Labeler {
  readonly id: string;
  readonly name: string | null;
  readonly skills: readonly string[];
  /** An inactive labeler gets no assignments. */
  readonly active: boolean;
  readonly createdAt: Date;
}

/** An added sample; `created` is false if its key already existed. */
export interface AddedSample {
  readonly id: string;
  readonly key: string | null;
  readonly created: boolean;
}

/** A sample with its assignments and labels. */
export interface SampleHistory extends Sample {
  readonly assignments: readonly Assignment[];
  /** Including rejected and late labels. */
  readonly labels: readonly Label[];
}

/** Registers queues and their lifecycles in the database, if there are any. */
export let openPeople: (people: People) => Promise<void>;
/** Whether there are queues: only then are samples and assignments registered as lifecycles. */
export let isPeopleInUse: (people: People) => boolean;

/**
 * Manages labeling: queues assign samples, labelers label them, leads review the labels. `pawl.people`.
 *
 * ```ts
 * const pawl = await createPawl({ lifecycles: [], queues: [essays] });
 * await pawl.people.add(essays, { key: "sub-42", data: { text: "…" } });
 *
 * const { assignment, sample, why } = await pawl.people.next(essays, "ada");
 * if (assignment === null) throw new Error(why.sentence);
 * console.log(sample.data);
 * await pawl.people.start(assignment.id, "ada");
 * await pawl.people.submit(assignment.id, "ada", { score: 7 });
 * ```
 */
export class People {
  readonly #kernel: Kernel;
  readonly #verbs: Verbs;
  readonly #queues: Queues;
  readonly #handOut: Assigner;
  readonly #work: Assignments;
  readonly #reviews: Reviews;
  readonly #leads: Leads;
  readonly #desk: Desk;
  #isRegistered = false;

  /** @internal */
  constructor(kernel: Kernel, verbs: Verbs, queues: readonly AnyQueue[]) {
    this.#kernel = kernel;
    this.#verbs = verbs;
    this.#queues = new Queues(kernel.db, queues);
    this.#handOut = new Assigner(kernel);
    this.#work = new Assignments(kernel, verbs, this.#queues);
    this.#reviews = new Reviews(kernel, verbs, this.#queues);
    this.#leads = new Leads(kernel, verbs, this.#work);
    this.#desk = new Desk(kernel, this.#queues, this.#work);
  }

  static {
    openPeople = (people) => people.#open();
    isPeopleInUse = (people) => people.#isRegistered;
  }

  async #open(): Promise<void> {
    const { db } = this.#kernel;
    if (this.#queues.declared.length === 0 && !(await hasQueues(db))) return;
    await this.#register();
    await this.#queues.store(db);
  }

  /**
   * Creates a queue at run time, for all processes; a JSON Schema describes its labels.
   *
   * ```ts
   * await pawl.people.createQueue("receipts", { label: { type: "object", properties: { total: { type: "number" } } }, overlap: 3 });
   * ```
   */
  async createQueue(name: string, definition: RunTimeQueue): Promise<QueueInfo> {
    const db = this.#db("createQueue");
    await this.#register();
    return this.#queues.create(db, name, definition);
  }

  /** Changes settings of a queue that was created at run time, for later samples and assignments. */
  async updateQueue(queue: QueueRef, changes: Partial<RunTimeQueue>): Promise<QueueInfo> {
    const changed = await this.#queues.update(this.#db("updateQueue"), queueNameOf(queue), changes);
    await this.#recheck();
    return changed;
  }

  /** Activates an inactive queue. */
  async activateQueue(queue: QueueRef): Promise<QueueInfo> {
    return this.#queues.setActive(this.#db("activateQueue"), queueNameOf(queue), true);
  }

  /** Deactivates a queue: it makes no new assignments. Open assignments are not cancelled and can be finished. */
  async deactivateQueue(queue: QueueRef): Promise<QueueInfo> {
    return this.#queues.setActive(this.#db("deactivateQueue"), queueNameOf(queue), false);
  }

  /** Returns a queue with its settings. */
  async queue(queue: QueueRef): Promise<QueueInfo> {
    return this.#queues.get(this.#db("queue"), queueNameOf(queue));
  }

  /** Lists all queues, by name. */
  async queues(): Promise<QueueInfo[]> {
    return this.#queues.list(this.#db("queues"));
  }

  /** Lists the backlog and the metrics of each queue. */
  async queueStats(): Promise<QueueStats[]> {
    const db = this.#db("queueStats");
    return queueStatsOf(
      db,
      (await this.#queues.list(db)).map(({ name }) => name),
    );
  }

  /** Adds or updates a labeler. Omitted fields keep their values. */
  async upsertLabeler(labeler: {
    readonly id: string;
    readonly name?: string;
    readonly skills?: readonly string[];
    readonly active?: boolean;
  }): Promise<Labeler> {
    const db = this.#db("upsertLabeler");
    const keys = ["id", "name", "skills", "active"];
    const { id, name, skills = null, active = null } = checkedOptions(labeler, keys, "people.upsertLabeler");
    if (skills !== null && !Array.isArray(skills)) {
      throw new PawlError("option_invalid", "`skills` must be a list of strings.");
    }
    if (active !== null && typeof active !== "boolean") {
      throw new PawlError("option_invalid", "`active` must be true or false.");
    }
    const row = await upsertLabeler(db, {
      id: labelerOf(id),
      name: textOrNull(name, "The name of a labeler"),
      skills: skills === null ? null : skills.map((skill) => checkedText(skill, "A skill")),
      active,
    });
    await this.#recheck();
    return labelerShown(row);
  }

  /** Lists the labelers that were added. Labelers of a queue that is open to anyone need not be added. */
  async labelers(): Promise<Labeler[]> {
    return (await readAllLabelers(this.#db("labelers"))).map(labelerShown);
  }

  /** Adds a sample to a queue. An existing key returns its sample, with `created: false`. */
  async add(queue: QueueRef, given: NewSample, options: AddOptions = {}): Promise<AddedSample> {
    const [added] = await this.addMany(queue, [given], options);
    return added!;
  }

  /** Adds many samples; all are validated before any is written. With `tx`, they are part of your own transaction. */
  async addMany(queue: QueueRef, given: readonly NewSample[], options: AddOptions = {}): Promise<AddedSample[]> {
    const { tx, ...by } = checkedOptions(options, addKeys, "people.add");
    return this.#verbs.inTurn(tx, async () => {
      const reading = this.#verbs.reading("people.add", tx);
      const known = await this.#queues.known(queueNameOf(queue), tx === undefined ? undefined : reading);
      const cause = causeOf(by);
      const starts = await newSamples(this.#kernel, known, given, cause);
      return (await this.#verbs.startMany(starts, tx)).map((one) => {
        if (!one.ok) throw one.error;
        const { id, key } = one.instance.model;
        return { id, key: sampleKeyOf(key), created: one.created };
      });
    });
  }

  /**
   * Returns the labeler's next assignment: an open one, or a new one for the best available sample. If there is none,
   * the result says why: `{ assignment: null, why: { sentence: "… 4 are assigned to others, 2 you have done." } }`.
   */
  async next(queue: QueueRef, labeler: string): Promise<Next> {
    this.#db("next");
    return this.#handOut.next(queueNameOf(queue), labelerOf(labeler));
  }

  /** Starts an assignment: its time limit runs until the `deadline` of the result. */
  async start(assignmentId: string, labeler: string, options: PeopleCallOptions = {}): Promise<Assignment> {
    this.#db("start");
    return this.#work.start(
      checkedId(assignmentId, "assignment"),
      attributionOf(labeler, checkedOptions(options, callKeys, "people.start")),
    );
  }

  /**
   * Submits a label. An invalid label is refused with `label_invalid` and all its faults, and the assignment stays in
   * progress. After the deadline the label is kept, with `late: true`, for a lead to accept. A repeated submission of
   * the same label returns the first result.
   */
  async submit(
    assignmentId: string,
    labeler: string,
    label: unknown,
    options: PeopleCallOptions = {},
  ): Promise<Submitted> {
    this.#db("submit");
    return this.#work.submit(
      checkedId(assignmentId, "assignment"),
      label,
      attributionOf(labeler, checkedOptions(options, callKeys, "people.submit")),
    );
  }

  /** Skips an assignment; another labeler gets the sample. */
  async skip(
    assignmentId: string,
    labeler: string,
    options: PeopleCallOptions & { reason?: string } = {},
  ): Promise<Assignment> {
    this.#db("skip");
    return this.#work.giveBack(
      checkedId(assignmentId, "assignment"),
      "skip",
      attributionOf(labeler, checkedOptions(options, [...callKeys, "reason"], "people.skip")),
    );
  }

  /** Extends an assignment: its time limit starts again. */
  async extend(assignmentId: string, labeler: string, options: PeopleCallOptions = {}): Promise<Assignment> {
    this.#db("extend");
    return this.#work.extend(
      checkedId(assignmentId, "assignment"),
      attributionOf(labeler, checkedOptions(options, callKeys, "people.extend")),
    );
  }

  /**
   * Returns a labeler's desk: queues with waiting samples, open assignments, and the work since `since` (default:
   * midnight, UTC).
   */
  async desk(labeler: string, options: { readonly since?: Date } = {}): Promise<LabelersDesk> {
    this.#db("desk");
    return this.#desk.look(labelerOf(labeler), momentOf(checkedOptions(options, ["since"], "people.desk").since));
  }

  /** Returns one of the labeler's assignments with its sample and everything to label it. */
  async deskWork(assignmentId: string, labeler: string): Promise<DeskWork> {
    this.#db("deskWork");
    return this.#desk.work(checkedId(assignmentId, "assignment"), labelerOf(labeler));
  }

  /** Returns the labeler's draft; null if there is none, or it was submitted. */
  async draft(assignmentId: string, labeler: string): Promise<Draft | null> {
    this.#db("draft");
    return this.#desk.draft(checkedId(assignmentId, "assignment"), labelerOf(labeler));
  }

  /** Saves the labeler's draft, in any form, while the assignment is open. */
  async saveDraft(assignmentId: string, labeler: string, value: unknown): Promise<Draft> {
    this.#db("saveDraft");
    return this.#desk.saveDraft(checkedId(assignmentId, "assignment"), labelerOf(labeler), value);
  }

  /**
   * Assigns a sample to a labeler, as a lead; the labeler's next call of `next` returns it. The labeler must be
   * eligible, have room for another assignment, and not have finished the sample.
   *
   * @throws `not_allowed` with the reason where the labeler cannot be given it.
   *
   * ```ts
   * await pawl.people.assign({ queue: essays, key: "sub-42" }, { to: "ada", actor: "lea", reason: "knows the author" });
   * ```
   */
  async assign(sampleRef: SampleRef, options: LeadOptions & { readonly to: string }): Promise<Assignment> {
    const { to, ...by } = checkedOptions(options, ["to", ...leadKeys], "people.assign");
    const { id } = await this.#sample(this.#db("assign"), sampleRef);
    return assignSample(this.#kernel, id, labelerOf(to), attributionOf(by.actor, by));
  }

  /** Releases an assignment, as a lead: it expires now, and spends no try of its labeler or its sample. */
  async release(assignmentId: string, options: LeadOptions & PeopleCallOptions): Promise<Assignment> {
    this.#db("release");
    const by = checkedOptions(options, [...leadKeys, ...callKeys], "people.release");
    return this.#work.giveBack(checkedId(assignmentId, "assignment"), "release", attributionOf(by.actor, by));
  }

  /** Expires overdue assignments of a queue and returns them. Maintenance does so every second, too. */
  async checkExpired(queue: QueueRef): Promise<Assignment[]> {
    const { name } = await this.#queues.get(this.#db("checkExpired"), queueNameOf(queue));
    return expireOverdue(this.#kernel, name);
  }

  /**
   * Accepts a label, as a lead. In a reviewed queue, a sample is settled once all its labels are accepted. An accepted
   * late label takes an open slot of its sample and is used from then on.
   */
  async accept(labelId: string, options: ReviewOptions): Promise<Label> {
    this.#db("accept");
    return this.#reviews.accept(checkedId(labelId, "label"), leadReviewOf(options, "people.accept"));
  }

  /** Rejects a label, as a lead: it is not used, and its labeler gets the sample again, as a revision. */
  async reject(labelId: string, options: ReviewOptions): Promise<Rejected> {
    this.#db("reject");
    return this.#reviews.reject(checkedId(labelId, "label"), leadReviewOf(options, "people.reject"));
  }

  /**
   * Reopens a sample that ended without a result, as a lead: for `attempts` more attempts at the slots without a label
   * or, if the labels did not agree, for that many more labels.
   */
  async reopen(sampleRef: SampleRef, options: LeadOptions & { readonly attempts?: number }): Promise<Sample> {
    const { attempts, ...by } = checkedOptions(options, ["attempts", ...leadKeys], "people.reopen");
    const { id } = await this.#sample(this.#db("reopen"), sampleRef);
    await this.#leads.reopen(id, attempts, attributionOf(by.actor, by));
    return this.sample(id);
  }

  /** Closes a sample permanently, as a lead. Its open assignments end. */
  async close(sampleRef: SampleRef, options: LeadOptions): Promise<Sample> {
    const by = checkedOptions(options, leadKeys, "people.close");
    const { id } = await this.#sample(this.#db("close"), sampleRef);
    await this.#leads.close(id, attributionOf(by.actor, by));
    return this.sample(id);
  }

  /** Returns an assignment. */
  async assignment(assignmentId: string): Promise<Assignment> {
    this.#db("assignment");
    return this.#work.read(checkedId(assignmentId, "assignment"));
  }

  /**
   * Lists all moves of an assignment, in order, with their actors.
   *
   * @throws `assignment_unknown`
   */
  async assignmentJournal(assignmentId: string): Promise<WorkMove[]> {
    const db = this.#db("assignmentJournal");
    const { id } = await this.#work.read(checkedId(assignmentId, "assignment"));
    return readJournal(db, id);
  }

  /** Lists the assignments of a queue, newest first, optionally of one labeler or in one state. */
  async assignments(
    queue: QueueRef,
    options: PageOptions & { readonly labeler?: string; readonly status?: Assignment["status"] } = {},
  ): Promise<Assignment[]> {
    const db = this.#db("assignments");
    checkedOptions(options, [...pageKeys, "labeler", "status"], "people.assignments");
    const { name } = await this.#queues.get(db, queueNameOf(queue));
    const status = oneOf(options.status, [...assignment.states.keys()] as Assignment["status"][], "status");
    const page = { queue: name, status, ...pageOf(options) };
    const { labeler } = options;
    const rows = labeler === undefined ? findAssignments(db, page) : findAssignmentsOf(db, labelerOf(labeler), page);
    return (await rows).map(assignmentOf);
  }

  /** Returns a sample with all assignments and labels. */
  async sample(sampleRef: SampleRef): Promise<SampleHistory> {
    const db = this.#db("sample");
    const found = await this.#sample(db, sampleRef);
    const [assignments, labels] = [await findAssignmentsFor(db, found.id), await findLabelsFor(db, found.id)];
    return { ...found, assignments: assignments.map(assignmentOf), labels: labels.map(labelOf) };
  }

  /**
   * Lists all moves of a sample, in order: each accepted label, and its result.
   *
   * @throws `sample_unknown`
   */
  async sampleJournal(sampleRef: SampleRef): Promise<WorkMove[]> {
    const db = this.#db("sampleJournal");
    const { id } = await this.#sample(db, sampleRef);
    return readJournal(db, id);
  }

  /** Lists the samples of a queue, newest first, optionally in one state. */
  async samples(queue: QueueRef, options: PageOptions & { readonly state?: SampleState } = {}): Promise<Sample[]> {
    const db = this.#db("samples");
    checkedOptions(options, [...pageKeys, "state"], "people.samples");
    const { name } = await this.#queues.get(db, queueNameOf(queue));
    const state = oneOf(options.state, [...sample.states.keys()] as SampleState[], "state");
    const page = { queue: name, ...pageOf(options) };
    return (await (state === null ? readSamples(db, page) : readSamplesIn(db, state, page))).map(sampleView);
  }

  /** Lists the labels of a queue, newest first; with `late: true`, late labels that await a lead's decision. */
  async labels(queue: QueueRef, options: PageOptions & { readonly late?: boolean } = {}): Promise<Label[]> {
    const db = this.#db("labels");
    checkedOptions(options, [...pageKeys, "late"], "people.labels");
    const { name } = await this.#queues.get(db, queueNameOf(queue));
    const find = options.late === true ? findLateLabels : findLabels;
    return (await find(db, { queue: name, ...pageOf(options) })).map(labelOf);
  }

  /**
   * Returns the metrics of a queue, optionally of one labeler or of a time span. They are maintained incrementally.
   *
   * ```ts
   * const { completionRate, avgTimeToComplete } = await pawl.people.metrics(essays, { labeler: "ada", from: monday });
   * ```
   */
  async metrics(queue: QueueRef, options: MetricsOptions = {}): Promise<Metrics> {
    const db = this.#db("metrics");
    const span = await this.#span(db, queue, checkedOptions(options, spanKeys, "people.metrics"));
    const before = (await sumsBefore(db, span)).reduce<Earlier | undefined>(
      (sum, one) => (sum === undefined ? one : sumOf(sum, one)),
      undefined,
    );
    return metricsOf(await sumOfQueue(db, span), before);
  }

  /** Returns the metrics of a queue by labeler. */
  async metricsByLabeler(queue: QueueRef, options: MetricsOptions = {}): Promise<(Metrics & { labeler: string })[]> {
    const db = this.#db("metricsByLabeler");
    const span = await this.#span(db, queue, checkedOptions(options, spanKeys, "people.metricsByLabeler"));
    const before = new Map((await sumsBefore(db, span)).map((row) => [row.labeler, row]));
    const rows = await sumsByLabeler(db, span);
    return rows.map((row) => ({ labeler: row.labeler, ...metricsOf(row, before.get(row.labeler)) }));
  }

  /**
   * Returns the metrics of a queue by hour, for hours with any work. `total` of an hour includes assignments that were
   * open at its start, and `byStatus` is that of its end, so that rates never exceed 1.
   */
  async metricsByHour(queue: QueueRef, options: MetricsOptions = {}): Promise<(Metrics & { hour: Date })[]> {
    const db = this.#db("metricsByHour");
    const span = await this.#span(db, queue, checkedOptions(options, spanKeys, "people.metricsByHour"));
    let before: Earlier | undefined;
    for (const row of await sumsBefore(db, span)) before = before === undefined ? row : sumOf(before, row);
    const hours: (Metrics & { hour: Date })[] = [];
    for (const row of await sumsByHour(db, span)) {
      hours.push({ hour: new Date(row.hour_ms), ...metricsOf(row, before) });
      before = before === undefined ? row : sumOf(before, row);
    }
    return hours;
  }

  /**
   * Adds the samples of a file. An invalid line, or a gold label that its queue refuses, is reported with its line
   * number and does not stop the import. Existing keys are skipped, so you can repeat an interrupted import, or
   * continue it from its `cursor`.
   *
   * ```ts
   * await pawl.people.importSamples(essays, samplesFromJsonl(createReadStream("essays.jsonl"), { key: "id" }));
   * ```
   */
  async importSamples(
    queue: QueueRef,
    lines: AsyncIterable<ImportedLine>,
    options: AddOptions = {},
  ): Promise<Imported> {
    const given = checkedOptions(options, addKeys, "people.importSamples");
    return importSamples(lines, (batch) => this.addMany(queue, batch, given));
  }

  /**
   * Exports the accepted labels of a queue with their samples, one at a time: sample by sample, oldest first, so that
   * all labels of a sample are adjacent. With `late: true`, includes late labels; with `skipped: true`, includes skips
   * as rows without a label.
   *
   * ```ts
   * for await (const text of labelsToCsv(pawl.people.exportLabels(essays))) file.write(text);
   * ```
   */
  async *exportLabels(
    queue: QueueRef,
    options: Pick<PageOptions, "after"> & { readonly late?: boolean; readonly skipped?: boolean } = {},
  ): AsyncGenerator<LabelRow> {
    const db = this.#db("exportLabels");
    const { name } = await this.#queues.get(db, queueNameOf(queue));
    const keys = ["after", "late", "skipped"];
    const { late = false, skipped = false, after } = checkedOptions(options, keys, "people.exportLabels");
    const { beforeId: afterId } = pageOf({ after });
    yield* exportLabels(db, name, { late, skipped, afterId: afterId ?? undefined });
  }

  /**
   * Returns the agreement of a queue's labels by field, each labeler's agreement with the others, and the accuracy on
   * gold samples.
   */
  async quality(queue: QueueRef): Promise<Quality> {
    const db = this.#db("quality");
    return qualityOf(db, await this.#queues.get(db, queueNameOf(queue)));
  }

  async #span(db: Executor, queue: QueueRef, { labeler, from, to }: MetricsOptions): Promise<Span> {
    const { name } = await this.#queues.get(db, queueNameOf(queue));
    return { queue: name, labeler: textOrNull(labeler, "The labeler"), fromMs: momentOf(from), toMs: momentOf(to) };
  }

  async #sample(db: Executor, ref: SampleRef): Promise<Sample> {
    const row =
      typeof ref === "object" && ref !== null
        ? await readSampleByKey(
            db,
            instanceKeyOf(queueNameOf(ref.queue), checkedText(ref.key, "The key", "key_invalid")),
          )
        : await readSample(db, checkedId(ref, "sample"));
    if (row === undefined) throw sampleUnknown(typeof ref === "string" ? ref : `"${ref.key}"`);
    return sampleView(row);
  }

  /** Failed moves are left to maintenance, which reports them. */
  async #recheck(): Promise<void> {
    await recheckEligibility(this.#kernel);
  }

  async #register(): Promise<void> {
    if (this.#isRegistered) return;
    await registerLifecycles(this.#kernel, [sample, assignment]);
    this.#isRegistered = true;
  }

  /** The database connection for calls outside of transactions. */
  #db(verb: string): Executor {
    refuseInside(this.#kernel, `people.${verb}`);
    return this.#kernel.db;
  }
}

const callKeys = ["idempotencyKey"];
const leadKeys = ["actor", "reason"];
const addKeys = ["tx", ...leadKeys];
const pageKeys = ["limit", "after"];
const spanKeys = ["labeler", "from", "to"];

function labelerShown({ id, name, skills, active, created_ms }: LabelerRow): Labeler {
  return { id, name, skills, active, createdAt: new Date(created_ms) };
}
