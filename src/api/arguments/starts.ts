import { PawlError } from "../../base/errors.ts";
import { checkedOptions, textOrNull } from "../../base/options.ts";
import { checkedText } from "../../base/text.ts";
import { refuseMisplacedOptions } from "../../definition/decide/misplaced-options.ts";
import { refuseInternal } from "../../definition/internal.ts";
import type { AnyJob, JobPayloadOf } from "../../definition/job.ts";
import type { AnyLifecycle, StartDataOf } from "../../definition/language/public-types.ts";
import type { StartOptions } from "../../definition/language/step.ts";
import { type Kernel, knownLifecycle } from "../../kernel/kernel.ts";
import type { CallOptions, StartCallOptions } from "../../kernel/types/call-options.ts";
import type { Start } from "../../kernel/types/start.ts";
import type { Verbs } from "../../kernel/verbs.ts";
import { knownJob } from "../groups/jobs.ts";
import { startedInstance } from "../instance-result.ts";
import type { StartedInstance } from "../results.ts";
import { checkedItems, delayOf, type EnqueueArguments, type EnqueueItem, type EnqueueOptions } from "./options.ts";

/** Starts instances and enqueues jobs, for the methods of `Pawl` of the same names. */
export class Starts {
  readonly #kernel: Kernel;
  readonly #verbs: Verbs;

  constructor(kernel: Kernel, verbs: Verbs) {
    this.#kernel = kernel;
    this.#verbs = verbs;
  }

  /** Starts an instance. An existing key returns its instance, with `created: false`. */
  async start<L extends AnyLifecycle>(
    lifecycle: L,
    options: StartOptions<L> & StartCallOptions,
  ): Promise<StartedInstance<L>> {
    const { key, data, ...call } = checkedOptions(options, [...startKeys, ...callKeys], "start");
    return this.#verbs.inTurn(call.tx, async () => {
      const started = await this.#verbs.start(this.#startOf(lifecycle, { key, data }, call), call.tx);
      return startedInstance(this.#kernel, lifecycle, started);
    });
  }

  /**
   * Starts many instances, and returns the results in the order of the items. All items are validated before any is
   * written: an invalid one throws with its index. Without `tx`, they are committed in batches.
   */
  async startMany<L extends AnyLifecycle>(
    lifecycle: L,
    items: readonly StartOptions<L>[],
    options: StartCallOptions = {},
  ): Promise<StartedInstance<L>[]> {
    const call = checkedOptions(options, callKeys, "startMany");
    const requestId = this.#kernel.newId();
    const starts = checkedItems(items, (item) =>
      this.#startOf(lifecycle, checkedOptions(item, startKeys, "startMany"), call, { requestId }),
    );
    const started = await this.#verbs.inTurn(call.tx, () => this.#verbs.startMany(starts, call.tx));
    return started.map((one) => startedInstance(this.#kernel, lifecycle, one));
  }

  /**
   * Enqueues a background job. The key of an open job returns that job, with `created: false`.
   *
   * ```ts
   * await pawl.enqueue(sendEmail, { to: "ada@example.com" }, { after: "10m", key: "welcome-ada" });
   * ```
   */
  async enqueue<J extends AnyJob>(job: J, ...rest: EnqueueArguments<J>): Promise<StartedInstance<J>> {
    const [payload, given] = rest as readonly [JobPayloadOf<J>, EnqueueOptions?];
    const known = [...callKeys, ...jobKeys];
    const options = checkedOptions(given, known, "enqueue");
    if (rest.length === 1) {
      const remedy = "Pass the payload first, or undefined: enqueue(job, undefined, options).";
      refuseMisplacedOptions(payload, known, { schema: job.data, call: "`enqueue`", remedy });
    }
    return this.#verbs.inTurn(options.tx, async () => {
      const started = await this.#verbs.start(this.#enqueueOf(job, { ...options, payload }), options.tx);
      return startedInstance(this.#kernel, job, started);
    });
  }

  /**
   * Enqueues many jobs, and returns the results in the order of the items. Like `startMany`, it validates all items
   * before any is written.
   */
  async enqueueMany<J extends AnyJob>(
    job: J,
    items: readonly EnqueueItem<J>[],
    options: CallOptions = {},
  ): Promise<StartedInstance<J>[]> {
    const { tx } = checkedOptions(options, ["tx"], "enqueueMany");
    const keys = ["payload", "actor", "reason", ...jobKeys];
    const requestId = this.#kernel.newId();
    const starts = checkedItems(items, (item) =>
      this.#enqueueOf(job, checkedOptions(item, keys, "enqueueMany"), requestId),
    );
    const started = await this.#verbs.inTurn(tx, () => this.#verbs.startMany(starts, tx));
    return started.map((one) => startedInstance(this.#kernel, job, one));
  }

  #startOf<L extends AnyLifecycle>(
    lifecycle: L,
    item: { key?: string; data?: StartDataOf<L> },
    options: StartCallOptions,
    { requestId = this.#kernel.newId(), first }: { requestId?: string; first?: Start["first"] } = {},
  ): Start {
    const known = knownLifecycle(this.#kernel, lifecycle);
    refuseInternal(known.name, "start");
    return {
      lifecycle: known,
      key: item.key === undefined || item.key === null ? null : checkedText(item.key, "The key", "key_invalid"),
      data: item.data,
      actor: textOrNull(options.actor, "The actor"),
      reason: textOrNull(options.reason, "The reason"),
      requestId,
      first,
    };
  }

  #enqueueOf<J extends AnyJob>(job: J, item: EnqueueItem<J>, requestId?: string): Start {
    knownJob(this.#kernel, job);
    const { priority } = item;
    if (priority !== undefined && !(Number.isInteger(priority) && Math.abs(priority) <= 1_000_000)) {
      throw new PawlError("option_invalid", "`priority` must be a whole number; lower runs first.");
    }
    const { afterMs, atMs } = delayOf(item) ?? noDelay;
    const first = { afterMs, atMs, priority };
    return this.#startOf(job, { key: item.key, data: item.payload as never }, item, { requestId, first });
  }
}

const noDelay = { afterMs: null, atMs: null };
const callKeys = ["tx", "actor", "reason"];
const startKeys = ["key", "data"];
const jobKeys = ["key", "priority", "after", "at"];
