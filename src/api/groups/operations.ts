import { PawlError } from "../../base/errors.ts";
import { guardListener } from "../../base/guard.ts";
import { storableText } from "../../base/json.ts";
import { causeOf, checkedId, checkedLimit, checkedOptions } from "../../base/options.ts";
import { checkedText } from "../../base/text.ts";
import { payloadOf } from "../../definition/decide/decide.ts";
import { isPlainObject } from "../../definition/decide/move.ts";
import { refuseInternal } from "../../definition/internal.ts";
import type { AnyLifecycle, EventOf } from "../../definition/language/public-types.ts";
import type { LifecycleModel } from "../../definition/model.ts";
import { payloadInvalid } from "../../kernel/errors.ts";
import { type Kernel, knownLifecycle, refuseInside } from "../../kernel/kernel.ts";
import type { BulkEvent } from "../../kernel/move/bulk-events.ts";
import { snapshotOf } from "../../kernel/move/snapshot.ts";
import { pause } from "../../kernel/pause.ts";
import { type InstanceSettings, previewInstances } from "../../operations/instance-operations.ts";
import { type Operation, type OperationPreview, operationOf } from "../../operations/results.ts";
import {
  abortRunningOperation,
  beginOperation,
  type Deciders,
  getOperation,
  knownOperation,
  listOperations,
  mostItems,
  runOneBatch,
} from "../../operations/run-operations.ts";
import { logFailure } from "../../telemetry/log.ts";
import { findMatching, instancesMeant } from "../../views/move/matching-instances.ts";
import {
  type BulkSendArguments,
  checkedRate,
  type OperationFilter,
  type OperationOptions,
  operationFilterOf,
  type PreviewedOperation,
  type RecoverOptions,
} from "../arguments/bulk-options.ts";
import { splitPayload } from "../arguments/sends.ts";
import { instanceResult } from "../instance-result.ts";
import type { Instance } from "../results.ts";

const pollMs = 100;
const exportPage = 200;
const firstId = "00000000-0000-0000-0000-000000000000";
const optionKeys = ["actor", "reason", "rate"];

/**
 * Bulk operations: decides about many instances, lists the progress of operations on instances and dead letters, and
 * runs them in this process. `pawl.operations`.
 *
 * An operation is the list of the instances that match when it begins. The workers of all processes carry it out; each
 * instance is decided at most once, and one that has moved on since is left alone.
 *
 * ```ts
 * const late = { state: "grading", idleFor: "60d" } as const;
 * await pawl.operations.preview(essay, late, { decision: "discard" }); // { instances: 812, outcomes: { discarded: 812 } }
 * const { id } = await pawl.operations.discard(essay, late, { actor: "ada", reason: "last year's", rate: 50 });
 * const { outcomes } = await pawl.operations.run(id); // or leave it to the workers
 * ```
 */
export class Operations {
  readonly #kernel: Kernel;
  readonly #deciders: Deciders;

  /** @internal */
  constructor(kernel: Kernel, deciders: Deciders) {
    this.#kernel = kernel;
    this.#deciders = deciders;
  }

  /**
   * Sends an event to each instance that matches, and to none that has left its state by then.
   *
   * ```ts
   * await pawl.operations.send(essay, { state: "grading" }, "graded", { score: 0 }, { reason: "the term has ended" });
   * ```
   * @throws `option_invalid` for an empty filter, `event_unknown`, `payload_invalid`
   */
  async send<L extends AnyLifecycle, Event extends EventOf<L>>(
    lifecycle: L,
    filter: OperationFilter<L>,
    event: Event,
    ...rest: BulkSendArguments<L, Event>
  ): Promise<Operation> {
    const known = knownLifecycle(this.#kernel, lifecycle);
    const name = checkedText(event, "The event");
    const { payload, options } = splitPayload(known, name, rest, { call: "operations.send", keys: optionKeys });
    const wanted = { decision: "send", event: name, payload } as const;
    return this.#begin(known, filter, wanted, options);
  }

  /**
   * Recovers each failed instance that matches: from where it failed, with changed data if given. A job that ended in
   * error starts over.
   *
   * ```ts
   * await pawl.operations.recover(essay, { state: "failed", failure: "attempts_used_up" }, { actor: "ada", rate: 10 });
   * ```
   */
  async recover<L extends AnyLifecycle>(
    lifecycle: L,
    filter: OperationFilter<L>,
    options: RecoverOptions = {},
  ): Promise<Operation> {
    const known = knownLifecycle(this.#kernel, lifecycle);
    const { data, ...rest } = checkedOptions(options, ["data", ...optionKeys], "operations.recover");
    return this.#begin(known, filter, { decision: "recover", data }, rest);
  }

  /**
   * Starts each instance that matches over, with changed data if given.
   *
   * ```ts
   * await pawl.operations.restart(essay, { state: "failed" }, { data: { model: "v2" }, actor: "ada" });
   * ```
   */
  async restart<L extends AnyLifecycle>(
    lifecycle: L,
    filter: OperationFilter<L>,
    options: RecoverOptions = {},
  ): Promise<Operation> {
    const known = knownLifecycle(this.#kernel, lifecycle);
    const { data, ...rest } = checkedOptions(options, ["data", ...optionKeys], "operations.restart");
    return this.#begin(known, filter, { decision: "restart", data }, rest);
  }

  /**
   * Discards each instance that matches: it ends without a result.
   *
   * ```ts
   * await pawl.operations.discard(essay, { id: ["0199…", "0199…"] }, { actor: "ada", reason: "duplicates" });
   * ```
   */
  async discard<L extends AnyLifecycle>(
    lifecycle: L,
    filter: OperationFilter<L>,
    options: OperationOptions = {},
  ): Promise<Operation> {
    return this.#begin(knownLifecycle(this.#kernel, lifecycle), filter, { decision: "discard" }, options);
  }

  /**
   * Returns what an operation would do at present, with the reasons of those that would refuse it. Changes nothing.
   *
   * ```ts
   * const { instances, outcomes } = await pawl.operations.preview(essay, { state: "failed" }, { decision: "recover" });
   * ```
   */
  async preview<L extends AnyLifecycle>(
    lifecycle: L,
    filter: OperationFilter<L>,
    operation: PreviewedOperation<L>,
  ): Promise<OperationPreview> {
    refuseInside(this.#kernel, "operations.preview");
    const known = knownLifecycle(this.#kernel, lifecycle);
    const keys = ["decision", "event", "payload", "data"];
    const given = checkedOptions(operation as PreviewedOperation & Wanted, keys, "operations.preview");
    if (!decisions.includes(given.decision))
      throw new PawlError("option_invalid", "`preview` takes `decision`: send, recover, restart or discard.");
    const { wanted } = this.#checked(known, given);
    const { filter: which } = operationFilterOf(this.#kernel, known, filter, "operations.preview");
    return previewInstances(this.#kernel, which, { ...wanted, actor: null, reason: null });
  }

  /**
   * Reads all instances that match, oldest first, page by page.
   *
   * ```ts
   * for await (const { key, data } of pawl.operations.export(essay, { state: "done" })) console.log(key, data);
   * ```
   */
  async *export<L extends AnyLifecycle>(
    lifecycle: L,
    filter: OperationFilter<L>,
    options: { after?: { readonly id: string } } = {},
  ): AsyncGenerator<Instance<L>> {
    refuseInside(this.#kernel, "operations.export");
    const { after } = checkedOptions(options, ["after"], "operations.export");
    const known = knownLifecycle(this.#kernel, lifecycle);
    const { filter: which } = operationFilterOf(this.#kernel, known, filter, "operations.export");
    let afterId = after === undefined ? firstId : checkedId(after?.id, "last instance");
    for (;;) {
      const page = await findMatching(this.#kernel.db, which, { afterId, limit: exportPage });
      for (const row of page) yield instanceResult(this.#kernel, lifecycle, snapshotOf(row));
      if (page.length < exportPage) return;
      afterId = page.at(-1)!.id;
    }
  }

  /** Returns an operation with its progress and outcomes; undefined if there is none. */
  async get(id: string): Promise<Operation | undefined> {
    refuseInside(this.#kernel, "operations.get");
    const found = await getOperation(this.#kernel, checkedId(id, "operation"));
    return found === undefined ? undefined : operationOf(found);
  }

  /** Operations, the newest first; those that ended are kept for a month. */
  async list(options: { limit?: number } = {}): Promise<Operation[]> {
    refuseInside(this.#kernel, "operations.list");
    const { limit = 20 } = checkedOptions(options, ["limit"], "operations.list");
    return (await listOperations(this.#kernel, checkedLimit(limit))).map(operationOf);
  }

  /** Runs the next batch of an operation in this process, if its rate allows it now; returns its progress. */
  async runBatch(id: string): Promise<Operation> {
    refuseInside(this.#kernel, "operations.runBatch");
    const operation = checkedId(id, "operation");
    await runOneBatch(this.#kernel, this.#deciders, operation);
    return knownOperation(this.#kernel, operation);
  }

  /** Runs an operation in this process, together with others that do, until it has ended. What `onProgress` throws is logged. */
  async run(
    id: string,
    options: { onProgress?: (operation: Operation) => void; signal?: AbortSignal } = {},
  ): Promise<Operation> {
    const { onProgress, signal } = checkedOptions(options, ["onProgress", "signal"], "operations.run");
    const report = guardListener(onProgress, (error) => logFailure(this.#kernel.telemetry.log, error));
    for (let done = -1; ; ) {
      const operation = await this.runBatch(id);
      report(operation);
      if (operation.status !== "running" || signal?.aborted === true) return operation;
      if (operation.done === done) await pause(pollMs);
      done = operation.done;
    }
  }

  /** Aborts an operation. Decisions already made stay. */
  async abort(id: string, options: { actor?: string; reason?: string } = {}): Promise<Operation> {
    refuseInside(this.#kernel, "operations.abort");
    const by = causeOf(checkedOptions(options, ["actor", "reason"], "operations.abort"));
    const operation = checkedId(id, "operation");
    const isAborted = await abortRunningOperation(this.#kernel, operation, by);
    const { status, ...found } = await knownOperation(this.#kernel, operation);
    if (isAborted) return { status, ...found };
    const how = status === "done" ? "done" : "aborted";
    throw new PawlError("operation_ended", `Operation ${operation} is already ${how}.`, { operation, status });
  }

  async #begin(
    known: LifecycleModel,
    filter: OperationFilter,
    given: Wanted,
    options: OperationOptions,
  ): Promise<Operation> {
    const call = `operations.${given.decision}`;
    refuseInside(this.#kernel, call);
    const { rate, ...by } = checkedOptions(options, optionKeys, call);
    const { wanted, settings } = this.#checked(known, given);
    const { filter: which, text } = operationFilterOf(this.#kernel, known, filter, call);
    const { decision } = wanted;
    const operation = { ...causeOf(by), decision, perSecond: checkedRate(rate), filterText: text, restart: false };
    return beginOperation(
      this.#kernel,
      { ...operation, subject: "instances", settingsText: storableText(settings, `What \`${call}\` sends`) },
      instancesMeant(which, mostItems),
    );
  }

  /** Refuses what no instance could accept, before anything is written. */
  #checked(
    known: LifecycleModel,
    { decision, event, payload, data }: Wanted,
  ): { wanted: Omit<BulkEvent, "actor" | "reason">; settings: InstanceSettings } {
    refuseInternal(known.name, `operations.${decision}`);
    if (decision === "send") {
      const name = checkedText(event, "`event`");
      const isKnown = [...known.states.keys()].some((state) => known.edgesFrom(state, name).length > 0);
      if (!isKnown)
        throw new PawlError("event_unknown", `\`${known.name}\` has no event \`${name}\`.`, { event: name });
      const { faults } = payloadOf(known, { name, payload, actor: null, reason: null });
      if (faults !== undefined) throw payloadInvalid(known, name, faults);
      const settings = payload === undefined ? { event: name } : { event: name, payload };
      return { wanted: { decision, event: name, payload, data: undefined }, settings };
    }
    const wanted = { decision, event: null, payload: undefined };
    if (data === undefined) return { wanted: { ...wanted, data }, settings: {} };
    if (!isPlainObject(data))
      throw new PawlError("option_invalid", "`data` must be an object with the keys to change.");
    const removed = Object.keys(data).filter((key) => data[key] === undefined);
    const set = Object.fromEntries(Object.entries(data).filter(([, value]) => value !== undefined));
    return { wanted: { ...wanted, data }, settings: { data: set, removed } };
  }
}

const decisions: readonly unknown[] = ["send", "recover", "restart", "discard"];

/** An operation as a caller asks for it. */
interface Wanted {
  readonly decision: BulkEvent["decision"];
  readonly event?: string;
  readonly payload?: unknown;
  readonly data?: Readonly<Record<string, unknown>> | undefined;
}
