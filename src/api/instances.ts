import { durationMs } from "../base/duration.ts";
import { PawlError } from "../base/errors.ts";
import { checkedLimit, checkedOptions, textOrNull } from "../base/options.ts";
import type { AllowedEvent } from "../definition/decide/allowed-events.ts";
import { isInternal } from "../definition/internal.ts";
import type { AnyLifecycle } from "../definition/language/public-types.ts";
import { explainInstance } from "../inspect/explain/explain-instance.ts";
import type { Explanation } from "../inspect/explain/explanation.ts";
import { findPage } from "../inspect/find-page.ts";
import { withCurrentStateName } from "../kernel/family/children.ts";
import { type Kernel, knownLifecycle, refuseInside } from "../kernel/kernel.ts";
import { snapshotOf } from "../kernel/move/snapshot.ts";
import { waitFor } from "../kernel/move/wait.ts";
import { refOf } from "../kernel/refs.ts";
import type { CallOptions } from "../kernel/types/call-options.ts";
import type { Verbs } from "../kernel/verbs.ts";
import { adoptTx } from "../store/port/foreign-tx.ts";
import { countChildren, readFirstChildren } from "../views/children.ts";
import { readAttempts, readMoves } from "../views/move/history.ts";
import { readProgress } from "../views/tasks/progress.ts";
import { filterOf, filterOptions } from "./arguments/instance-filter.ts";
import { type InstanceRef, idOf, type ListOptions, type WaitOptions } from "./arguments/options.ts";
import { instanceResult, knownStates } from "./instance-result.ts";
import {
  type AttemptEntry,
  type Children,
  entryOf,
  historyOf,
  type Instance,
  type JournalEntry,
  noInstance,
} from "./results.ts";

/** Reads instances and waits for them, for the methods of `Pawl` of the same names. */
export class Instances {
  readonly #kernel: Kernel;
  readonly #verbs: Verbs;

  constructor(kernel: Kernel, verbs: Verbs) {
    this.#kernel = kernel;
    this.#verbs = verbs;
  }

  /** Returns an instance, or undefined if it does not exist. */
  async get<L extends AnyLifecycle>(
    lifecycle: L,
    instance: InstanceRef,
    options: CallOptions = {},
  ): Promise<Instance<L> | undefined> {
    const { tx } = checkedOptions(options, ["tx"], "get");
    return this.#verbs.inTurn(tx, async () => {
      const row = await this.#verbs.read(knownLifecycle(this.#kernel, lifecycle), refOf(instance), tx);
      if (row === undefined) return undefined;
      const found = instanceResult(this.#kernel, lifecycle, snapshotOf(row));
      if (row.outcome !== null) return found;
      const word = await readProgress(tx === undefined ? this.#kernel.db : adoptTx(tx), row.id);
      if (word === undefined) return found;
      return { ...found, progress: { fraction: word.fraction, note: word.note, at: new Date(word.at_ms) } };
    });
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
  async explain(lifecycle: AnyLifecycle, instance: InstanceRef): Promise<Explanation> {
    const row = await this.#verbs.read(knownLifecycle(this.#kernel, lifecycle), refOf(instance), undefined);
    if (row === undefined) throw noInstance(lifecycle, instance);
    return explainInstance(this.#kernel, row);
  }

  /**
   * Lists the events of the current state: allowed, refused with reasons, or dependent on the payload. Internal
   * instances have none.
   */
  async allowedEvents<L extends AnyLifecycle>(
    lifecycle: L,
    instance: InstanceRef,
    options: CallOptions & { actor?: string } = {},
  ): Promise<AllowedEvent[]> {
    const { tx, actor } = checkedOptions(options, ["tx", "actor"], "allowedEvents");
    const row = await this.#verbs.inTurn(tx, () =>
      this.#verbs.read(knownLifecycle(this.#kernel, lifecycle), refOf(instance), tx),
    );
    if (row === undefined) throw noInstance(lifecycle, instance);
    if (isInternal(row.lifecycle)) return [];
    return this.#verbs.allowedEvents(row, textOrNull(actor, "The actor"));
  }

  /** Lists instances of a lifecycle: newest first, or in the order of their keys if `key` is given. */
  async list<L extends AnyLifecycle>(lifecycle: L, options: ListOptions<L> = {}): Promise<Instance<L>[]> {
    const given = checkedOptions(options, ["tx", ...filterOptions, "limit", "after"], "list");
    if (given.tx === undefined) refuseInside(this.#kernel, "list");
    const filter = filterOf(this.#kernel, lifecycle, given);
    const limit = checkedLimit(given.limit ?? 100);
    const afterId = given.after === undefined ? null : idOf(given.after);
    return this.#verbs.inTurn(given.tx, async () => {
      const db = given.tx === undefined ? this.#kernel.db : adoptTx(given.tx);
      const rows = await findPage(db, filter, { afterId, limit });
      return rows.map((row) => instanceResult(this.#kernel, lifecycle, snapshotOf(row)));
    });
  }

  /** Counts the children of an instance's current run by outcome, and lists the first of them. */
  async children<L extends AnyLifecycle>(
    lifecycle: L,
    instance: InstanceRef,
    options: CallOptions & { limit?: number } = {},
  ): Promise<Children> {
    const { tx, limit = 100 } = checkedOptions(options, ["tx", "limit"], "children");
    return this.#verbs.inTurn(tx, async () => {
      const db = tx === undefined ? this.#kernel.db : adoptTx(tx);
      const row = await this.#verbs.read(knownLifecycle(this.#kernel, lifecycle), refOf(instance), tx);
      if (row === undefined) throw noInstance(lifecycle, instance);
      const first = await readFirstChildren(db, row, checkedLimit(limit));
      return {
        ...(await countChildren(db, row)),
        first: first.map((child) => withCurrentStateName(this.#kernel, child)),
      };
    });
  }

  /** Waits until the instance is in one of these states; without states, until it has ended. */
  async wait<L extends AnyLifecycle>(
    lifecycle: L,
    instance: InstanceRef,
    options: WaitOptions<L> = {},
  ): Promise<Instance<L>> {
    const { until, timeout = "60s", signal } = checkedOptions(options, ["until", "timeout", "signal"], "wait");
    const row = await waitFor(this.#kernel, {
      read: () => this.#verbs.read(knownLifecycle(this.#kernel, lifecycle), refOf(instance), undefined),
      missing: () => noInstance(lifecycle, instance),
      until: until === undefined ? undefined : new Set(knownStates(this.#kernel, lifecycle, until)),
      timeoutMs: durationMs(timeout, "timeout"),
      signal: checkedSignal(signal),
    });
    return instanceResult(this.#kernel, lifecycle, snapshotOf(row));
  }

  /** Lists the moves of an instance, in order. */
  async journal(lifecycle: AnyLifecycle, instance: InstanceRef, options: CallOptions = {}): Promise<JournalEntry[]> {
    const { tx } = checkedOptions(options, ["tx"], "journal");
    return this.#verbs.inTurn(tx, async () => {
      const { db, row } = await this.#rowOf(lifecycle, instance, tx);
      return (await readMoves(db, row.id, 0, 100_000)).map(entryOf);
    });
  }

  /** Lists the moves and all attempts of an instance, with worker, start, end and outcome, in order of time. */
  async history(
    lifecycle: AnyLifecycle,
    instance: InstanceRef,
    options: CallOptions = {},
  ): Promise<(JournalEntry | AttemptEntry)[]> {
    const { tx } = checkedOptions(options, ["tx"], "history");
    return this.#verbs.inTurn(tx, async () => {
      const { db, row } = await this.#rowOf(lifecycle, instance, tx);
      const moves = await readMoves(db, row.id, 0, 100_000);
      return historyOf(row.lifecycle, moves, await readAttempts(db, row.id, 100_000));
    });
  }

  async #rowOf(lifecycle: AnyLifecycle, instance: InstanceRef, tx: CallOptions["tx"]) {
    const db = tx === undefined ? this.#kernel.db : adoptTx(tx);
    const row = await this.#verbs.read(knownLifecycle(this.#kernel, lifecycle), refOf(instance), tx);
    if (row === undefined) throw noInstance(lifecycle, instance);
    return { db, row };
  }

  /** Returns the lifecycle of an instance, if it is registered in this process. */
  async lifecycleOf(id: string): Promise<AnyLifecycle | undefined> {
    const name = await this.#verbs.lifecycleOf(refOf({ id }));
    return name === undefined ? undefined : this.#kernel.lifecycles.get(name);
  }
}

function checkedSignal(given: unknown): AbortSignal | undefined {
  if (given === undefined || given instanceof AbortSignal) return given;
  throw new PawlError("option_invalid", "`signal` must be the signal of an AbortController.");
}
