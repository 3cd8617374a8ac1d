import { driveAlerts } from "./alerts/drive.ts";
import type { AlertSink } from "./alerts/sink.ts";
import { type Duration, durationMs } from "./base/duration.ts";
import { PawlError } from "./base/errors.ts";
import { checkedText } from "./base/text.ts";
import { takesPayload } from "./definition/decide.ts";
import type { AnyLifecycle, EventOf, StartDataOf, StateOf } from "./definition/face.ts";
import type { AnyJob, JobPayloadOf } from "./definition/job.ts";
import type { LifecycleModel } from "./definition/model.ts";
import type { Permission } from "./definition/permissions.ts";
import type { AnyQueue } from "./definition/queue.ts";
import type { StartOptions } from "./definition/step.ts";
import type { Storable } from "./definition/storable.ts";
import {
  type CallOptions,
  checkedItems,
  checkedLimit,
  checkedList,
  checkedOptions,
  delayOf,
  type EnqueueArguments,
  type EnqueueItem,
  type EnqueueOptions,
  type FindOptions,
  type InstanceRef,
  idOf,
  type JobsOptions,
  type PublishOptions,
  type SendArguments,
  type SendItem,
  type SendOptions,
  type StartCallOptions,
  textOrNull,
} from "./given.ts";
import { underTodaysName } from "./kernel/children.ts";
import { asPawlError } from "./kernel/errors.ts";
import { type JobStatus, listJobs, statusOf } from "./kernel/jobs.ts";
import { type Kernel, refuseInside } from "./kernel/kernel.ts";
import { publish } from "./kernel/publish.ts";
import { refOf } from "./kernel/refs.ts";
import { requestHash } from "./kernel/request-hash.ts";
import type { Send, Sent } from "./kernel/send.ts";
import { snapshotOf } from "./kernel/snapshot.ts";
import type { Start } from "./kernel/start.ts";
import { waitFor } from "./kernel/wait.ts";
import { Dead } from "./letters/dead.ts";
import { driveLetters } from "./letters/drive.ts";
import type { LetterSettings } from "./letters/settings.ts";
import { driveMaintenance, drivePruning } from "./maintenance/drive.ts";
import { maintain } from "./maintenance/round.ts";
import { Outbox } from "./outbox/outbox.ts";
import { Relay } from "./outbox/relay.ts";
import type { RelayOptions } from "./outbox/settings.ts";
import { peopleLifecycles } from "./people/lifecycles.ts";
import { People } from "./people/people.ts";
import { Receiving } from "./receiving.ts";
import {
  type AttemptEntry,
  attemptOf,
  type Children,
  comesBefore,
  entryOf,
  type Instance,
  type JournalEntry,
  noInstance,
  type SendResult,
  type StartedInstance,
} from "./shown.ts";
import type { Tx } from "./store/db.ts";
import { adoptTx } from "./store/foreign-tx.ts";
import { countChildren, findChildren, findChildrenInStates, readFirstChildren } from "./views/children.ts";
import { readCounts } from "./views/counts.ts";
import { readAttempts, readMoves } from "./views/history.ts";
import { findAll, findInStates, findResting } from "./views/instances.ts";
import { readProgress } from "./views/progress.ts";
import type { WorkOptions } from "./worker/settings.ts";
import { Worker } from "./worker/work.ts";

/** What a Pawl stands on. */
interface Surroundings {
  readonly close: () => Promise<void>;
  readonly queues: readonly AnyQueue[];
  readonly outbox: RelayOptions | undefined;
  readonly alerts: readonly AlertSink[];
  readonly letters: LetterSettings;
}

/**
 * A running Pawl: the verbs by which lifecycles are started, moved and looked at. Made by `createPawl`.
 *
 * ```ts
 * const pawl = await createPawl({ database: process.env.DATABASE_URL, lifecycles: [essay] });
 * await pawl.start(essay, { key: "sub-42", data: { text: "…" } });
 * await pawl.send(essay, "sub-42", "graded", { score: 7 }, { actor: "ada" });
 * ```
 */
export class Pawl extends Receiving {
  readonly #surroundings: Surroundings;
  /** People who label: queues, labelers, samples, assignments. */
  readonly people: People;
  #closed = false;
  readonly #drivers = new Set<{ stop(): Promise<void> }>();
  #keepsHouse = false;

  /** @internal Use `createPawl`. */
  constructor(kernel: Kernel, surroundings: Surroundings) {
    super(kernel);
    this.#surroundings = surroundings;
    this.outbox = new Outbox(kernel);
    this.dead = new Dead(kernel, this.verbs, surroundings.letters);
    this.people = new People(kernel, this.verbs, surroundings.queues);
  }

  /** What waits to be sent, what was given up, and what to do about it. */
  readonly outbox: Outbox;

  /** Dead letters in numbers: groups, decisions about many, tickets, archives. */
  readonly dead: Dead;

  /** The lifecycles that this process declares; with queues also those of samples and assignments. */
  get lifecycles(): readonly AnyLifecycle[] {
    const all = [...this.kernel.lifecycles.values()];
    return this.people.inUse ? all : all.filter((one) => !peopleLifecycles.includes(one));
  }

  /** Starts an instance. A key that is taken gives back the instance that has it, with `created: false`. */
  async start<L extends AnyLifecycle>(
    lifecycle: L,
    options: StartOptions<L> & StartCallOptions,
  ): Promise<StartedInstance<L>> {
    const { key, data, ...call } = checkedOptions(options, [...startKeys, ...callKeys], "start");
    const started = await this.verbs.start(this.#startOf(lifecycle, { key, data }, call), call.tx);
    return this.startedOf(lifecycle, started);
  }

  /**
   * Starts many; each gets its answer in the order given. All of them are checked before any is written: a bad one
   * throws with its place in the list. Without `tx` they are committed in batches.
   */
  async startMany<L extends AnyLifecycle>(
    lifecycle: L,
    items: readonly StartOptions<L>[],
    options: StartCallOptions = {},
  ): Promise<StartedInstance<L>[]> {
    const call = checkedOptions(options, callKeys, "startMany");
    const requestId = this.kernel.newId();
    const starts = checkedItems(items, (item) =>
      this.#startOf(lifecycle, checkedOptions(item, startKeys, "startMany"), call, { requestId }),
    );
    const started = await this.verbs.startMany(starts, call.tx);
    return started.map((one) => this.startedOf(lifecycle, one));
  }

  /**
   * Enqueues a background job. A key that an open job has gives back that job, with `created: false`.
   *
   * ```ts
   * await pawl.enqueue(sendEmail, { to: "ada@example.com" }, { after: "10m", key: "welcome-ada" });
   * ```
   */
  async enqueue<J extends AnyJob>(job: J, ...rest: EnqueueArguments<J>): Promise<StartedInstance<J>> {
    const [payload, given] = rest as readonly [JobPayloadOf<J>, EnqueueOptions?];
    const options = checkedOptions(given, [...callKeys, ...jobKeys], "enqueue");
    const started = await this.verbs.start(this.#enqueueOf(job, { ...options, payload }), options.tx);
    return this.startedOf(job, started);
  }

  /** Enqueues many; each gets its answer in the order given. As with `startMany`, all are checked before any is written. */
  async enqueueMany<J extends AnyJob>(
    job: J,
    items: readonly EnqueueItem<J>[],
    options: CallOptions = {},
  ): Promise<StartedInstance<J>[]> {
    const { tx } = checkedOptions(options, ["tx"], "enqueueMany");
    const keys = ["payload", "actor", "reason", ...jobKeys];
    const requestId = this.kernel.newId();
    const starts = checkedItems(items, (item) =>
      this.#enqueueOf(job, checkedOptions(item, keys, "enqueueMany"), requestId),
    );
    const started = await this.verbs.startMany(starts, tx);
    return started.map((one) => this.startedOf(job, one));
  }

  /** How a job stands, or undefined when there is none: pending, running, done or error, and how often it was tried. */
  async jobStatus<J extends AnyJob>(job: J, instance: InstanceRef): Promise<JobStatus | undefined> {
    const row = await this.verbs.read(this.#job(job), refOf(instance), undefined);
    if (row === undefined) return undefined;
    return (await statusOf(this.kernel, [row]))[0];
  }

  /** Jobs, newest first: of every kind that this process declares, and in every status, unless told which. */
  async jobs(options: JobsOptions = {}): Promise<JobStatus[]> {
    refuseInside(this.kernel, "jobs");
    const { job, status, limit = 100, after } = checkedOptions(options, ["job", "status", "limit", "after"], "jobs");
    const jobs = job === undefined ? [...this.kernel.lifecycles.values()].filter((one) => one.job) : [this.#job(job)];
    if (status !== undefined && !["pending", "running", "done", "error"].includes(status)) {
      throw new PawlError("option_invalid", "`status` must be pending, running, done or error.");
    }
    const beforeId = after === undefined ? null : idOf(after);
    return listJobs(this.kernel, { jobs, status, limit: checkedLimit(limit), beforeId });
  }

  /** Sends an event. Throws `transition_refused` with every blocker when the instance does not take it. */
  async send<L extends AnyLifecycle, Event extends EventOf<L>>(
    lifecycle: L,
    instance: InstanceRef,
    event: Event,
    ...rest: SendArguments<L, Event>
  ): Promise<Instance<L>> {
    const { payload, options } = this.#split(lifecycle, event, rest);
    const sent = await this.verbs.send(this.#sendOf(lifecycle, instance, event, payload, options), options.tx);
    if (!sent.ok) throw sent.error;
    return this.instanceOf(lifecycle, sent.instance);
  }

  /** Like `send`, but a refusal is a value: `{ ok: false, error }`. What is not the caller's to mend is still thrown. */
  async trySend<L extends AnyLifecycle, Event extends EventOf<L>>(
    lifecycle: L,
    instance: InstanceRef,
    event: Event,
    ...rest: SendArguments<L, Event>
  ): Promise<SendResult<L>> {
    try {
      return { ok: true, instance: await this.send(lifecycle, instance, event, ...rest) };
    } catch (error) {
      if (error instanceof PawlError && error.who === "caller") return { ok: false, error };
      throw error;
    }
  }

  /** Sends many events, each for itself: the answers come in the order given, refusals among them as values. */
  async sendMany<L extends AnyLifecycle>(
    lifecycle: L,
    items: readonly SendItem<L>[],
    options: CallOptions = {},
  ): Promise<SendResult<L>[]> {
    const { tx } = checkedOptions(options, ["tx"], "sendMany");
    const known = this.known(lifecycle);
    const asked = checkedList(items).map((item): Send | PawlError => {
      try {
        const { to, event, payload, ...rest } = checkedOptions(item, [...itemKeys, ...sendKeys], "sendMany");
        return this.#sendOf(known, to, event, payload, rest as SendOptions);
      } catch (error) {
        return asPawlError(error);
      }
    });
    const sends = asked.filter((one): one is Send => !(one instanceof PawlError));
    const answers = (await this.verbs.sendMany(sends, tx)).values();
    return asked.map((one): SendResult<L> => {
      if (one instanceof PawlError) return { ok: false, error: one };
      const sent: Sent = answers.next().value!;
      return sent.ok ? { ok: true, instance: this.instanceOf(lifecycle, sent.instance) } : sent;
    });
  }

  /** The instance, or undefined when there is none. */
  async get<L extends AnyLifecycle>(
    lifecycle: L,
    instance: InstanceRef,
    options: CallOptions = {},
  ): Promise<Instance<L> | undefined> {
    const row = await this.verbs.read(this.known(lifecycle), refOf(instance), options.tx);
    if (row === undefined) return undefined;
    const found = this.instanceOf(lifecycle, snapshotOf(row));
    if (row.outcome !== null) return found;
    const word = await readProgress(options.tx === undefined ? this.kernel.db : adoptTx(options.tx), row.id);
    if (word === undefined) return found;
    return { ...found, progress: { fraction: word.fraction, note: word.note, at: new Date(word.at_ms) } };
  }

  /** What may be sent now: yes, no with the reasons, or it depends on the payload. */
  async permitted<L extends AnyLifecycle>(
    lifecycle: L,
    instance: InstanceRef,
    options: CallOptions & { actor?: string } = {},
  ): Promise<Permission[]> {
    const row = await this.verbs.read(this.known(lifecycle), refOf(instance), options.tx);
    if (row === undefined) throw noInstance(lifecycle, instance);
    return this.verbs.permitted(row, options.actor ?? null);
  }

  /** Instances of a lifecycle, newest first. */
  async find<L extends AnyLifecycle>(lifecycle: L, options: FindOptions<L> = {}): Promise<Instance<L>[]> {
    const { states, name } = this.known(lifecycle);
    const db = options.tx === undefined ? this.kernel.db : adoptTx(options.tx);
    if (options.tx === undefined) refuseInside(this.kernel, "find");
    const wanted = options.state === undefined ? undefined : this.#knownStates(lifecycle, options.state);
    const limit = checkedLimit(options.limit ?? 100);
    const beforeId = options.after === undefined ? null : idOf(options.after);
    if (options.parent !== undefined) {
      const children = { parentId: idOf(options.parent), lifecycle: name, beforeId, limit };
      const found =
        wanted === undefined ? await findChildren(db, children) : await findChildrenInStates(db, wanted, children);
      return found.map((row) => this.instanceOf(lifecycle, snapshotOf(row)));
    }
    const page = { lifecycle: name, beforeId, limit };
    const resting = wanted?.every((state) => states.has(state) && states.get(state)!.kind !== "work");
    const find = resting ? findResting : findInStates;
    const rows = wanted === undefined ? await findAll(db, page) : await find(db, wanted, page);
    return rows.map((row) => this.instanceOf(lifecycle, snapshotOf(row)));
  }

  /** The children of an instance's present run: how many stand how, and the first of them. */
  async children<L extends AnyLifecycle>(
    lifecycle: L,
    instance: InstanceRef,
    options: CallOptions & { limit?: number } = {},
  ): Promise<Children> {
    const { limit = 100 } = options;
    const db = options.tx === undefined ? this.kernel.db : adoptTx(options.tx);
    const row = await this.verbs.read(this.known(lifecycle), refOf(instance), options.tx);
    if (row === undefined) throw noInstance(lifecycle, instance);
    const first = await readFirstChildren(db, row, checkedLimit(limit));
    return { ...(await countChildren(db, row)), first: first.map((child) => underTodaysName(this.kernel, child)) };
  }

  /** States that a caller names, each with the names that it had in earlier versions. */
  #knownStates(lifecycle: AnyLifecycle, given: string | readonly string[]): string[] {
    const { states, renamed, name } = this.known(lifecycle);
    return [given].flat().flatMap((state) => {
      if (states.has(state)) return [state, ...Object.keys(renamed).filter((old) => renamed[old] === state)];
      const known = [...states.keys()].join(", ");
      throw new PawlError("option_invalid", `\`${name}\` has no state \`${String(state)}\`; it has ${known}.`);
    });
  }

  /** How many instances stand in each state. */
  async counts<L extends AnyLifecycle>(lifecycle: L): Promise<Partial<Record<StateOf<L>, number>>> {
    refuseInside(this.kernel, "counts");
    const rows = await readCounts(this.kernel.db, [this.known(lifecycle).name]);
    return Object.fromEntries(rows.map((row) => [row.state, row.instances])) as Partial<Record<StateOf<L>, number>>;
  }

  /** Waits until the instance stands in one of these states (or has ended, when none is named). */
  async wait<L extends AnyLifecycle>(
    lifecycle: L,
    instance: InstanceRef,
    options: { until?: StateOf<L> | readonly StateOf<L>[]; timeout?: Duration; signal?: AbortSignal } = {},
  ): Promise<Instance<L>> {
    const until = options.until === undefined ? undefined : new Set(this.#knownStates(lifecycle, options.until));
    const row = await waitFor(this.kernel, {
      read: () => this.verbs.read(this.known(lifecycle), refOf(instance), undefined),
      missing: () => noInstance(lifecycle, instance),
      until,
      timeoutMs: durationMs(options.timeout ?? "60s", "timeout"),
      signal: options.signal,
    });
    return this.instanceOf(lifecycle, snapshotOf(row));
  }

  /** All moves of an instance, in their order; with `attempts: true` also what was tried without moving it. */
  journal<L extends AnyLifecycle>(
    lifecycle: L,
    instance: InstanceRef,
    options?: CallOptions & { attempts?: false },
  ): Promise<JournalEntry[]>;
  journal<L extends AnyLifecycle>(
    lifecycle: L,
    instance: InstanceRef,
    options: CallOptions & { attempts: true },
  ): Promise<(JournalEntry | AttemptEntry)[]>;
  async journal(
    lifecycle: AnyLifecycle,
    instance: InstanceRef,
    options: CallOptions & { attempts?: boolean } = {},
  ): Promise<(JournalEntry | AttemptEntry)[]> {
    const db = options.tx === undefined ? this.kernel.db : adoptTx(options.tx);
    const row = await this.verbs.read(this.known(lifecycle), refOf(instance), options.tx);
    if (row === undefined) throw noInstance(lifecycle, instance);
    const moves = (await readMoves(db, row.id, 0, 100_000)).map(entryOf);
    if (options.attempts !== true) return moves;
    const attempts = (await readAttempts(db, row.id, 100_000)).map(attemptOf);
    // Moves keep their own order, which is the version; attempts are laid between them by time.
    const history: (JournalEntry | AttemptEntry)[] = [];
    for (const move of moves) {
      while (attempts.length > 0 && comesBefore(attempts[0]!, move)) history.push(attempts.shift()!);
      history.push(move);
    }
    return [...history, ...attempts];
  }

  /** The lifecycle that an instance lives through, if it is one of this process. */
  async lifecycleOf(id: string): Promise<AnyLifecycle | undefined> {
    const name = await this.verbs.lifecycleOf(refOf({ id }));
    return name === undefined ? undefined : this.kernel.lifecycles.get(name);
  }

  /** Runs `work` in one transaction and commits it. Pass its `tx` to every call inside. */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    if (typeof work === "function") return this.verbs.transaction(work);
    throw new PawlError("option_invalid", "`transaction` takes a function: pawl.transaction(async (tx) => { … }).");
  }

  /**
   * Keeps time in this process: fires what is due, runs schedules, readies what was scheduled, gives back what a dead worker
   * held; and, until this Pawl is closed, deletes what has ended and outlived its `keepClosed`. Any number of processes may
   * do so at once. It goes on until `stop`, or until this Pawl is closed.
   */
  maintain(options: { every?: Duration; onFailure?: (error: unknown) => void } = {}): { stop(): Promise<void> } {
    this.#refuseClosed();
    const driver = driveMaintenance(this.kernel, {
      everyMs: durationMs(options.every ?? "1s", "every"),
      onFailure: options.onFailure ?? (() => {}),
    });
    this.#drivers.add(driver);
    this.#keepHouse();
    return driver;
  }

  /**
   * Runs steps in this process: claims tasks, runs them, reports. Any number of processes may do so at once.
   *
   * ```ts
   * const worker = await pawl.work({ concurrency: 64 });
   * process.once("SIGTERM", () => worker.stop());
   * ```
   */
  work(options: WorkOptions = {}): Worker {
    this.#refuseClosed();
    const { outbox } = this.#surroundings;
    const beside = outbox === undefined ? [] : [this.relay({ onFailure: outbox.onFailure ?? options.onFailure })];
    const worker = new Worker(this.kernel, maintain, options, { beside });
    this.#drivers.add(worker);
    this.#keepHouse();
    return worker;
  }

  /**
   * Puts a message into the outbox; a relay sends it. With `tx` it is there if and only if your transaction commits. Those
   * about one aggregate are sent in their order, also when several transactions publish, as long as each has locked what it
   * publishes about.
   *
   * ```ts
   * await pawl.publish("grading.request", { text }, { aggregate: { type: "submission", id: "42" }, tx });
   * ```
   */
  async publish<Payload>(
    type: string,
    payload: Payload & Storable<Payload>,
    options: PublishOptions,
  ): Promise<{ id: string }> {
    const { aggregate, tx } = checkedOptions(options, ["aggregate", "tx"], `publish of \`${String(type)}\``);
    if (typeof aggregate !== "object" || aggregate === null) {
      throw new PawlError("option_invalid", "`publish` needs `aggregate: { type, id }`: what the message is about.");
    }
    return publish(this.kernel, { type, payload, aggregate }, tx);
  }

  /**
   * Sends messages from the outbox in this process, and does nothing else; `work` does so beside the steps. Any number of
   * processes may: the messages of one aggregate are sent by one of them at a time, in their order.
   */
  relay(options: Partial<RelayOptions> = {}): Relay {
    this.#refuseClosed();
    const relay = new Relay(this.kernel, { ...this.#surroundings.outbox, ...options } as RelayOptions);
    this.#drivers.add(relay);
    return relay;
  }

  /**
   * Whoever keeps time here also deletes what has outlived its retention, tells alerts and looks after dead letters; once is
   * enough for a process.
   */
  #keepHouse(): void {
    if (this.#keepsHouse) return;
    this.#keepsHouse = true;
    const { alerts, letters } = this.#surroundings;
    this.#drivers.add(drivePruning(this.kernel, { keepsLetters: letters.archive !== undefined }));
    for (const driver of driveLetters(this.kernel, this.verbs, letters)) this.#drivers.add(driver);
    if (alerts.length > 0) this.#drivers.add(driveAlerts(this.kernel, alerts));
  }

  /** Ends this Pawl: its connections are closed, and every later call throws `closed`. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const driver of this.#drivers) await driver.stop();
    for (const broker of this.#surroundings.outbox?.brokers ?? []) await broker.close();
    for (const sink of this.#surroundings.alerts) await sink.close?.();
    await this.#surroundings.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #refuseClosed(): void {
    if (this.#closed) throw new PawlError("closed", "This Pawl is closed; create a new one.");
  }

  #job(job: AnyLifecycle): LifecycleModel {
    const known = this.known(job);
    if (known.job) return known;
    throw new PawlError("option_invalid", `\`${job.name}\` is a lifecycle, not a job: start it with pawl.start().`);
  }

  #startOf<L extends AnyLifecycle>(
    lifecycle: L,
    item: { key?: string; data?: StartDataOf<L> },
    options: StartCallOptions,
    { requestId = this.kernel.newId(), first }: { requestId?: string; first?: Start["first"] } = {},
  ): Start {
    return {
      lifecycle: this.known(lifecycle),
      key: item.key === undefined || item.key === null ? null : checkedText(item.key, "The key", "key_invalid"),
      data: item.data,
      actor: textOrNull(options.actor, "The actor"),
      reason: textOrNull(options.reason, "The reason"),
      requestId,
      first,
    };
  }

  #enqueueOf<J extends AnyJob>(job: J, item: EnqueueItem<J>, requestId?: string): Start {
    this.#job(job);
    const { priority } = item;
    if (priority !== undefined && !(Number.isInteger(priority) && Math.abs(priority) <= 1_000_000)) {
      throw new PawlError("option_invalid", "`priority` must be a whole number; lower runs sooner.");
    }
    const { afterMs, atMs } = delayOf(item) ?? noDelay;
    const first = { afterMs, atMs, priority };
    return this.#startOf(job, { key: item.key, data: item.payload as never }, item, { requestId, first });
  }

  #sendOf(lifecycle: AnyLifecycle, instance: unknown, event: unknown, payload: unknown, options: SendOptions): Send {
    const { expectedVersion, idempotencyKey } = options;
    if (expectedVersion !== undefined && !Number.isInteger(expectedVersion)) {
      throw new PawlError("option_invalid", "`expectedVersion` must be the version of an instance, a whole number.");
    }
    const delay = delayOf(options);
    const name = checkedText(event, "The event");
    return {
      lifecycle: this.known(lifecycle),
      ref: refOf(instance),
      event: name,
      payload,
      actor: textOrNull(options.actor, "The actor"),
      reason: textOrNull(options.reason, "The reason"),
      expectedVersion,
      idempotency:
        idempotencyKey === undefined
          ? undefined
          : { key: checkedText(idempotencyKey, "The idempotency key"), hash: requestHash(name, payload, delay) },
      delay,
      requestId: this.kernel.newId(),
    };
  }

  /** An event without a payload takes its options at once. */
  #split(lifecycle: AnyLifecycle, event: string, rest: readonly unknown[]): { payload: unknown; options: SendOptions } {
    const [payload, options] =
      takesPayload(this.known(lifecycle), event) || rest.length > 1 ? rest : [undefined, rest[0]];
    return { payload, options: checkedOptions(options as SendOptions, sendKeys, `send of \`${String(event)}\``) };
  }
}

const noDelay = { afterMs: null, atMs: null };
const callKeys = ["tx", "actor", "reason"];
const startKeys = ["key", "data"];
const jobKeys = ["key", "priority", "after", "at"];
const itemKeys = ["to", "event", "payload"];
const sendKeys = [...callKeys, "expectedVersion", "idempotencyKey", "after", "at"];
