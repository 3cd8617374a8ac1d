import { isId } from "../../base/ids.ts";
import { checkedLimit, checkedOptions } from "../../base/options.ts";
import { checkedText } from "../../base/text.ts";
import { isInternal } from "../../definition/internal.ts";
import type { AnyLifecycle, StateOf } from "../../definition/language/public-types.ts";
import { countInstances } from "../../inspect/counts.ts";
import { countPages, type InstanceCount } from "../../inspect/find-page.ts";
import { readAll } from "../../inspect/gauges.ts";
import { type Overview, showOverview } from "../../inspect/overview.ts";
import { boundsOf, findStuck } from "../../inspect/stuck/find-stuck.ts";
import type { StuckGroup } from "../../inspect/stuck/stuck-group.ts";
import { type VerifyOptions, type Violation, verify } from "../../inspect/verify/verify.ts";
import { findOldestResting, findOldestWorking } from "../../inspect/views/oldest.ts";
import { findByKey } from "../../inspect/views/search.ts";
import { type Kernel, knownLifecycle, refuseInside } from "../../kernel/kernel.ts";
import { currentLaneName, lanesOf } from "../../kernel/lanes/lanes.ts";
import { snapshotOf } from "../../kernel/move/snapshot.ts";
import { readInstances } from "../../store/move/instances.ts";
import { filterOf, filterOptions } from "../arguments/instance-filter.ts";
import type { FilterOptions, StuckOptions } from "../arguments/options.ts";
import { instanceResult, knownStates } from "../instance-result.ts";
import type { Instance } from "../results.ts";

/** Reads across all instances, for operators: `pawl.inspect`. */
export class Inspect {
  readonly #kernel: Kernel;

  /** @internal */
  constructor(kernel: Kernel) {
    this.#kernel = kernel;
  }

  /** Counts instances by state, under the current names of the states. */
  async counts<L extends AnyLifecycle>(lifecycle: L): Promise<Partial<Record<StateOf<L>, number>>> {
    refuseInside(this.#kernel, "inspect.counts");
    const rows = await countInstances(this.#kernel, [knownLifecycle(this.#kernel, lifecycle).name]);
    return Object.fromEntries(rows.map((row) => [row.state, row.instances])) as Partial<Record<StateOf<L>, number>>;
  }

  /**
   * Counts the instances that `pawl.list` finds with the same options. Of a large number only the first 10,000 that an
   * index leads to are read: `more` says that there may be others.
   *
   * ```ts
   * const { count, more } = await pawl.inspect.count(essay, { state: "failed", key: "order-", idleFor: "1h" });
   * ```
   */
  async count<L extends AnyLifecycle>(lifecycle: L, options: FilterOptions<L> = {}): Promise<InstanceCount> {
    refuseInside(this.#kernel, "inspect.count");
    const filter = filterOf(this.#kernel, lifecycle, checkedOptions(options, filterOptions, "inspect.count"));
    return countPages(this.#kernel.db, filter);
  }

  /** Returns key figures and what needs attention. It scans no growing table. */
  async overview(): Promise<Overview> {
    refuseInside(this.#kernel, "inspect.overview");
    return showOverview(this.#kernel);
  }

  /**
   * Lists stuck instances: those that nothing moves until a person acts. They are grouped by reason and by lane, state
   * or queue, each group with one sentence of what to do. The rules are those of `explain`; `stuckAfter` of
   * `createPawl` sets the thresholds. Groups are counted up to 10,000; an instance that is stuck for two reasons is in
   * both groups. The cost does not grow with the number of open instances.
   *
   * ```ts
   * for (const { sentence, instances } of await pawl.inspect.stuck({ limit: 3 })) console.log(sentence, instances);
   * ```
   */
  async stuck(options: StuckOptions = {}): Promise<StuckGroup[]> {
    refuseInside(this.#kernel, "inspect.stuck");
    const { limit = 10 } = checkedOptions(options, ["limit"], "inspect.stuck");
    return findStuck(this.#kernel, boundsOf(checkedLimit(limit)));
  }

  /**
   * Finds the instance with this id, or instances of all lifecycles whose key starts with the text, an exact match
   * first. Internal instances are found only by id.
   */
  async search(text: string, options: { limit?: number } = {}): Promise<Instance[]> {
    refuseInside(this.#kernel, "inspect.search");
    const wanted = checkedText(text, "The search text");
    const { limit: given = 20 } = checkedOptions(options, ["limit"], "inspect.search");
    const limit = checkedLimit(given);
    const lifecycles = [...this.#kernel.lifecycles.keys()];
    const rows = isId(wanted)
      ? (await readInstances(this.#kernel.db, [wanted])).filter(({ lifecycle }) => lifecycles.includes(lifecycle))
      : await findByKey(this.#kernel.db, {
          lifecycles: lifecycles.filter((name) => !isInternal(name)),
          key: wanted,
          limit,
        });
    return rows.map((row) =>
      instanceResult(this.#kernel, this.#kernel.lifecycles.get(row.lifecycle)!, snapshotOf(row)),
    );
  }

  /** Lists the oldest instances of a state. */
  async oldest<L extends AnyLifecycle>(
    lifecycle: L,
    state: StateOf<L>,
    options: { limit?: number } = {},
  ): Promise<Instance<L>[]> {
    refuseInside(this.#kernel, "inspect.oldest");
    const { name, states } = knownLifecycle(this.#kernel, lifecycle);
    const { limit: given = 10 } = checkedOptions(options, ["limit"], "inspect.oldest");
    const limit = checkedLimit(given);
    const known = knownStates(this.#kernel, lifecycle, state);
    const isHere = (lane: string) => {
      const { lifecycle, part } = currentLaneName(this.#kernel, lane);
      return lifecycle === name && part === `/${state}`;
    };
    const rows =
      states.get(state)?.kind === "work"
        ? await findOldestWorking(this.#kernel.db, { lanes: (await lanesOf(this.#kernel)).filter(isHere), limit })
        : await findOldestResting(this.#kernel.db, { lifecycle: name, states: known, limit });
    return rows.map((row) => instanceResult(this.#kernel, lifecycle, snapshotOf(row)));
  }

  /**
   * Returns metrics in Prometheus text format: counters of this process since its start, and current values of the
   * database. It never scans a table.
   */
  async metrics(): Promise<string> {
    refuseInside(this.#kernel, "inspect.metrics");
    const { prometheusText } = await import("../../telemetry/prometheus.ts"); // The library is loaded on first use.
    return prometheusText(await readAll(this.#kernel));
  }

  /**
   * Checks the stored data against Pawl's invariants: one path through the journal, no stale leases, correct counts. It
   * only reads, in small batches, and can run at any time. Returns the violations; an empty list is the good result.
   */
  verify(options: VerifyOptions = {}): Promise<Violation[]> {
    refuseInside(this.#kernel, "inspect.verify");
    return verify(this.#kernel.db, checkedOptions(options, ["batchSize", "limit"], "inspect.verify"));
  }
}
