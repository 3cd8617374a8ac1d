import { PawlError } from "../base/errors.ts";
import type { Json } from "../base/json.ts";
import type { AnyQueue } from "../definition/queue.ts";
import { Batcher } from "../kernel/batcher.ts";
import type { Kernel } from "../kernel/kernel.ts";
import { requestHash } from "../kernel/request-hash.ts";
import type { Send } from "../kernel/types/send.ts";
import type { Snapshot } from "../kernel/types/snapshot.ts";
import type { Verbs } from "../kernel/verbs.ts";
import { checkLabel, labelInvalid } from "./labels/check-label.ts";
import { type AssignmentData, assignment } from "./lifecycle/assignment.ts";
import { startedAssignment } from "./lifecycle/new-assignment.ts";
import { eventFor } from "./lifecycle/sends.ts";
import type { Queues } from "./queues.ts";
import { assignmentUnknown, notTheAssignee, refusalOf, refusedFrom } from "./refusals.ts";
import { type Assignment, assignmentOf, type Label } from "./results.ts";
import { isRight as isRightBy } from "./review/conclude.ts";
import { settle } from "./review/settle.ts";
import { type AssignmentRow, type AssignmentStatus, readAssignments } from "./store/assignments.ts";
import { keepLateLabel, readLabelLike } from "./store/labels.ts";
import { readContents } from "./store/samples.ts";

/** The actor, and the idempotency key of the call. */
export interface Attribution {
  readonly actor: string;
  readonly reason: string | null;
  readonly idempotencyKey: string | undefined;
}

/** The result of a submission. */
export interface Submitted {
  readonly assignment: Assignment;
  readonly label: Pick<Label, "id" | "value" | "at">;
  /** It arrived after the deadline: it is kept, and used only if a lead accepts it. */
  readonly late: boolean;
}

type Found = AssignmentRow & { readonly gold: unknown };

const targets = {
  start: "in_progress",
  submit: "completed",
  skip: "skipped",
  extend: "in_progress",
  release: "expired",
} as const satisfies Record<string, AssignmentStatus>;

const pageSize = 500;

/** Actions of labelers and leads on assignments, each an event of the assignment's lifecycle. */
export class Assignments {
  readonly #kernel: Kernel;
  readonly #verbs: Verbs;
  readonly #queues: Queues;
  readonly #rows: Batcher<string, Found | undefined>;
  readonly #settling: Batcher<string, undefined>;

  constructor(kernel: Kernel, verbs: Verbs, queues: Queues) {
    this.#kernel = kernel;
    this.#verbs = verbs;
    this.#queues = queues;
    this.#rows = new Batcher((ids) => this.#readAll(ids), { maxBatch: pageSize, concurrency: 2 });
    this.#settling = new Batcher((ids) => this.#settleAll(ids), { maxBatch: pageSize, concurrency: 2 });
  }

  async read(id: string): Promise<Assignment> {
    const row = await this.#rows.add(id);
    if (row === undefined) throw assignmentUnknown(id);
    return assignmentOf(row);
  }

  async start(id: string, doing: Attribution): Promise<Assignment> {
    const sent = await this.#send(id, "start", undefined, doing);
    if (sent instanceof PawlError) throw await this.#expiredFirst(id, sent);
    return startedAssignment(sent);
  }

  async extend(id: string, doing: Attribution): Promise<Assignment> {
    const sent = await this.#send(id, "extend", undefined, doing);
    if (sent instanceof PawlError) throw await this.#expiredFirst(id, sent);
    return this.read(id);
  }

  /** Ends an assignment without a label: a skip by its labeler, or a release by a lead. */
  async giveBack(id: string, event: "skip" | "release", doing: Attribution): Promise<Assignment> {
    const sent = await this.#send(id, event, event === "skip" ? { reason: doing.reason } : undefined, doing);
    await this.#settling.add(id);
    if (sent instanceof PawlError) throw sent;
    return this.read(id);
  }

  async submit(id: string, given: unknown, doing: Attribution): Promise<Submitted> {
    const row = await this.#rows.add(id);
    if (row === undefined) throw assignmentUnknown(id);
    if (row.labeler !== doing.actor) throw notTheAssignee(id, doing.actor);
    const queue = await this.#queues.known(row.queue);
    const value = await this.#checked(queue, row, given);
    const labelId = this.#kernel.newId();
    const isRight = row.gold === null ? null : isRightBy(value, row.gold as Json, queue.form);
    const sent = await this.#send(id, "submit", { labelId, label: value, isRight }, doing);
    await this.#settling.add(id);
    if (sent instanceof PawlError) return this.#submitAgain(id, sent, labelId, value);
    const { model, movedAtMs } = sent;
    const label = { id: (model.data as AssignmentData).labelId!, value, at: new Date(movedAtMs) };
    // It was started in the meantime; only the row has the time.
    const before = row.status === "in_progress" ? assignmentOf(row) : await this.read(id);
    const done = { status: "completed", labelId: label.id, completedAt: label.at } as const;
    return { assignment: { ...before, ...done }, label, late: false };
  }

  /** Validates a label and returns what to store. */
  async #checked(queue: AnyQueue, row: AssignmentRow, label: unknown): Promise<Json> {
    const isSeen = queue.validate !== undefined || Object.keys(queue.rules).length > 0;
    const [sample] = isSeen ? await readContents(this.#kernel.db, [row.sample_id]) : [];
    const checked = await checkLabel(queue, { label, sample: sample?.content, labeler: row.labeler });
    if (checked.faults !== undefined) throw labelInvalid(queue, checked.faults);
    return checked.label;
  }

  /** Handles a label for an assignment that is not in progress: a repetition, or a late label. */
  async #submitAgain(id: string, refusal: PawlError, labelId: string, value: Json): Promise<Submitted> {
    const from = refusedFrom(refusal);
    if (from !== "completed" && from !== "expired") throw refusal;
    const valueText = JSON.stringify(value);
    if (from === "expired") await keepLateLabel(this.#kernel.db, { id: labelId, assignmentId: id, valueText });
    const kept = await readLabelLike(this.#kernel.db, id, valueText);
    if (kept?.same !== true) throw refusal;
    const label = { id: kept.id, value: kept.value, at: new Date(kept.at_ms) };
    return { assignment: await this.read(id), label, late: kept.late };
  }

  /** If the time has expired, the sample may have to be settled before the caller gets the result. */
  async #expiredFirst(id: string, refusal: PawlError): Promise<PawlError> {
    if (refusedFrom(refusal) === "expired") await this.#settling.add(id);
    return refusal;
  }

  async #send(
    id: string,
    event: keyof typeof targets,
    payload: unknown,
    doing: Attribution,
  ): Promise<Snapshot | PawlError> {
    const { actor, reason } = doing;
    const idempotency = idempotencyOf(event, payload, doing);
    const send = eventFor(this.#kernel, { lifecycle: assignment, id, event, payload, actor, reason, idempotency });
    const sent = await this.#verbs.send(send, undefined);
    if (sent.ok) return sent.instance;
    const refusal = refusalOf(sent.error, id, actor, targets[event]);
    if (event === "release" || refusedFrom(refusal) === undefined) return refusal;
    // Only its labeler learns the state of an assignment.
    return (await this.#rows.add(id))?.labeler === actor ? refusal : notTheAssignee(id, actor);
  }

  async #readAll(ids: readonly string[]): Promise<(Found | undefined)[]> {
    const rows = new Map((await readAssignments(this.#kernel.db, [...new Set(ids)])).map((row) => [row.id, row]));
    return ids.map((id) => rows.get(id));
  }

  async #settleAll(ids: readonly string[]): Promise<undefined[]> {
    await settle(this.#kernel, [...new Set(ids)]);
    return ids.map(() => undefined);
  }
}

/** Added values, such as the new id of the label, are not part of the request hash. */
function idempotencyOf(event: string, payload: unknown, { idempotencyKey: key }: Attribution): Send["idempotency"] {
  if (key === undefined) return undefined;
  const { labelId: _labelId, isRight: _isRight, ...asked } = (payload ?? {}) as { labelId?: string; isRight?: unknown };
  return { key, hash: requestHash(event, asked, undefined) };
}
