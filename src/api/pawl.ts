import { Access } from "../access/access.ts";
import { driveAlerts } from "../alerts/drive.ts";
import type { AlertSink } from "../alerts/sink.ts";
import { type Duration, durationMs } from "../base/duration.ts";
import { PawlError } from "../base/errors.ts";
import { checkedText } from "../base/text.ts";
import { Crowds } from "../crowd/crowds.ts";
import type { Family } from "../crowd/family.ts";
import { Dead } from "../dead-letters/dead.ts";
import { driveLetters } from "../dead-letters/drive.ts";
import type { LetterSettings } from "../dead-letters/settings.ts";
import { takesPayload } from "../definition/decide/decide.ts";
import { isInternal, refuseInternal } from "../definition/internal.ts";
import type { AnyLifecycle, EventOf } from "../definition/language/face.ts";
import type { Storable } from "../definition/language/storable.ts";
import type { AnyQueue } from "../definition/queue.ts";
import { asPawlError } from "../kernel/errors.ts";
import { eventNames, type PawlEvents } from "../kernel/events.ts";
import type { Kernel } from "../kernel/kernel.ts";
import { publish } from "../kernel/move/publish.ts";
import { refOf } from "../kernel/refs.ts";
import { requestHash } from "../kernel/request-hash.ts";
import { settleWithin } from "../kernel/time-limit.ts";
import type { Send, Sent } from "../kernel/types/send.ts";
import { driveMaintenance, drivePruning } from "../maintenance/drive.ts";
import { maintain } from "../maintenance/round.ts";
import { Outbox } from "../outbox/outbox.ts";
import { Relay } from "../outbox/relay.ts";
import type { RelayOptions } from "../outbox/settings.ts";
import { peopleLifecycles } from "../people/lifecycle/lifecycles.ts";
import { People } from "../people/people.ts";
import type { Tx } from "../store/port/db.ts";
import { logFailure } from "../telemetry/log.ts";
import type { WorkOptions } from "../worker/settings.ts";
import { Worker } from "../worker/work.ts";
import { Looking } from "./instances.ts";
import {
  type CallOptions,
  checkedList,
  checkedOptions,
  delayOf,
  type InstanceRef,
  type PublishOptions,
  type SendArguments,
  type SendItem,
  type SendOptions,
  textOrNull,
} from "./options.ts";
import type { Instance, SendResult } from "./results.ts";

/** What a Pawl stands on. */
interface Surroundings {
  readonly close: () => Promise<void>;
  readonly queues: readonly AnyQueue[];
  readonly families: readonly Family[];
  readonly outbox: RelayOptions | undefined;
  readonly alerts: readonly AlertSink[];
  readonly letters: LetterSettings;
}

/** For a broker, a sink or a marketplace that is closed. */
const closeLimitMs = 30_000;

/**
 * A running Pawl: the verbs by which lifecycles are started, moved and looked at. Made by `createPawl`.
 *
 * ```ts
 * const pawl = await createPawl({ database: process.env.DATABASE_URL, lifecycles: [essay] });
 * await pawl.start(essay, { key: "sub-42", data: { text: "…" } });
 * await pawl.send(essay, "sub-42", "graded", { score: 7 }, { actor: "ada" });
 * ```
 */
export class Pawl extends Looking {
  readonly #surroundings: Surroundings;
  /** People who label: queues, labelers, samples, assignments. */
  readonly people: People;
  /** Crowds: what is asked on marketplaces, and what their workers submit. */
  readonly crowd: Crowds;
  #closed = false;
  readonly #drivers = new Set<{ stop(): Promise<void> }>();
  #keepsHouse = false;
  #closing: Promise<void> | undefined;

  /** @internal Use `createPawl`. */
  constructor(kernel: Kernel, surroundings: Surroundings) {
    super(kernel);
    this.#surroundings = surroundings;
    this.access = new Access(kernel);
    this.outbox = new Outbox(kernel);
    this.dead = new Dead(kernel, this.verbs, surroundings.letters);
    this.people = new People(kernel, this.verbs, surroundings.queues);
    this.crowd = new Crowds(kernel, this.verbs, surroundings.families);
  }

  /** Who may use the HTTP API, the console and the desk. */
  readonly access: Access;

  /** What waits to be sent, what was given up, and what to do about it. */
  readonly outbox: Outbox;

  /** Dead letters in numbers: groups, decisions about many, tickets, archives. */
  readonly dead: Dead;

  /** The lifecycles that this process declares, without Pawl's own. */
  get lifecycles(): readonly AnyLifecycle[] {
    return [...this.kernel.lifecycles.values()].filter(({ name }) => !isInternal(name));
  }

  /**
   * Pawl's own lifecycles: those of samples and assignments where there are queues, and those of each crowd. Their instances
   * can be read like any other, and are changed by the verbs of `pawl.people` and `pawl.crowd` alone.
   */
  get internalLifecycles(): readonly AnyLifecycle[] {
    const all = [...this.kernel.lifecycles.values()].filter(({ name }) => isInternal(name));
    return this.people.inUse ? all : all.filter((one) => !peopleLifecycles.includes(one));
  }

  /** Sends an event. Throws `transition_refused` with every blocker when the instance does not take it. */
  async send<L extends AnyLifecycle, Event extends EventOf<L>>(
    lifecycle: L,
    instance: InstanceRef,
    event: Event,
    ...rest: SendArguments<L, Event>
  ): Promise<Instance<L>> {
    const { payload, options } = this.#split(lifecycle, event, rest);
    return this.verbs.inTurn(options.tx, async () => {
      const sent = await this.verbs.send(this.#sendOf(lifecycle, instance, event, payload, options), options.tx);
      if (!sent.ok) throw sent.error;
      return this.instanceOf(lifecycle, sent.instance);
    });
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
    const answers = (await this.verbs.inTurn(tx, () => this.verbs.sendMany(sends, tx))).values();
    return asked.map((one): SendResult<L> => {
      if (one instanceof PawlError) return { ok: false, error: one };
      const sent: Sent = answers.next().value!;
      return sent.ok ? { ok: true, instance: this.instanceOf(lifecycle, sent.instance) } : sent;
    });
  }

  /**
   * Runs `work` in one transaction and commits it. Pass its `tx` to every call inside. Calls and statements that are made
   * concurrently on one `tx` run one after the other.
   */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    if (typeof work === "function") return this.verbs.transaction(work);
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
    return this.kernel.events.on(name, listener);
  }

  /**
   * Keeps time in this process: fires what is due, runs schedules, readies what was scheduled, gives back what a dead worker
   * held; and, until this Pawl is closed, deletes what has ended and outlived its `keepClosed`. Any number of processes may
   * do so at once. It goes on until `stop`, or until this Pawl is closed.
   */
  maintain(options: { every?: Duration; onFailure?: (error: unknown) => void } = {}): { stop(): Promise<void> } {
    this.#refuseClosed();
    const everyMs = durationMs(options.every ?? "1s", "every");
    const { onFailure } = options;
    const driver = this.#drive((onStopped) => driveMaintenance(this.kernel, { everyMs, onFailure, onStopped }));
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
    const beside = () =>
      outbox === undefined ? [] : [this.relay({ onFailure: outbox.onFailure ?? options.onFailure })];
    const worker = this.#drive((onStopped) => new Worker(this.kernel, maintain, options, { beside, onStopped }));
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
    return this.verbs.inTurn(tx, () => publish(this.kernel, { type, payload, aggregate }, tx));
  }

  /**
   * Sends messages from the outbox in this process, and does nothing else; `work` does so beside the steps. Any number of
   * processes may: the messages of one aggregate are sent by one of them at a time, in their order.
   */
  relay(options: Partial<RelayOptions> = {}): Relay {
    this.#refuseClosed();
    const all = { ...this.#surroundings.outbox, ...options } as RelayOptions;
    return this.#drive((onStopped) => new Relay(this.kernel, all, onStopped));
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
    this.#closing ??= this.#close();
    await this.#closing;
  }

  /** All drivers at once, then what they used, then the database: whatever fails on the way, the rest is closed. */
  async #close(): Promise<void> {
    const { outbox, alerts, families, close } = this.#surroundings;
    const marketplaces = new Set(families.map((family) => family.marketplace));
    const inTime = (what: string, work: () => unknown) => settleWithin(closeLimitMs, what, work);
    const ended = [
      ...(await Promise.allSettled([...this.#drivers].map((driver) => driver.stop()))),
      ...(await Promise.allSettled([
        ...(outbox?.brokers ?? []).map((one) => inTime(`Closing the broker \`${one.name}\``, () => one.close())),
        ...alerts.map((one) => inTime(`Closing the alert sink \`${one.name}\``, () => one.close?.())),
        ...[...marketplaces].map((one) => inTime("Closing a marketplace", () => one.end())),
      ])),
      ...(await Promise.allSettled([close()])),
    ];
    const failures = ended.flatMap((one) => (one.status === "rejected" ? [one.reason as unknown] : []));
    for (const failure of failures) logFailure(this.kernel.telemetry.log, failure);
    if (failures.length > 0) throw failures[0];
  }

  /** Makes a driver that is stopped when this Pawl is closed, and forgotten once it has stopped. */
  #drive<Driver extends { stop(): Promise<void> }>(begin: (onStopped: () => void) => Driver): Driver {
    const driver = begin(() => this.#drivers.delete(driver));
    this.#drivers.add(driver);
    return driver;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #refuseClosed(): void {
    if (this.#closed) throw new PawlError("closed", "This Pawl is closed; create a new one.");
  }

  #sendOf(lifecycle: AnyLifecycle, instance: unknown, event: unknown, payload: unknown, options: SendOptions): Send {
    const { expectedVersion, idempotencyKey } = options;
    if (expectedVersion !== undefined && !Number.isInteger(expectedVersion)) {
      throw new PawlError("option_invalid", "`expectedVersion` must be the version of an instance, a whole number.");
    }
    const delay = delayOf(options);
    const name = checkedText(event, "The event");
    const known = this.known(lifecycle);
    refuseInternal(known.name, "send");
    return {
      lifecycle: known,
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

const itemKeys = ["to", "event", "payload"];
const sendKeys = ["tx", "actor", "reason", "expectedVersion", "idempotencyKey", "after", "at"];
