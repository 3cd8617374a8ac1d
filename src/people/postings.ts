import { isPawlError, PawlError } from "../base/errors.ts";
import { isId } from "../base/ids.ts";
import type { Json } from "../base/json.ts";
import type { AnyQueue } from "../definition/queue.ts";
import type { Kernel } from "../kernel/kernel.ts";
import { requestHash } from "../kernel/request-hash.ts";
import type { Verbs } from "../kernel/verbs.ts";
import { type SampleData, sample } from "./lifecycle/sample.ts";
import { eventFor } from "./lifecycle/sends.ts";
import { Queues } from "./queues.ts";
import { sampleRefuses, sampleUnknown } from "./refusals.ts";
import { type Label, labelOf } from "./results.ts";
import { conclude } from "./review/conclude.ts";
import { type LeadReview, Reviews } from "./review/review.ts";
import { newSamples } from "./samples.ts";
import { readLabels } from "./store/labels.ts";
import { findLabelsFor } from "./views/labels.ts";
import { readSample, readSamplesIn, type SampleRow } from "./views/samples.ts";

/** A sample that a crowd has posted. */
export interface PostedSample {
  readonly id: string;
  readonly queue: string;
  readonly state: "open" | "withdrawn" | "agreed" | "closed";
  /** The crowd job that it belongs to. */
  readonly postedBy: string;
  readonly closesAtMs: number;
  readonly slots: number;
  /** Free slots, and assigned slots. */
  readonly open: number;
  readonly held: number;
}

const manyRounds = 20;

/**
 * Samples that crowds post to Pawl's own queues. Labelers work on them like on all others, but the crowd decides
 * whether labels are accepted, how many it needs, and when a sample ends, so nothing settles them automatically.
 */
export class Postings {
  readonly #kernel: Kernel;
  readonly #verbs: Verbs;
  readonly #queues: Queues;
  readonly #reviews: Reviews;

  constructor(kernel: Kernel, verbs: Verbs, queues: readonly AnyQueue[]) {
    this.#kernel = kernel;
    this.#verbs = verbs;
    this.#queues = new Queues(kernel.db, queues);
    this.#reviews = new Reviews(kernel, verbs, this.#queues);
  }

  /** Adds a sample; an existing key adds nothing. */
  async post(
    queue: string,
    given: {
      readonly key: string;
      readonly postedBy: NonNullable<SampleData["postedBy"]>;
      readonly content: Json;
      readonly slots: number;
      readonly lifetimeMs: number;
      readonly acceptAfterMs: number;
    },
  ): Promise<PostedSample> {
    const { key, postedBy, content, slots, lifetimeMs, acceptAfterMs } = given;
    const known = await this.#queues.known(queue);
    const one = { data: content, key, overlap: slots };
    const [start] = await newSamples(this.#kernel, known, [one], { actor: queue, reason: null });
    const closesAtMs = Math.round(this.#kernel.clock.nowMs() + lifetimeMs);
    const data = { ...(start!.data as SampleData), postedBy, closesAtMs, acceptAfterMs };
    const started = await this.#verbs.start({ ...start!, data }, undefined);
    if (!started.ok) throw started.error;
    return this.#get(started.instance.model.id);
  }

  async find(id: string): Promise<PostedSample | undefined> {
    const row = await this.#read(id);
    return row && this.#shown(row);
  }

  /** Lists the samples in one state, newest first, from the end of the previous page. */
  async list(
    state: "open" | "withdrawn",
    page: { readonly queue: string; readonly beforeId: string | null; readonly limit: number },
  ): Promise<PostedSample[]> {
    return (await readSamplesIn(this.#kernel.db, state, page)).map((row) => this.#shown(row));
  }

  /** Lists the labels of a sample that arrived in time; late labels are excluded until a lead accepts them. */
  async labels(id: string): Promise<Label[]> {
    return (await findLabelsFor(this.#kernel.db, id)).filter((row) => !row.late).map(labelOf);
  }

  async label(id: string): Promise<Label | undefined> {
    const [row] = isId(id) ? await readLabels(this.#kernel.db, [id]) : [];
    return row === undefined || row.late ? undefined : labelOf(row);
  }

  /** Accepts labels that were not reviewed in time. There is no timer: it happens when they are read. */
  async acceptOverdue(id: string): Promise<void> {
    const row = await this.#read(id);
    if (row === undefined || hasEnded(row)) return;
    const beforeMs = this.#kernel.clock.nowMs() - (dataOf(row).acceptAfterMs ?? Infinity);
    const overdue = (await this.labels(id)).filter((one) => one.review === null && one.at.getTime() <= beforeMs);
    for (const one of overdue) {
      await this.accept(one.id, { actor: row.queue, comment: null }).catch((error) => {
        if (!isPawlError(error, "not_allowed")) throw error; // A lead decided differently in the meantime.
      });
    }
  }

  accept(label: string, saying: LeadReview): Promise<Label> {
    return this.#reviews.accept(label, saying);
  }

  /** The labeler gets it again to correct it; if that expires, other labelers get it. */
  async reject(label: string, saying: LeadReview): Promise<Label> {
    return (await this.#reviews.reject(label, saying)).label;
  }

  /** Sets its total number of slots and extends its time; a repeated key changes nothing. */
  async enlarge(
    id: string,
    wanted: { readonly key: string; readonly slots: number; readonly untilMs: number | null },
  ): Promise<PostedSample> {
    const idempotency = { key: wanted.key, hash: requestHash("enlarge", undefined, undefined) };
    for (let round = 0; round < manyRounds; round++) {
      const row = await this.#read(id);
      if (row === undefined) throw sampleUnknown(id);
      const slots = Math.max(wanted.slots - row.needs, 0);
      const closesAtMs = Math.max(dataOf(row).closesAtMs, wanted.untilMs ?? 0);
      // Enough for all slots that may be open after it.
      const attempts = slots + row.spent + row.held_slots;
      const event = { event: "enlarge", payload: { slots, attempts, closesAtMs }, actor: row.queue, idempotency };
      const isStale = await this.#send(row, event, "it has ended and accepts no more labels");
      if (!isStale) return this.#get(id);
    }
    throw new PawlError("busy", `Contention on sample ${id}. Try again.`, { sample: id });
  }

  /** Stops new assignments. Open ones can be finished. */
  async withdraw(id: string): Promise<void> {
    const row = await this.#read(id);
    if (row?.state !== "open") return;
    const send = eventFor(this.#kernel, { lifecycle: sample, id, event: "withdraw", actor: row.queue });
    const sent = await this.#verbs.send(send, undefined);
    // Its time expired in the meantime, or it was closed.
    if (!sent.ok && !isPawlError(sent.error, "transition_refused")) throw sent.error;
  }

  /** Ends it: agreed if the accepted labels agree, closed otherwise. */
  async retire(id: string): Promise<void> {
    const row = await this.#read(id);
    if (row === undefined || hasEnded(row)) return;
    const labels = await this.labels(id);
    const { open, held } = this.#shown(row);
    const undecided = labels.filter((one) => one.review === null).length;
    const why = [
      open > 0 && `${open} of its slots are open`,
      held > 0 && `${held} work on it`,
      undecided > 0 && `${undecided} of its labels are not reviewed`,
    ].filter((one) => one !== false);
    if (why.length > 0) throw new PawlError("not_allowed", `Sample ${id} cannot be ended yet: ${why.join(", ")}.`);
    const accepted = labels.filter((one) => one.review === "accepted").map((one) => one.value as Json);
    const { form } = await this.#queues.known(row.queue);
    const { consensus, agreement } = accepted.length === 0 ? noLabels : conclude(accepted, form);
    const event =
      consensus === undefined
        ? { event: "close", payload: undefined, actor: row.queue }
        : { event: "agree", payload: { consensus, agreement, changes: null }, actor: row.queue };
    const isStale = await this.#send(row, event, "it has already ended");
    if (isStale) throw new PawlError("busy", `Contention on sample ${id}. Try again.`, { sample: id });
  }

  /** Sends an event to a sample as it was read; true if it has moved since. */
  async #send(
    { id, version: expectedVersion }: SampleRow,
    event: Pick<Parameters<typeof eventFor>[1], "event" | "payload" | "actor" | "idempotency">,
    no: string,
  ): Promise<boolean> {
    const send = eventFor(this.#kernel, { lifecycle: sample, id, expectedVersion, ...event });
    const sent = await this.#verbs.send(send, undefined);
    if (sent.ok) return false;
    if (sent.error.code === "version_conflict") return true;
    if (sent.error.code !== "transition_refused") throw sent.error;
    throw sampleRefuses(id, String(sent.error.details.state), no);
  }

  async #get(id: string): Promise<PostedSample> {
    const row = await this.#read(id);
    if (row === undefined) throw sampleUnknown(id);
    return this.#shown(row);
  }

  /** Only what was posted is found here. */
  async #read(id: string): Promise<SampleRow | undefined> {
    const row = isId(id) ? await readSample(this.#kernel.db, id) : undefined;
    return row !== undefined && dataOf(row).postedBy !== undefined ? row : undefined;
  }

  #shown(row: SampleRow): PostedSample {
    const { postedBy, closesAtMs } = dataOf(row);
    const isOpen = row.state === "open" && closesAtMs > this.#kernel.clock.nowMs();
    return {
      id: row.id,
      queue: row.queue,
      state: row.state as PostedSample["state"],
      postedBy: postedBy.id,
      closesAtMs,
      slots: row.needs,
      open: isOpen ? row.open_slots : 0,
      held: row.held_slots,
    };
  }
}

const noLabels = { consensus: undefined, agreement: null };

function hasEnded({ state }: SampleRow): boolean {
  return state === "agreed" || state === "closed";
}

function dataOf(row: SampleRow): Required<Pick<SampleData, "postedBy" | "closesAtMs">> & SampleData {
  return row.data as Required<SampleData>;
}
