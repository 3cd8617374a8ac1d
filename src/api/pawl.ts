import { Access } from "../access/access.ts";
import { PawlError } from "../base/errors.ts";
import { checkedOptions, refuseMore } from "../base/options.ts";
import { Crowds } from "../crowd/crowds.ts";
import { DeadLetters } from "../dead-letters/dead-letters.ts";
import type { AllowedEvent } from "../definition/decide/allowed-events.ts";
import { isInternal } from "../definition/internal.ts";
import type { AnyJob } from "../definition/job.ts";
import type { AnyLifecycle, EventOf } from "../definition/language/public-types.ts";
import type { StartOptions } from "../definition/language/step.ts";
import type { Storable } from "../definition/language/storable.ts";
import type { Explanation } from "../inspect/explain/explanation.ts";
import { eventNames, type PawlEvents } from "../kernel/events.ts";
import { type Kernel, refuseInside } from "../kernel/kernel.ts";
import { keepKernel } from "../kernel/kernel-of.ts";
import { publish } from "../kernel/move/publish.ts";
import type { CallOptions, StartCallOptions } from "../kernel/types/call-options.ts";
import { Verbs } from "../kernel/verbs.ts";
import { Outbox } from "../outbox/outbox.ts";
import type { Relay } from "../outbox/relay.ts";
import type { RelayOptions } from "../outbox/settings.ts";
import { peopleLifecycles } from "../people/lifecycle/lifecycles.ts";
import { isPeopleInUse, People } from "../people/people.ts";
import type { Tx } from "../store/port/db.ts";
import { readNow } from "../views/now.ts";
import type { WorkOptions } from "../worker/settings.ts";
import type { Worker } from "../worker/worker.ts";
import type {
  EnqueueArguments,
  EnqueueItem,
  InstanceRef,
  ListOptions,
  PublishOptions,
  ReceiveArguments,
  SendArguments,
  SendItem,
  WaitOptions,
} from "./arguments/options.ts";
import { Receives } from "./arguments/receives.ts";
import { Sends } from "./arguments/sends.ts";
import { Starts } from "./arguments/starts.ts";
import { Breakers } from "./groups/breakers.ts";
import { Callbacks } from "./groups/callbacks.ts";
import { Inspect } from "./groups/inspect.ts";
import { Jobs } from "./groups/jobs.ts";
import { Lanes } from "./groups/lanes.ts";
import { Operations } from "./groups/operations.ts";
import { Schedules } from "./groups/schedules.ts";
import { Workers } from "./groups/workers.ts";
import { Instances } from "./instances.ts";
import { type DriverOptions, Drivers, type MaintainOptions, type Maintenance } from "./open/drivers.ts";
import { operationDeciders } from "./open/operation-deciders.ts";
import { orRefusal } from "./refusal.ts";
import type {
  AttemptEntry,
  Children,
  Instance,
  JournalEntry,
  ReceivedCallback,
  ReceiveResult,
  SendResult,
  StartedInstance,
  StartResult,
} from "./results.ts";

declare global {
  /** For programs without the types of Node and without `lib: ["esnext.disposable"]`. */
  interface SymbolConstructor {
    readonly asyncDispose: unique symbol;
  }
}

/**
 * Starts, moves and reads instances of lifecycles. Create it with `createPawl`.
 *
 * ```ts
 * const pawl = await createPawl({ database: process.env.DATABASE_URL, lifecycles: [essay] });
 * await pawl.start(essay, { key: "sub-42", data: { text: "…" } });
 * await pawl.send(essay, "sub-42", "graded", { score: 7 }, { actor: "ada" });
 * ```
 */
export class Pawl {
  /** Background jobs. */
  readonly jobs: Jobs;
  /** Callbacks of external systems. */
  readonly callbacks: Callbacks;
  /** Dead letters: work that failed permanently and awaits a decision. */
  readonly deadLetters: DeadLetters;
  /** Bulk operations on instances and dead letters. */
  readonly operations: Operations;
  /** Schedules. */
  readonly schedules: Schedules;
  /** Circuit breakers of external dependencies. */
  readonly breakers: Breakers;
  /** Lanes: backlog, pause and resume. */
  readonly lanes: Lanes;
  /** The workers of all processes. */
  readonly workers: Workers;
  /** The outbox: backlog and dead messages. */
  readonly outbox: Outbox;
  /** People: queues, labelers, samples, assignments and labels. */
  readonly people: People;
  /** Crowds: jobs on marketplaces, and submissions of their workers. */
  readonly crowd: Crowds;
  /** Tokens and sessions of the HTTP API, the console and the desk. */
  readonly access: Access;
  /** Reads across all instances: overview, search, counts, metrics, checks. */
  readonly inspect: Inspect;
  readonly #kernel: Kernel;
  readonly #verbs: Verbs;
  readonly #starts: Starts;
  readonly #sends: Sends;
  readonly #receives: Receives;
  readonly #instances: Instances;
  readonly #drivers: Drivers;

  /** @internal Use `createPawl`. */
  constructor(kernel: Kernel, surroundings: DriverOptions) {
    const verbs = new Verbs(kernel);
    this.#kernel = kernel;
    this.#verbs = verbs;
    this.#starts = new Starts(kernel, verbs);
    this.#sends = new Sends(kernel, verbs);
    this.#receives = new Receives(kernel, verbs);
    this.#instances = new Instances(kernel, verbs);
    this.#drivers = new Drivers(kernel, verbs, surroundings);
    this.jobs = new Jobs(kernel, verbs);
    this.callbacks = new Callbacks(kernel, verbs, this.#receives);
    this.deadLetters = new DeadLetters(kernel, verbs, surroundings.letters);
    this.operations = new Operations(kernel, operationDeciders(kernel, verbs));
    this.schedules = new Schedules(kernel);
    this.breakers = new Breakers(kernel);
    this.lanes = new Lanes(kernel);
    this.workers = new Workers(kernel);
    this.outbox = new Outbox(kernel, surroundings.outbox?.brokers ?? []);
    this.people = new People(kernel, verbs, surroundings.queues);
    this.crowd = new Crowds(kernel, verbs, surroundings.families);
    this.access = new Access(kernel);
    this.inspect = new Inspect(kernel);
    keepKernel(this, kernel);
  }

  /** The lifecycles of this process, without internal ones. */
  get lifecycles(): readonly AnyLifecycle[] {
    return [...this.#kernel.lifecycles.values()].filter(({ name }) => !isInternal(name));
  }

  /**
   * Pawl's internal lifecycles: samples and assignments, if there are queues, and crowd jobs. Their instances can be
   * read like any other, but only `pawl.people` and `pawl.crowd` change them.
   */
  get internalLifecycles(): readonly AnyLifecycle[] {
    const all = [...this.#kernel.lifecycles.values()].filter(({ name }) => isInternal(name));
    return isPeopleInUse(this.people) ? all : all.filter((one) => !peopleLifecycles.includes(one));
  }

  /** Starts an instance. An existing key returns its instance, with `created: false`. */
  start<L extends AnyLifecycle>(lifecycle: L, options: StartOptions<L> & StartCallOptions): Promise<StartedInstance<L>>;
  async start<L extends AnyLifecycle>(
    lifecycle: L,
    options: StartOptions<L> & StartCallOptions,
    ...stray: readonly unknown[]
  ): Promise<StartedInstance<L>> {
    refuseMore(stray, "start", startRemedy);
    return this.#starts.start(lifecycle, options);
  }

  /** Like `start`, but returns a refusal as `{ ok: false, error }`. Errors that the caller cannot fix are thrown. */
  tryStart<L extends AnyLifecycle>(lifecycle: L, options: StartOptions<L> & StartCallOptions): Promise<StartResult<L>>;
  async tryStart<L extends AnyLifecycle>(
    lifecycle: L,
    options: StartOptions<L> & StartCallOptions,
    ...stray: readonly unknown[]
  ): Promise<StartResult<L>> {
    refuseMore(stray, "tryStart", startRemedy);
    return orRefusal(async () => ({ ok: true, instance: await this.#starts.start(lifecycle, options) }));
  }

  /**
   * Starts many instances, and returns the results in the order of the items. All items are validated before any is
   * written: an invalid one throws with its index. Without `tx`, they are committed in batches.
   */
  startMany<L extends AnyLifecycle>(
    lifecycle: L,
    items: readonly StartOptions<L>[],
    options?: StartCallOptions,
  ): Promise<StartedInstance<L>[]> {
    return this.#starts.startMany(lifecycle, items, options);
  }

  /**
   * Enqueues a background job. The key of an open job returns that job, with `created: false`.
   *
   * ```ts
   * await pawl.enqueue(sendEmail, { to: "ada@example.com" }, { after: "10m", key: "welcome-ada" });
   * ```
   */
  enqueue<J extends AnyJob>(job: J, ...rest: EnqueueArguments<J>): Promise<StartedInstance<J>> {
    return this.#starts.enqueue(job, ...rest);
  }

  /**
   * Enqueues many jobs, and returns the results in the order of the items. Like `startMany`, it validates all items
   * before any is written.
   */
  enqueueMany<J extends AnyJob>(
    job: J,
    items: readonly EnqueueItem<J>[],
    options?: CallOptions,
  ): Promise<StartedInstance<J>[]> {
    return this.#starts.enqueueMany(job, items, options);
  }

  /** Sends an event to an instance. Throws `transition_refused` with all blockers if the event is not allowed. */
  send<L extends AnyLifecycle, Event extends EventOf<L>>(
    lifecycle: L,
    instance: InstanceRef,
    event: Event,
    ...rest: SendArguments<L, Event>
  ): Promise<Instance<L>> {
    return this.#sends.send(lifecycle, instance, event, ...rest);
  }

  /** Like `send`, but returns a refusal as `{ ok: false, error }`. Errors that the caller cannot fix are thrown. */
  trySend<L extends AnyLifecycle, Event extends EventOf<L>>(
    lifecycle: L,
    instance: InstanceRef,
    event: Event,
    ...rest: SendArguments<L, Event>
  ): Promise<SendResult<L>> {
    return this.#sends.trySend(lifecycle, instance, event, ...rest);
  }

  /**
   * Sends many independent events, and returns the results in the order of the items, refusals among them as values.
   */
  sendMany<L extends AnyLifecycle>(
    lifecycle: L,
    items: readonly SendItem<L>[],
    options?: CallOptions,
  ): Promise<SendResult<L>[]> {
    return this.#sends.sendMany(lifecycle, items, options);
  }

  /**
   * Receives a result from an external system. It is stored first and then applied: as its event; if it is early, once
   * the instance is in a state that accepts it; after the deadline, according to the lifecycle's `late`. A repeated
   * `dedupeKey` returns the first result and changes nothing.
   *
   * ```ts
   * const { accepted, late } = await pawl.receive(essay, "sub-42", "graded", { score: 7 }, { dedupeKey: requestId });
   * ```
   */
  receive<L extends AnyLifecycle, Event extends EventOf<L>>(
    lifecycle: L,
    instance: InstanceRef,
    event: Event,
    ...rest: ReceiveArguments<L, Event>
  ): Promise<ReceivedCallback> {
    return this.#receives.receive(lifecycle, instance, event, ...rest);
  }

  /**
   * Like `receive`, but returns a refusal as `{ ok: false, error }`. A callback that is stored but not applied is not a
   * refusal: it returns `accepted: false`.
   */
  tryReceive<L extends AnyLifecycle, Event extends EventOf<L>>(
    lifecycle: L,
    instance: InstanceRef,
    event: Event,
    ...rest: ReceiveArguments<L, Event>
  ): Promise<ReceiveResult> {
    return orRefusal(async () => ({
      ok: true,
      callback: await this.#receives.receive(lifecycle, instance, event, ...rest),
    }));
  }

  /** Returns an instance, or undefined if it does not exist. */
  get<L extends AnyLifecycle>(
    lifecycle: L,
    instance: InstanceRef,
    options?: CallOptions,
  ): Promise<Instance<L> | undefined> {
    return this.#instances.get(lifecycle, instance, options);
  }

  /**
   * Explains what an instance waits for, since when and until when, what happens next, whether it is stuck and what to
   * do about it, and how it recovers from failures. As data and in sentences; nothing is changed.
   *
   * ```ts
   * const { waitingFor, next, stuck, recovery } = await pawl.explain(essay, "sub-42");
   * ```
   * @throws `instance_unknown`
   */
  explain(lifecycle: AnyLifecycle, instance: InstanceRef): Promise<Explanation> {
    return this.#instances.explain(lifecycle, instance);
  }

  /**
   * Lists the events of the current state: allowed, refused with reasons, or dependent on the payload. Internal
   * instances have none.
   */
  allowedEvents<L extends AnyLifecycle>(
    lifecycle: L,
    instance: InstanceRef,
    options?: CallOptions & { actor?: string },
  ): Promise<AllowedEvent[]> {
    return this.#instances.allowedEvents(lifecycle, instance, options);
  }

  /** Lists the instances of a lifecycle, newest first. */
  list<L extends AnyLifecycle>(lifecycle: L, options?: ListOptions<L>): Promise<Instance<L>[]> {
    return this.#instances.list(lifecycle, options);
  }

  /** Counts the children of an instance's current run by outcome, and lists the first of them. */
  children<L extends AnyLifecycle>(
    lifecycle: L,
    instance: InstanceRef,
    options?: CallOptions & { limit?: number },
  ): Promise<Children> {
    return this.#instances.children(lifecycle, instance, options);
  }

  /** Waits until the instance is in one of these states; without states, until it has ended. */
  wait<L extends AnyLifecycle>(lifecycle: L, instance: InstanceRef, options?: WaitOptions<L>): Promise<Instance<L>> {
    return this.#instances.wait(lifecycle, instance, options);
  }

  /** Lists the moves of an instance, in order. */
  journal(lifecycle: AnyLifecycle, instance: InstanceRef, options?: CallOptions): Promise<JournalEntry[]> {
    return this.#instances.journal(lifecycle, instance, options);
  }

  /** Lists the moves and all attempts of an instance, with worker, start, end and outcome, in order of time. */
  history(
    lifecycle: AnyLifecycle,
    instance: InstanceRef,
    options?: CallOptions,
  ): Promise<(JournalEntry | AttemptEntry)[]> {
    return this.#instances.history(lifecycle, instance, options);
  }

  /** Returns the lifecycle of an instance, if it is registered in this process. */
  lifecycleOf(id: string): Promise<AnyLifecycle | undefined> {
    return this.#instances.lifecycleOf(id);
  }

  /**
   * Runs `work` in one transaction and commits it. Pass its `tx` to every call inside. Concurrent calls and statements
   * on one `tx` run one after the other.
   */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    if (typeof work === "function") return this.#verbs.transaction(work);
    throw new PawlError("option_invalid", "`transaction` needs a function: pawl.transaction(async (tx) => { … }).");
  }

  /**
   * Calls a function for each event of that name that this process commits: `moved`, `failed`, `deadLettered`, `alert`.
   * It is called after the commit, at most once, and cannot slow or break the engine. The same events are published on
   * the diagnostics channels `pawl:moved`, `pawl:failed`, `pawl:deadLettered` and `pawl:alert` of
   * `node:diagnostics_channel`. Moves in a transaction that you commit yourself are not announced; use an `after` hook
   * or the outbox for events that must not be lost.
   *
   * ```ts
   * const off = pawl.on("failed", ({ lifecycle, key, from }) => console.warn(`${lifecycle} ${key} failed in ${from}.`));
   * ```
   * @returns A function that removes the listener.
   */
  on<Name extends keyof PawlEvents>(name: Name, listener: (event: PawlEvents[Name]) => unknown): () => void {
    if (!(eventNames as readonly unknown[]).includes(name) || typeof listener !== "function") {
      const names = eventNames.map((one) => `"${one}"`).join(", ");
      throw new PawlError("option_invalid", `\`on\` needs one of ${names}, and a function.`);
    }
    return this.#kernel.events.on(name, listener);
  }

  /**
   * Inserts a message into the outbox; a relay sends it. With `tx` it exists if and only if your transaction commits.
   * Messages of one aggregate are sent in order, also if several transactions publish, as long as each has locked the
   * aggregate.
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
    const { aggregate, tx } = checkedOptions(options, ["aggregate", "tx"], "publish");
    if (typeof aggregate !== "object" || aggregate === null) {
      throw new PawlError(
        "option_invalid",
        "`publish` needs `aggregate: { type, id }`, the object that the message is about.",
      );
    }
    return this.#verbs.inTurn(tx, () => publish(this.#kernel, { type, payload, aggregate }, tx));
  }

  /**
   * Runs maintenance in this process: fires due timers, runs schedules, readies delayed tasks, recovers expired leases,
   * and deletes ended instances after their `retention`. Any number of processes can run it at once. Continues until
   * `stop`, or until this Pawl is closed.
   */
  maintain(options?: MaintainOptions): Maintenance {
    return this.#drivers.maintain(options);
  }

  /**
   * Runs a worker in this process: claims tasks, runs their steps and reports the results. Any number of processes can
   * run workers at once.
   *
   * ```ts
   * const worker = await pawl.work({ concurrency: 64 });
   * process.once("SIGTERM", () => worker.stop());
   * ```
   */
  work(options?: WorkOptions): Worker {
    return this.#drivers.work(options);
  }

  /**
   * Runs only the outbox relay in this process; `work` runs it, too. Any number of processes can run it: the messages
   * of one aggregate are sent by one process at a time, in order.
   */
  relay(options?: Partial<RelayOptions>): Relay {
    return this.#drivers.relay(options);
  }

  /**
   * Stops the workers, relays and maintenance of this process, and waits for them: running steps may finish, within the grace
   * period of their worker. Calls still work until `close`. From now on, `/ready` answers 503.
   *
   * ```ts
   * process.once("SIGTERM", async () => {
   *   await pawl.drain();
   *   await pawl.close();
   * });
   * ```
   */
  drain(): Promise<void> {
    return this.#drivers.drain();
  }

  /** Closes this Pawl and its connections; later calls throw `closed`. */
  close(): Promise<void> {
    return this.#drivers.close();
  }

  /** Reads the database's time; throws if the database cannot be reached. */
  async ping(): Promise<Date> {
    refuseInside(this.#kernel, "ping");
    return new Date(await readNow(this.#kernel.db));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

const startRemedy = "Pass all options in the second one: start(lifecycle, { key, data, tx, actor, reason }).";
