import { type Duration, durationMs } from "../base/duration.ts";
import { PawlError } from "../base/errors.ts";
import { isId } from "../base/ids.ts";
import { checkedText } from "../base/text.ts";
import type { Permission } from "../definition/decide/permissions.ts";
import { isInternal } from "../definition/internal.ts";
import type { AnyLifecycle, StateOf } from "../definition/language/face.ts";
import { countInstances } from "../inspect/counts.ts";
import { type Overview, showOverview, showStanding } from "../inspect/overview.ts";
import { underTodaysName } from "../kernel/family/children.ts";
import { refuseInside } from "../kernel/kernel.ts";
import { lanesOf, purposeOf } from "../kernel/lanes/lanes.ts";
import { snapshotOf } from "../kernel/move/snapshot.ts";
import { waitFor } from "../kernel/move/wait.ts";
import { refOf } from "../kernel/refs.ts";
import { readInstances } from "../store/move/instances.ts";
import { adoptTx } from "../store/port/foreign-tx.ts";
import { countChildren, findChildren, findChildrenInStates, readFirstChildren } from "../views/children.ts";
import { readAttempts, readMoves } from "../views/history.ts";
import { findAll, findFailed, findInStates, findResting } from "../views/instances.ts";
import { findOldestResting, findOldestWorking } from "../views/oldest.ts";
import { readProgress } from "../views/progress.ts";
import { findByKey } from "../views/search.ts";
import { Starting } from "./jobs.ts";
import { type CallOptions, checkedLimit, type FindOptions, type InstanceRef, idOf } from "./options.ts";
import {
  type AttemptEntry,
  type Children,
  entryOf,
  historyOf,
  type Instance,
  type JournalEntry,
  noInstance,
} from "./results.ts";

/** The verbs that look at instances, and wait for them. A part of `Pawl`. */
export abstract class Looking extends Starting {
  /** The instance, or undefined when there is none. */
  async get<L extends AnyLifecycle>(
    lifecycle: L,
    instance: InstanceRef,
    options: CallOptions = {},
  ): Promise<Instance<L> | undefined> {
    return this.verbs.inTurn(options.tx, async () => {
      const row = await this.verbs.read(this.known(lifecycle), refOf(instance), options.tx);
      if (row === undefined) return undefined;
      const found = this.instanceOf(lifecycle, snapshotOf(row));
      if (row.outcome !== null) return found;
      const word = await readProgress(options.tx === undefined ? this.kernel.db : adoptTx(options.tx), row.id);
      if (word === undefined) return found;
      return { ...found, progress: { fraction: word.fraction, note: word.note, at: new Date(word.at_ms) } };
    });
  }

  /** What may be sent now: yes, no with the reasons, or it depends on the payload. Nothing to Pawl's own instances. */
  async permitted<L extends AnyLifecycle>(
    lifecycle: L,
    instance: InstanceRef,
    options: CallOptions & { actor?: string } = {},
  ): Promise<Permission[]> {
    const row = await this.verbs.inTurn(options.tx, () =>
      this.verbs.read(this.known(lifecycle), refOf(instance), options.tx),
    );
    if (row === undefined) throw noInstance(lifecycle, instance);
    if (isInternal(row.lifecycle)) return [];
    return this.verbs.permitted(row, options.actor ?? null);
  }

  /** Instances of a lifecycle, newest first. */
  async find<L extends AnyLifecycle>(lifecycle: L, options: FindOptions<L> = {}): Promise<Instance<L>[]> {
    return this.verbs.inTurn(options.tx, () => this.#find(lifecycle, options));
  }

  async #find<L extends AnyLifecycle>(lifecycle: L, options: FindOptions<L>): Promise<Instance<L>[]> {
    const { states, name } = this.known(lifecycle);
    const db = options.tx === undefined ? this.kernel.db : adoptTx(options.tx);
    if (options.tx === undefined) refuseInside(this.kernel, "find");
    const wanted = options.state === undefined ? undefined : this.#knownStates(lifecycle, options.state);
    const limit = checkedLimit(options.limit ?? 100);
    const beforeId = options.after === undefined ? null : idOf(options.after);
    const failure = options.failure === undefined ? undefined : checkedText(options.failure, "`failure`");
    if (failure !== undefined) {
      if (options.parent !== undefined)
        throw new PawlError("option_invalid", "`find` takes `failure` or `parent`, and not both.");
      const failed = { reason: failure, states: wanted ?? null };
      const found = await findFailed(db, failed, { lifecycle: name, beforeId, limit });
      return found.map((row) => this.instanceOf(lifecycle, snapshotOf(row)));
    }
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

  /** Of the instances that stand in a state, those that were started first: what has been under way longest. */
  async oldest<L extends AnyLifecycle>(
    lifecycle: L,
    state: StateOf<L>,
    options: { limit?: number } = {},
  ): Promise<Instance<L>[]> {
    refuseInside(this.kernel, "oldest");
    const { name, states } = this.known(lifecycle);
    const limit = checkedLimit(options.limit ?? 10);
    const known = this.#knownStates(lifecycle, state);
    const isHere = (lane: string) => {
      const { lifecycle, part } = purposeOf(this.kernel, lane);
      return lifecycle === name && part === `/${state}`;
    };
    const rows =
      states.get(state)?.kind === "work"
        ? await findOldestWorking(this.kernel.db, { lanes: (await lanesOf(this.kernel)).filter(isHere), limit })
        : await findOldestResting(this.kernel.db, { lifecycle: name, states: known, limit });
    return rows.map((row) => this.instanceOf(lifecycle, snapshotOf(row)));
  }

  /** The children of an instance's present run: how many stand how, and the first of them. */
  async children<L extends AnyLifecycle>(
    lifecycle: L,
    instance: InstanceRef,
    options: CallOptions & { limit?: number } = {},
  ): Promise<Children> {
    const { limit = 100 } = options;
    return this.verbs.inTurn(options.tx, async () => {
      const db = options.tx === undefined ? this.kernel.db : adoptTx(options.tx);
      const row = await this.verbs.read(this.known(lifecycle), refOf(instance), options.tx);
      if (row === undefined) throw noInstance(lifecycle, instance);
      const first = await readFirstChildren(db, row, checkedLimit(limit));
      return { ...(await countChildren(db, row)), first: first.map((child) => underTodaysName(this.kernel, child)) };
    });
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

  /** How many instances are in each state, by the names that the states have today. */
  async counts<L extends AnyLifecycle>(lifecycle: L): Promise<Partial<Record<StateOf<L>, number>>> {
    refuseInside(this.kernel, "counts");
    const rows = await countInstances(this.kernel, [this.known(lifecycle).name]);
    return Object.fromEntries(rows.map((row) => [row.state, row.instances])) as Partial<Record<StateOf<L>, number>>;
  }

  /** How everything stands, in a few numbers, and what somebody should look at. It scans no table that grows. */
  async overview(): Promise<Overview> {
    refuseInside(this.kernel, "overview");
    return showOverview(this.kernel);
  }

  /** What a live view follows. @internal */
  standing(ids: readonly string[]): ReturnType<typeof showStanding> {
    return showStanding(this.kernel, ids);
  }

  /**
   * The instance that has this id, or those of all lifecycles whose key begins so; what is the key itself comes first. Of
   * Pawl's own lifecycles only an id finds an instance.
   */
  async search(text: string, options: { limit?: number } = {}): Promise<Instance[]> {
    refuseInside(this.kernel, "search");
    const wanted = checkedText(text, "What is searched for");
    const limit = checkedLimit(options.limit ?? 20);
    const lifecycles = [...this.kernel.lifecycles.keys()];
    const rows = isId(wanted)
      ? (await readInstances(this.kernel.db, [wanted])).filter(({ lifecycle }) => lifecycles.includes(lifecycle))
      : await findByKey(this.kernel.db, {
          lifecycles: lifecycles.filter((name) => !isInternal(name)),
          key: wanted,
          limit,
        });
    return rows.map((row) => this.instanceOf(this.kernel.lifecycles.get(row.lifecycle)!, snapshotOf(row)));
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

  /** All moves of an instance, in their order; with `attempts: true` also every attempt, with its worker, start, end and outcome. */
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
    return this.verbs.inTurn(options.tx, () => this.#journal(lifecycle, instance, options));
  }

  async #journal(
    lifecycle: AnyLifecycle,
    instance: InstanceRef,
    options: CallOptions & { attempts?: boolean },
  ): Promise<(JournalEntry | AttemptEntry)[]> {
    const db = options.tx === undefined ? this.kernel.db : adoptTx(options.tx);
    const row = await this.verbs.read(this.known(lifecycle), refOf(instance), options.tx);
    if (row === undefined) throw noInstance(lifecycle, instance);
    const moves = await readMoves(db, row.id, 0, 100_000);
    if (options.attempts !== true) return moves.map(entryOf);
    return historyOf(row.lifecycle, moves, await readAttempts(db, row.id, 100_000));
  }

  /** The lifecycle that an instance lives through, if it is one of this process. */
  async lifecycleOf(id: string): Promise<AnyLifecycle | undefined> {
    const name = await this.verbs.lifecycleOf(refOf({ id }));
    return name === undefined ? undefined : this.kernel.lifecycles.get(name);
  }
}
