import { Access } from "../access/access.ts";
import { PawlError } from "../base/errors.ts";
import { checkedOptions, refuseMore } from "../base/options.ts";
import { Crowds } from "../crowd/crowds.ts";
import { DeadLetters } from "../dead-letters/dead-letters.ts";
import { Operations } from "../dead-letters/operations.ts";
import type { Permission } from "../definition/decide/permissions.ts";
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
import { Schedules } from "./groups/schedules.ts";
import { Workers } from "./groups/workers.ts";
import { Instances } from "./instances.ts";
import { Drivers, type MaintainOptions, type Maintenance, type Surroundings } from "./open/drivers.ts";
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

/**
 * A running Pawl: the verbs by which lifecycles are started, moved and looked at. Made by `createPawl`.
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
  /** What came in from outside. */
  readonly callbacks: Callbacks;
  /** Dead letters: what was given up and waits for a decision. */
  readonly deadLetters: DeadLetters;
  /** Decisions about many, and how far they are. */
  readonly operations: Operations;
  /** What is started at set times. */
  readonly schedules: Schedules;
  /** The breakers of outside dependencies. */
  readonly breakers: Breakers;
  /** The lanes in which work waits, and pauses. */
  readonly lanes: Lanes;
  /** The workers of all processes. */
  readonly workers: Workers;
  /** What waits to be sent, what was given up, and what to do about it. */
  readonly outbox: Outbox;
  /** People who label: queues, labelers, samples, assignments. */
  readonly people: People;
  /** Crowds: what is asked on marketplaces, and what their workers submit. */
  readonly crowd: Crowds;
  /** Who may use the HTTP API, the console and the desk. */
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
  constructor(kernel: Kernel, surroundings: Surroundings) {
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
    this.operations = new Operations(kernel, verbs);
    this.schedules = new Schedules(kernel);
    this.breakers = new Breakers(kernel);
    this.lanes = new Lanes(kernel);
    this.workers = new Workers(kernel);
    this.outbox = new Outbox(kernel);
    this.people = new People(kernel, verbs, surroundings.queues);
    this.crowd = new Crowds(kernel, verbs, surroundings.families);
    this.access = new Access(kernel);
    this.inspect = new Inspect(kernel);
    keepKernel(this, kernel);
  }

  /** The lifecycles that this process declares, without Pawl's own. */
  get lifecycles(): readonly AnyLifecycle[] {
    return [...this.#kernel.lifecycles.values()].filter(({ name }) => !isInternal(name));
  }

  /**
   * Pawl's own lifecycles: those of samples and assignments where there are queues, and those of each crowd. Their instances
   * can be read like any other, and are changed by the verbs of `pawl.people` and `pawl.crowd` alone.
   */
  get internalLifecycles(): readonly AnyLifecycle[] {
    const all = [...this.#kernel.lifecycles.values()].filter(({ name }) => isInternal(name));
    return isPeopleInUse(this.people) ? all : all.filter((one) => !peopleLifecycles.includes(one));
  }

  /** Starts an instance. A key that is taken gives back the instance that has it, with `created: false`. */
  start<L extends AnyLifecycle>(lifecycle: L, options: StartOptions<L> & StartCallOptions): Promise<StartedInstance<L>>;
  async start<L extends AnyLifecycle>(
    lifecycle: L,
    options: StartOptions<L> & StartCallOptions,
    ...stray: readonly unknown[]
  ): Promise<StartedInstance<L>> {
    refuseMore(stray, "start", startRemedy);
    return this.#starts.start(lifecycle, options);
  }

  /** Like `start`, but a refusal is a value: `{ ok: false, error }`. What is not the caller's to mend is still thrown. */
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
   * Starts many; each gets its answer in the order given. All of them are checked before any is written: a bad one
   * throws with its place in the list. Without `tx` they are committed in batches.
   */
  startMany<L extends AnyLifecycle>(
    lifecycle: L,
    items: readonly StartOptions<L>[],
    options?: StartCallOptions,
  ): Promise<StartedInstance<L>[]> {
    return this.#starts.startMany(lifecycle, items, options);
  }

  /**
   * Enqueues a background job. A key that an open job has gives back that job, with `created: false`.
   *
   * ```ts
   * await pawl.enqueue(sendEmail, { to: "ada@example.com" }, { after: "10m", key: "welcome-ada" });
   * ```
   */
  enqueue<J extends AnyJob>(job: J, ...rest: EnqueueArguments<J>): Promise<StartedInstance<J>> {
    return this.#starts.enqueue(job, ...rest);
  }

  /** Enqueues many; each gets its answer in the order given. As with `startMany`, all are checked before any is written. */
  enqueueMany<J extends AnyJob>(
    job: J,
    items: readonly EnqueueItem<J>[],
    options?: CallOptions,
  ): Promise<StartedInstance<J>[]> {
    return this.#starts.enqueueMany(job, items, options);
  }

  /** Sends an event. Throws `transition_refused` with every blocker when the instance does not take it. */
  send<L extends AnyLifecycle, Event extends EventOf<L>>(
    lifecycle: L,
    instance: InstanceRef,
    event: Event,
    ...rest: SendArguments<L, Event>
  ): Promise<Instance<L>> {
    return this.#sends.send(lifecycle, instance, event, ...rest);
  }

  /** Like `send`, but a refusal is a value: `{ ok: false, error }`. What is not the caller's to mend is still thrown. */
  trySend<L extends AnyLifecycle, Event extends EventOf<L>>(
    lifecycle: L,
    instance: InstanceRef,
    event: Event,
    ...rest: SendArguments<L, Event>
  ): Promise<SendResult<L>> {
    return this.#sends.trySend(lifecycle, instance, event, ...rest);
  }

  /** Sends many events, each for itself: the answers come in the order given, refusals among them as values. */
  sendMany<L extends AnyLifecycle>(
    lifecycle: L,
    items: readonly SendItem<L>[],
    options?: CallOptions,
  ): Promise<SendResult<L>[]> {
    return this.#sends.sendMany(lifecycle, items, options);
  }

  /**
   * Takes a result that comes in from outside. It is stored first, and then happens: on time as its event; early, when the
   * instance comes to a state that takes it; after the deadline by the lifecycle's `late`. The same `dedupeKey` again gets the
   * first answer and changes nothing.
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
   * Like `receive`, but a refusal is a value: `{ ok: false, error }`. A callback that was stored and does not count is no refusal:
   * its answer says `accepted: false`.
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

  /** The instance, or undefined when there is none. */
  get<L extends AnyLifecycle>(
    lifecycle: L,
    instance: InstanceRef,
    options?: CallOptions,
  ): Promise<Instance<L> | undefined> {
    return this.#instances.get(lifecycle, instance, options);
  }

  /**
   * Explains why an instance does not move: what it waits for, since when and until when, what happens next, whether it is
   * stuck and what to do about it, and how it recovers from failures. As data and in sentences; nothing is changed.
   *
   * ```ts
   * const { waitingFor, next, stuck, recovery } = await pawl.explain(essay, "sub-42");
   * ```
   * @throws `instance_unknown`
   */
  explain(lifecycle: AnyLifecycle, instance: InstanceRef): Promise<Explanation> {
    return this.#instances.explain(lifecycle, instance);
  }

  /** What may be sent now: yes, no with the reasons, or it depends on the payload. Nothing to Pawl's own instances. */
  allowedEvents<L extends AnyLifecycle>(
    lifecycle: L,
    instance: InstanceRef,
    options?: CallOptions & { actor?: string },
  ): Promise<Permission[]> {
    return this.#instances.allowedEvents(lifecycle, instance, options);
  }

  /** Instances of a lifecycle, newest first. */
  list<L extends AnyLifecycle>(lifecycle: L, options?: ListOptions<L>): Promise<Instance<L>[]> {
    return this.#instances.list(lifecycle, options);
  }

  /** The children of an instance's present run: how many stand how, and the first of them. */
  children<L extends AnyLifecycle>(
    lifecycle: L,
    instance: InstanceRef,
    options?: CallOptions & { limit?: number },
  ): Promise<Children> {
    return this.#instances.children(lifecycle, instance, options);
  }

  /** Waits until the instance stands in one of these states (or has ended, when none is named). */
  wait<L extends AnyLifecycle>(lifecycle: L, instance: InstanceRef, options?: WaitOptions<L>): Promise<Instance<L>> {
    return this.#instances.wait(lifecycle, instance, options);
  }

  /** The moves of an instance, in their order. */
  journal(lifecycle: AnyLifecycle, instance: InstanceRef, options?: CallOptions): Promise<JournalEntry[]> {
    return this.#instances.journal(lifecycle, instance, options);
  }

  /** The moves of an instance and every attempt, with its worker, start, end and outcome, in the order of time. */
  history(
    lifecycle: AnyLifecycle,
    instance: InstanceRef,
    options?: CallOptions,
  ): Promise<(JournalEntry | AttemptEntry)[]> {
    return this.#instances.history(lifecycle, instance, options);
  }

  /** The lifecycle that an instance lives through, if it is one of this process. */
  lifecycleOf(id: string): Promise<AnyLifecycle | undefined> {
    return this.#instances.lifecycleOf(id);
  }

  /**
   * Runs `work` in one transaction and commits it. Pass its `tx` to every call inside. Calls and statements that are made
   * concurrently on one `tx` run one after the other.
   */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    if (typeof work === "function") return this.#verbs.transaction(work);
    throw new PawlError("option_invalid", "`transaction` takes a function: pawl.transaction(async (tx) => { … }).");
  }

  /**
   * Calls a function at each event of that name that this process commits: `moved`, `failed`, `deadLettered`, `alert`. It is called
   * after the commit, at most once, and cannot slow or break the engine. The same events are published on the diagnostics channels
   * `pawl:moved`, `pawl:failed`, `pawl:deadLettered` and `pawl:alert` of `node:diagnostics_channel`. Moves in a transaction that you
   * commit yourself are not announced; what must not be missed belongs into an `after` hook or the outbox.
   *
   * ```ts
   * const off = pawl.on("failed", ({ lifecycle, key, from }) => console.warn(`${lifecycle} ${key} failed in ${from}.`));
   * ```
   * @returns A function that removes the listener.
   */
  on<Name extends keyof PawlEvents>(name: Name, listener: (event: PawlEvents[Name]) => unknown): () => void {
    if (!(eventNames as readonly unknown[]).includes(name) || typeof listener !== "function") {
      const names = eventNames.map((one) => `"${one}"`).join(", ");
      throw new PawlError("option_invalid", `\`on\` takes one of ${names}, and a function to call.`);
    }
    return this.#kernel.events.on(name, listener);
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
    const { aggregate, tx } = checkedOptions(options, ["aggregate", "tx"], "publish");
    if (typeof aggregate !== "object" || aggregate === null) {
      throw new PawlError("option_invalid", "`publish` needs `aggregate: { type, id }`: what the message is about.");
    }
    return this.#verbs.inTurn(tx, () => publish(this.#kernel, { type, payload, aggregate }, tx));
  }

  /**
   * Keeps time in this process: fires what is due, runs schedules, readies what was scheduled, gives back what a dead worker
   * held; and, until this Pawl is closed, deletes what has ended and outlived its `retention`. Any number of processes may
   * do so at once. It goes on until `stop`, or until this Pawl is closed.
   */
  maintain(options?: MaintainOptions): Maintenance {
    return this.#drivers.maintain(options);
  }

  /**
   * Runs steps in this process: claims tasks, runs them, reports. Any number of processes may do so at once.
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
   * Sends messages from the outbox in this process, and does nothing else; `work` does so beside the steps. Any number of
   * processes may: the messages of one aggregate are sent by one of them at a time, in their order.
   */
  relay(options?: Partial<RelayOptions>): Relay {
    return this.#drivers.relay(options);
  }

  /** Ends this Pawl: its connections are closed, and every later call throws `closed`. */
  close(): Promise<void> {
    return this.#drivers.close();
  }

  /** Asks the database for its time; throws when it cannot be reached. */
  async ping(): Promise<Date> {
    refuseInside(this.#kernel, "ping");
    return new Date(await readNow(this.#kernel.db));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

const startRemedy = "Everything is given in its second one: start(lifecycle, { key, data, tx, actor, reason }).";
