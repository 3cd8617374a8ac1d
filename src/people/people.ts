import { PawlError } from "../base/errors.ts";
import { isId } from "../base/ids.ts";
import { cleanText } from "../base/json.ts";
import { checkedText } from "../base/text.ts";
import type { AnyQueue } from "../definition/queue.ts";
import { type Kernel, refuseInside } from "../kernel/kernel.ts";
import { registerLifecycles } from "../kernel/register.ts";
import type { Verbs } from "../kernel/verbs.ts";
import { type LabelerRow, putLabeler, readAllLabelers } from "../store/labelers.ts";
import { hasQueues } from "../store/queues.ts";
import { assignment } from "./assignment.ts";
import { HandOut, type Next } from "./hand-out.ts";
import { Queues, type RunTimeQueue, type ShownQueue } from "./queues.ts";
import { sample } from "./sample.ts";
import { sampleKeyOf } from "./sample-key.ts";
import { type NewSample, newSamples } from "./samples.ts";
import type { Assignment } from "./shown.ts";
import { type Doing, type Submitted, Work } from "./work.ts";

/** A queue, or its name. */
export type QueueRef = AnyQueue | string;

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

export interface PeopleCallOptions {
  /** A repeated call with the same key and content gets the first answer and changes nothing. */
  readonly idempotencyKey?: string;
}

/**
 * People who label: queues hand out samples, labelers work on them, leads look after it. `pawl.people`.
 *
 * ```ts
 * const pawl = await createPawl({ lifecycles: [], queues: [essays] });
 * await pawl.people.add(essays, { key: "sub-42", data: { text: "…" } });
 *
 * const { assignment, sample } = await pawl.people.next(essays, "ada");   // or null, with the reason why
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
  #isRegistered = false;

  /** @internal */
  constructor(kernel: Kernel, verbs: Verbs, queues: readonly AnyQueue[]) {
    this.#kernel = kernel;
    this.#verbs = verbs;
    this.#queues = new Queues(queues);
    this.#handOut = new HandOut(kernel);
    this.#work = new Work(kernel, verbs, this.#queues);
  }

  /** Whether there are queues: only then are samples and assignments lifecycles like all others. @internal */
  get inUse(): boolean {
    return this.#isRegistered;
  }

  /** Makes queues and lifecycles known to the database, where there are any. @internal */
  async open(): Promise<void> {
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
  async createQueue(name: string, definition: RunTimeQueue): Promise<ShownQueue> {
    this.#refuseInside("createQueue");
    await this.#register();
    return this.#queues.create(this.#kernel.db, name, definition);
  }

  /** Changes some settings of a queue that was made at run time, for what is added and handed out from then on. */
  async updateQueue(queue: QueueRef, changes: Partial<RunTimeQueue>): Promise<ShownQueue> {
    this.#refuseInside("updateQueue");
    return this.#queues.update(this.#kernel.db, nameOf(queue), changes);
  }

  /** Lets an inactive queue hand out samples again. */
  async activateQueue(queue: QueueRef): Promise<ShownQueue> {
    this.#refuseInside("activateQueue");
    return this.#queues.setActive(this.#kernel.db, nameOf(queue), true);
  }

  /** Hands out nothing new from now on. What is in hand can be finished: no work is cancelled. */
  async deactivateQueue(queue: QueueRef): Promise<ShownQueue> {
    this.#refuseInside("deactivateQueue");
    return this.#queues.setActive(this.#kernel.db, nameOf(queue), false);
  }

  /** A queue with its settings. */
  async queue(queue: QueueRef): Promise<ShownQueue> {
    this.#refuseInside("queue");
    return this.#queues.get(this.#kernel.db, nameOf(queue));
  }

  /** All queues, by name. */
  async queues(): Promise<ShownQueue[]> {
    this.#refuseInside("queues");
    return this.#queues.list(this.#kernel.db);
  }

  /** Adds a labeler, or changes what is known of one: what is left out stays as it was. */
  async putLabeler(labeler: {
    id: string;
    name?: string;
    skills?: readonly string[];
    active?: boolean;
  }): Promise<Labeler> {
    this.#refuseInside("putLabeler");
    const { skills = null, active = null, name } = labeler;
    if (skills !== null && !(Array.isArray(skills) && skills.every((one) => typeof one === "string"))) {
      throw new PawlError("option_invalid", "`skills` must be a list of texts.");
    }
    if (active !== null && typeof active !== "boolean") {
      throw new PawlError("option_invalid", "`active` must be true or false.");
    }
    const row = await putLabeler(this.#kernel.db, {
      id: labelerOf(labeler.id),
      name: name === undefined ? null : checkedText(name, "The name of a labeler"),
      skills: skills === null ? null : skills.map((skill) => checkedText(skill, "A skill")),
      active,
    });
    return labelerShown(row);
  }

  /** All labelers that were added. Whoever works on a queue that is open to anyone need not be. */
  async labelers(): Promise<Labeler[]> {
    this.#refuseInside("labelers");
    return (await readAllLabelers(this.#kernel.db)).map(labelerShown);
  }

  /** Adds a sample to a queue. A key that is there already gives back that sample, with `created: false`. */
  async add(queue: QueueRef, given: NewSample, options: AddOptions = {}): Promise<AddedSample> {
    const [added] = await this.addMany(queue, [given], options);
    return added!;
  }

  /** Adds many; all of them are checked before any is written. With `tx` they are part of your own transaction. */
  async addMany(queue: QueueRef, given: readonly NewSample[], options: AddOptions = {}): Promise<AddedSample[]> {
    const known = await this.#queues.known(this.#verbs.reading("people.add", options.tx), nameOf(queue));
    const cause = { actor: textOrNull(options.actor, "The actor"), reason: textOrNull(options.reason, "The reason") };
    const started = await this.#verbs.startMany(await newSamples(this.#kernel, known, given, cause), options.tx);
    return started.map((one) => {
      if (!one.ok) throw one.error;
      const { id, key } = one.instance.model;
      return { id, key: sampleKeyOf(key), created: one.created };
    });
  }

  /**
   * The next piece of work for a labeler: what lies on his desk already, else the best sample that he can have. When there
   * is none, the answer says why: `{ assignment: null, why: { sentence: "… 4 are held by others, 2 you have done." } }`.
   */
  async next(queue: QueueRef, labeler: string): Promise<Next> {
    this.#refuseInside("next");
    return this.#handOut.next(nameOf(queue), labelerOf(labeler));
  }

  /** The labeler begins: from now on the time runs, until the `deadline` of the answer. */
  async start(assignmentId: string, labeler: string, options: PeopleCallOptions = {}): Promise<Assignment> {
    this.#refuseInside("start");
    return this.#work.start(idOf(assignmentId), doingOf(labeler, options));
  }

  /**
   * The labeler hands in a label. One that its queue does not take is refused with `label_invalid` and all that is wrong
   * with it, and the assignment stays in progress. After the deadline it is kept, with `late: true`, for a lead to accept.
   */
  async submit(
    assignmentId: string,
    labeler: string,
    label: unknown,
    options: PeopleCallOptions = {},
  ): Promise<Submitted> {
    this.#refuseInside("submit");
    return this.#work.submit(idOf(assignmentId), label, doingOf(labeler, options));
  }

  /** The labeler does not label it; somebody else gets it. */
  async skip(
    assignmentId: string,
    labeler: string,
    options: PeopleCallOptions & { reason?: string } = {},
  ): Promise<Assignment> {
    this.#refuseInside("skip");
    return this.#work.giveBack(idOf(assignmentId), "skip", doingOf(labeler, options));
  }

  /** The labeler is still at it: its time begins again. */
  async extend(assignmentId: string, labeler: string, options: PeopleCallOptions = {}): Promise<Assignment> {
    this.#refuseInside("extend");
    return this.#work.extend(idOf(assignmentId), doingOf(labeler, options));
  }

  /** A lead takes an assignment back: it expires now, and costs neither its labeler nor its sample a try. */
  async release(
    assignmentId: string,
    options: PeopleCallOptions & { actor: string; reason?: string },
  ): Promise<Assignment> {
    this.#refuseInside("release");
    return this.#work.giveBack(idOf(assignmentId), "release", doingOf(options?.actor, options));
  }

  /** Lets everything in a queue expire whose time is over, and gives back what did. Happens by itself every second, too. */
  async checkExpired(queue: QueueRef): Promise<Assignment[]> {
    this.#refuseInside("checkExpired");
    const { name } = await this.#queues.get(this.#kernel.db, nameOf(queue));
    return this.#work.checkExpired(name);
  }

  /** An assignment as it stands. */
  async assignment(assignmentId: string): Promise<Assignment> {
    this.#refuseInside("assignment");
    return this.#work.read(idOf(assignmentId));
  }

  async #register(): Promise<void> {
    if (this.#isRegistered) return;
    await registerLifecycles(this.#kernel, [sample, assignment]);
    this.#isRegistered = true;
  }

  #refuseInside(verb: string): void {
    refuseInside(this.#kernel, `people.${verb}`);
  }
}

export interface AddOptions {
  /** Your own transaction: the samples are part of it, and come true when you commit. */
  readonly tx?: unknown;
  readonly actor?: string;
  readonly reason?: string;
}

function nameOf(queue: unknown): string {
  const name = typeof queue === "string" ? queue : (queue as { name?: unknown } | null | undefined)?.name;
  if (typeof name === "string" && name !== "") return cleanText(name, 200);
  throw new PawlError("option_invalid", "Say which queue is meant: what queue() returned, or its name.");
}

function idOf(given: unknown): string {
  const id = typeof given === "string" ? given.toLowerCase() : given;
  if (isId(id)) return id;
  throw new PawlError("option_invalid", "Say which assignment is meant, by its id.");
}

function labelerOf(given: unknown): string {
  return checkedText(given, "The labeler");
}

function doingOf(actor: unknown, options: { reason?: string; idempotencyKey?: string } = {}): Doing {
  const { reason, idempotencyKey } = options;
  return {
    actor: checkedText(actor, "Who does it"),
    reason: textOrNull(reason, "The reason"),
    idempotencyKey: idempotencyKey === undefined ? undefined : checkedText(idempotencyKey, "The idempotency key"),
  };
}

function textOrNull(given: unknown, what: string): string | null {
  return given === undefined || given === null ? null : checkedText(given, what);
}

function labelerShown({ id, name, skills, active, created_ms }: LabelerRow): Labeler {
  return { id, name, skills, active, createdAt: new Date(created_ms) };
}
