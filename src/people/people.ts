import { PawlError } from "../base/errors.ts";
import { causeOf, checkedId, checkedOptions, textOrNull } from "../base/options.ts";
import { checkedText } from "../base/text.ts";
import type { AnyQueue } from "../definition/queue.ts";
import { type Kernel, refuseInside } from "../kernel/kernel.ts";
import { registerLifecycles } from "../kernel/register.ts";
import type { Verbs } from "../kernel/verbs.ts";
import type { Executor } from "../store/port/db.ts";
import { Desk, type DeskWork, type Draft, type LabelersDesk } from "./desk.ts";
import { exportLabels, type Imported, importSamples, type Quality, qualityOf } from "./files.ts";
import type { LabelRow } from "./formats/export-labels.ts";
import type { ImportedLine } from "./formats/import-samples.ts";
import {
  type AddOptions,
  doingOf,
  type LeadOptions,
  labelerOf,
  type MetricsOptions,
  momentOf,
  nameOf,
  oneOf,
  type PageOptions,
  type PeopleCallOptions,
  pageOf,
  type QueueRef,
  type ReviewOptions,
  type SampleRef,
  sayingOf,
} from "./given.ts";
import { assignSample } from "./handing-out/assign.ts";
import { recheckEligibility } from "./handing-out/eligibility.ts";
import { expireDue } from "./handing-out/expire-due.ts";
import { HandOut, type Next } from "./handing-out/hand-out.ts";
import { readJournal, type WorkMove } from "./journal.ts";
import { assignment } from "./lifecycle/assignment.ts";
import { sample } from "./lifecycle/sample.ts";
import { instanceKeyOf, sampleKeyOf } from "./lifecycle/sample-key.ts";
import { loadsOf, type QueueLoad } from "./loads.ts";
import { type Metrics, metricsOf, sumOf } from "./metrics.ts";
import { type QueueInfo, Queues, type RunTimeQueue } from "./queues.ts";
import { sampleUnknown } from "./refusals.ts";
import { Leads } from "./review/leads.ts";
import { type Rejected, Reviews } from "./review/review.ts";
import { type NewSample, newSamples } from "./samples.ts";
import {
  type Assignment,
  assignmentOf,
  type Label,
  labelOf,
  type Sample,
  type SampleState,
  sampleView,
} from "./shown.ts";
import { type LabelerRow, putLabeler, readAllLabelers } from "./store/labelers.ts";
import { hasQueues } from "./store/queues.ts";
import { findAssignments, findAssignmentsFor, findAssignmentsOf } from "./views/assignments.ts";
import { type Earlier, type Span, sumOfQueue, sumsBefore, sumsByHour, sumsByLabeler } from "./views/labeler-hours.ts";
import { findLabels, findLabelsFor, findLateLabels } from "./views/labels.ts";
import { readSample, readSampleByKey, readSamples, readSamplesIn } from "./views/samples.ts";
import { type Submitted, Work } from "./work.ts";

/** Somebody who labels. */
export interface Labeler {
  readonly id: string;
  readonly name: string | null;
  readonly skills: readonly string[];
  /** Whoever is inactive is given nothing. */
  readonly active: boolean;
  readonly createdAt: Date;
}

/** A sample that was added; `created` is false when its key was there already. */
export interface AddedSample {
  readonly id: string;
  readonly key: string | null;
  readonly created: boolean;
}

/** A sample with all that was done about it. */
export interface SampleHistory extends Sample {
  readonly assignments: readonly Assignment[];
  /** Also those that do not count: rejected, or late. */
  readonly labels: readonly Label[];
}

/** Makes queues and lifecycles known to the database, where there are any. */
export let openPeople: (people: People) => Promise<void>;
/** Whether there are queues: only then are samples and assignments lifecycles like all others. */
export let isPeopleInUse: (people: People) => boolean;

/**
 * People who label: queues hand out samples, labelers work on them, leads look after it. `pawl.people`.
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
  readonly #handOut: HandOut;
  readonly #work: Work;
  readonly #reviews: Reviews;
  readonly #leads: Leads;
  readonly #desk: Desk;
  #isRegistered = false;

  /** @internal */
  constructor(kernel: Kernel, verbs: Verbs, queues: readonly AnyQueue[]) {
    this.#kernel = kernel;
    this.#verbs = verbs;
    this.#queues = new Queues(kernel.db, queues);
    this.#handOut = new HandOut(kernel);
    this.#work = new Work(kernel, verbs, this.#queues);
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
   * Makes a queue at run time, for all processes; its labels are described by JSON Schema.
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

  /** Changes some settings of a queue that was made at run time, for what is added and handed out from then on. */
  async updateQueue(queue: QueueRef, changes: Partial<RunTimeQueue>): Promise<QueueInfo> {
    const changed = await this.#queues.update(this.#db("updateQueue"), nameOf(queue), changes);
    await this.#recheck();
    return changed;
  }

  /** Lets an inactive queue hand out samples again. */
  async activateQueue(queue: QueueRef): Promise<QueueInfo> {
    return this.#queues.setActive(this.#db("activateQueue"), nameOf(queue), true);
  }

  /** Hands out nothing new from now on. What is in hand can be finished: no work is cancelled. */
  async deactivateQueue(queue: QueueRef): Promise<QueueInfo> {
    return this.#queues.setActive(this.#db("deactivateQueue"), nameOf(queue), false);
  }

  /** A queue with its settings. */
  async queue(queue: QueueRef): Promise<QueueInfo> {
    return this.#queues.get(this.#db("queue"), nameOf(queue));
  }

  /** All queues, by name. */
  async queues(): Promise<QueueInfo[]> {
    return this.#queues.list(this.#db("queues"));
  }

  /** How much lies in each queue now, and how its work has gone so far. */
  async queueStats(): Promise<QueueLoad[]> {
    const db = this.#db("queueStats");
    return loadsOf(
      db,
      (await this.#queues.list(db)).map(({ name }) => name),
    );
  }

  /** Adds a labeler, or changes what is known of one: what is left out stays as it was. */
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
      throw new PawlError("option_invalid", "`skills` must be a list of texts.");
    }
    if (active !== null && typeof active !== "boolean") {
      throw new PawlError("option_invalid", "`active` must be true or false.");
    }
    const row = await putLabeler(db, {
      id: labelerOf(id),
      name: textOrNull(name, "The name of a labeler"),
      skills: skills === null ? null : skills.map((skill) => checkedText(skill, "A skill")),
      active,
    });
    await this.#recheck();
    return labelerShown(row);
  }

  /** All labelers that were added. Whoever works on a queue that is open to anyone need not be. */
  async labelers(): Promise<Labeler[]> {
    return (await readAllLabelers(this.#db("labelers"))).map(labelerShown);
  }

  /** Adds a sample to a queue. A key that is there already gives back that sample, with `created: false`. */
  async add(queue: QueueRef, given: NewSample, options: AddOptions = {}): Promise<AddedSample> {
    const [added] = await this.addMany(queue, [given], options);
    return added!;
  }

  /** Adds many; all of them are checked before any is written. With `tx` they are part of your own transaction. */
  async addMany(queue: QueueRef, given: readonly NewSample[], options: AddOptions = {}): Promise<AddedSample[]> {
    const { tx, ...by } = checkedOptions(options, addKeys, "people.add");
    return this.#verbs.inTurn(tx, async () => {
      const reading = this.#verbs.reading("people.add", tx);
      const known = await this.#queues.known(nameOf(queue), tx === undefined ? undefined : reading);
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
   * The next piece of work for a labeler: what lies on his desk already, else the best sample that he can have. When there
   * is none, the answer says why: `{ assignment: null, why: { sentence: "… 4 are held by others, 2 you have done." } }`.
   */
  async next(queue: QueueRef, labeler: string): Promise<Next> {
    this.#db("next");
    return this.#handOut.next(nameOf(queue), labelerOf(labeler));
  }

  /** The labeler begins: from now on the time runs, until the `deadline` of the answer. */
  async start(assignmentId: string, labeler: string, options: PeopleCallOptions = {}): Promise<Assignment> {
    this.#db("start");
    return this.#work.start(
      checkedId(assignmentId, "assignment"),
      doingOf(labeler, checkedOptions(options, callKeys, "people.start")),
    );
  }

  /**
   * The labeler hands in a label. One that its queue does not take is refused with `label_invalid` and all that is wrong
   * with it, and the assignment stays in progress. After the deadline it is kept, with `late: true`, for a lead to accept.
   * The same label a second time gets the first answer.
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
      doingOf(labeler, checkedOptions(options, callKeys, "people.submit")),
    );
  }

  /** The labeler does not label it; somebody else gets it. */
  async skip(
    assignmentId: string,
    labeler: string,
    options: PeopleCallOptions & { reason?: string } = {},
  ): Promise<Assignment> {
    this.#db("skip");
    return this.#work.giveBack(
      checkedId(assignmentId, "assignment"),
      "skip",
      doingOf(labeler, checkedOptions(options, [...callKeys, "reason"], "people.skip")),
    );
  }

  /** The labeler is still at it: its time begins again. */
  async extend(assignmentId: string, labeler: string, options: PeopleCallOptions = {}): Promise<Assignment> {
    this.#db("extend");
    return this.#work.extend(
      checkedId(assignmentId, "assignment"),
      doingOf(labeler, checkedOptions(options, callKeys, "people.extend")),
    );
  }

  /**
   * What a labeler finds at his desk: the queues in which he may work, what waits there, what he has in hand, and what he
   * did `since` (the beginning of the day, by UTC, unless given).
   */
  async desk(labeler: string, options: { readonly since?: Date } = {}): Promise<LabelersDesk> {
    this.#db("desk");
    return this.#desk.look(labelerOf(labeler), momentOf(checkedOptions(options, ["since"], "people.desk").since));
  }

  /** An assignment of his own with its sample and all that he needs for it. */
  async deskWork(assignmentId: string, labeler: string): Promise<DeskWork> {
    this.#db("deskWork");
    return this.#desk.work(checkedId(assignmentId, "assignment"), labelerOf(labeler));
  }

  /** What the labeler has entered so far; null where that is nothing, or was handed in. */
  async draft(assignmentId: string, labeler: string): Promise<Draft | null> {
    this.#db("draft");
    return this.#desk.draft(checkedId(assignmentId, "assignment"), labelerOf(labeler));
  }

  /** Keeps what the labeler has entered so far, in whichever form, until he hands it in. Only while it is in his hands. */
  async saveDraft(assignmentId: string, labeler: string, value: unknown): Promise<Draft> {
    this.#db("saveDraft");
    return this.#desk.keepDraft(checkedId(assignmentId, "assignment"), labelerOf(labeler), value);
  }

  /**
   * A lead gives a sample to a named labeler, who finds it on the desk with the next call of `next`. The labeler must be
   * eligible, have room on the desk, and not be through with the sample.
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
    return assignSample(this.#kernel, id, labelerOf(to), doingOf(by.actor, by));
  }

  /** A lead takes an assignment back: it expires now, and costs neither its labeler nor its sample a try. */
  async release(assignmentId: string, options: LeadOptions & PeopleCallOptions): Promise<Assignment> {
    this.#db("release");
    const by = checkedOptions(options, [...leadKeys, ...callKeys], "people.release");
    return this.#work.giveBack(checkedId(assignmentId, "assignment"), "release", doingOf(by.actor, by));
  }

  /** Lets everything in a queue expire whose time is over, and gives back what did. Happens by itself every second, too. */
  async checkExpired(queue: QueueRef): Promise<Assignment[]> {
    const { name } = await this.#queues.get(this.#db("checkExpired"), nameOf(queue));
    return expireDue(this.#kernel, name);
  }

  /**
   * A lead accepts a label. Where its queue is reviewed, a sample is settled once all its labels are accepted. A label that
   * came late takes an open slot of its sample, and counts from then on.
   */
  async accept(labelId: string, options: ReviewOptions): Promise<Label> {
    this.#db("accept");
    return this.#reviews.accept(checkedId(labelId, "label"), sayingOf(options, "people.accept"));
  }

  /** A lead rejects a label: it counts no more, and its labeler finds the sample on his desk again, as a revision. */
  async reject(labelId: string, options: ReviewOptions): Promise<Rejected> {
    this.#db("reject");
    return this.#reviews.reject(checkedId(labelId, "label"), sayingOf(options, "people.reject"));
  }

  /**
   * A lead hands out a sample again that was given up: `attempts` times more, for the slots that have no label; where the
   * labels did not agree, for so many labels more.
   */
  async reopen(sampleRef: SampleRef, options: LeadOptions & { readonly attempts?: number }): Promise<Sample> {
    const { attempts, ...by } = checkedOptions(options, ["attempts", ...leadKeys], "people.reopen");
    const { id } = await this.#sample(this.#db("reopen"), sampleRef);
    await this.#leads.reopen(id, attempts, doingOf(by.actor, by));
    return this.sample(id);
  }

  /** A lead takes a sample out of its queue for good. Whoever has it in hand loses it. */
  async close(sampleRef: SampleRef, options: LeadOptions): Promise<Sample> {
    const by = checkedOptions(options, leadKeys, "people.close");
    const { id } = await this.#sample(this.#db("close"), sampleRef);
    await this.#leads.close(id, doingOf(by.actor, by));
    return this.sample(id);
  }

  /** An assignment as it stands. */
  async assignment(assignmentId: string): Promise<Assignment> {
    this.#db("assignment");
    return this.#work.read(checkedId(assignmentId, "assignment"));
  }

  /**
   * All moves of an assignment, in their order: when it was given, started, extended, handed in or expired, and by whom.
   *
   * @throws `assignment_unknown`
   */
  async assignmentJournal(assignmentId: string): Promise<WorkMove[]> {
    const db = this.#db("assignmentJournal");
    const { id } = await this.#work.read(checkedId(assignmentId, "assignment"));
    return readJournal(db, id);
  }

  /** The assignments of a queue, newest first; those of one labeler or in one state, if asked. */
  async assignments(
    queue: QueueRef,
    options: PageOptions & { readonly labeler?: string; readonly status?: Assignment["status"] } = {},
  ): Promise<Assignment[]> {
    const db = this.#db("assignments");
    checkedOptions(options, [...pageKeys, "labeler", "status"], "people.assignments");
    const { name } = await this.#queues.get(db, nameOf(queue));
    const status = oneOf(options.status, [...assignment.states.keys()] as Assignment["status"][], "status");
    const page = { queue: name, status, ...pageOf(options) };
    const { labeler } = options;
    const rows = labeler === undefined ? findAssignments(db, page) : findAssignmentsOf(db, labelerOf(labeler), page);
    return (await rows).map(assignmentOf);
  }

  /** A sample as it stands, with every assignment and label. */
  async sample(sampleRef: SampleRef): Promise<SampleHistory> {
    const db = this.#db("sample");
    const found = await this.#sample(db, sampleRef);
    const [assignments, labels] = [await findAssignmentsFor(db, found.id), await findLabelsFor(db, found.id)];
    return { ...found, assignments: assignments.map(assignmentOf), labels: labels.map(labelOf) };
  }

  /**
   * All moves of a sample, in their order: each label that counts, and how it was agreed on or given up.
   *
   * @throws `sample_unknown`
   */
  async sampleJournal(sampleRef: SampleRef): Promise<WorkMove[]> {
    const db = this.#db("sampleJournal");
    const { id } = await this.#sample(db, sampleRef);
    return readJournal(db, id);
  }

  /** The samples of a queue, newest first; those in one state, if asked. */
  async samples(queue: QueueRef, options: PageOptions & { readonly state?: SampleState } = {}): Promise<Sample[]> {
    const db = this.#db("samples");
    checkedOptions(options, [...pageKeys, "state"], "people.samples");
    const { name } = await this.#queues.get(db, nameOf(queue));
    const state = oneOf(options.state, [...sample.states.keys()] as SampleState[], "state");
    const page = { queue: name, ...pageOf(options) };
    return (await (state === null ? readSamples(db, page) : readSamplesIn(db, state, page))).map(sampleView);
  }

  /** The labels of a queue, newest first; with `late: true` those that came late and wait for a lead's word. */
  async labels(queue: QueueRef, options: PageOptions & { readonly late?: boolean } = {}): Promise<Label[]> {
    const db = this.#db("labels");
    checkedOptions(options, [...pageKeys, "late"], "people.labels");
    const { name } = await this.#queues.get(db, nameOf(queue));
    const find = options.late === true ? findLateLabels : findLabels;
    return (await find(db, { queue: name, ...pageOf(options) })).map(labelOf);
  }

  /**
   * How the work in a queue goes, from sums that are kept as it happens: over all of it, one labeler's, or that of a time.
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

  /** The same for each labeler. */
  async metricsByLabeler(queue: QueueRef, options: MetricsOptions = {}): Promise<(Metrics & { labeler: string })[]> {
    const db = this.#db("metricsByLabeler");
    const span = await this.#span(db, queue, checkedOptions(options, spanKeys, "people.metricsByLabeler"));
    const before = new Map((await sumsBefore(db, span)).map((row) => [row.labeler, row]));
    const rows = await sumsByLabeler(db, span);
    return rows.map((row) => ({ labeler: row.labeler, ...metricsOf(row, before.get(row.labeler)) }));
  }

  /**
   * The same for each hour in which anything was done, by its beginning. `total` of an hour includes what was open when it
   * began, and `byStatus` is what it was when the hour ended, so that rates are never above 1.
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
   * Adds the samples of a file. A bad line, or a gold label that its queue refuses, is reported with its line number and does
   * not end it; the same key a second time adds nothing, so an
   * import that broke off can simply be repeated, or go on behind its `cursor`.
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
   * The labels of a queue that count, with their samples, one at a time: sample by sample, the oldest first, so that all labels
   * of a sample follow each other. With `late: true` also those that came late, and with `skipped: true` also skips, as rows
   * without a label.
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
    const { name } = await this.#queues.get(db, nameOf(queue));
    const keys = ["after", "late", "skipped"];
    const { late = false, skipped = false, after } = checkedOptions(options, keys, "people.exportLabels");
    const { beforeId: afterId } = pageOf({ after });
    yield* exportLabels(db, name, { late, skipped, afterId: afterId ?? undefined });
  }

  /** How far the labels of a queue agree, field by field; each labeler's agreement with the others; who is right on gold. */
  async quality(queue: QueueRef): Promise<Quality> {
    const db = this.#db("quality");
    return qualityOf(db, await this.#queues.get(db, nameOf(queue)));
  }

  async #span(db: Executor, queue: QueueRef, { labeler, from, to }: MetricsOptions): Promise<Span> {
    const { name } = await this.#queues.get(db, nameOf(queue));
    return { queue: name, labeler: textOrNull(labeler, "The labeler"), fromMs: momentOf(from), toMs: momentOf(to) };
  }

  async #sample(db: Executor, ref: SampleRef): Promise<Sample> {
    const row =
      typeof ref === "object" && ref !== null
        ? await readSampleByKey(db, instanceKeyOf(nameOf(ref.queue), checkedText(ref.key, "The key", "key_invalid")))
        : await readSample(db, checkedId(ref, "sample"));
    if (row === undefined) throw sampleUnknown(typeof ref === "string" ? ref : `"${ref.key}"`);
    return sampleView(row);
  }

  /** What cannot be moved now is left to maintenance, which reports it. */
  async #recheck(): Promise<void> {
    await recheckEligibility(this.#kernel);
  }

  async #register(): Promise<void> {
    if (this.#isRegistered) return;
    await registerLifecycles(this.#kernel, [sample, assignment]);
    this.#isRegistered = true;
  }

  /** The database, for a call that is not made inside a transaction. */
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
