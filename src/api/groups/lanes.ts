import { PawlError } from "../../base/errors.ts";
import { checkedOptions, textOrNull } from "../../base/options.ts";
import { checkedText } from "../../base/text.ts";
import type { AnyLifecycle } from "../../definition/language/public-types.ts";
import { isRate } from "../../definition/read/read.ts";
import { type Kernel, knownLifecycle, refuseInside } from "../../kernel/kernel.ts";
import { putLimits } from "../../kernel/lanes/lane-limits.ts";
import { type Lane, listLanes } from "../../kernel/lanes/list-lanes.ts";
import { type LaneSelection, pauseLanes, resumeLanes } from "../../kernel/lanes/pause-lanes.ts";
import type { LaneLimits } from "../../store/tasks/lane-limits.ts";
import type { LanesOptions, PauseOptions, PutLimitOptions, ResumeOptions } from "../arguments/options.ts";

/** Lanes of work: `pawl.lanes`. */
export class Lanes {
  readonly #kernel: Kernel;

  /** @internal */
  constructor(kernel: Kernel) {
    this.#kernel = kernel;
  }

  /**
   * Pauses lanes in all processes, within a second: nothing is claimed from them until you resume them. Running steps
   * finish, and waiting ones keep their place.
   *
   * ```ts
   * await pawl.lanes.pause(essay, { state: "grading", reason: "the model answers nonsense", actor: "grace" });
   * ```
   */
  async pause<L extends AnyLifecycle>(lifecycle: L, options: PauseOptions<L>): Promise<void> {
    refuseInside(this.#kernel, "lanes.pause");
    const { reason, actor, ...lanes } = checkedOptions(options, [...lanesKeys, "reason", "actor"], "lanes.pause");
    await pauseLanes(this.#kernel, this.#lanesMeant(lifecycle, lanes), {
      reason: checkedText(reason, "The reason of a pause"),
      actor: textOrNull(actor, "The actor"),
    });
  }

  /** Resumes lanes; returns whether they were paused. A whole lifecycle is resumed with all its lanes. */
  async resume<L extends AnyLifecycle>(lifecycle: L, options: ResumeOptions<L> = {}): Promise<boolean> {
    refuseInside(this.#kernel, "lanes.resume");
    const { reason, actor, ...lanes } = checkedOptions(options, [...lanesKeys, "reason", "actor"], "lanes.resume");
    return resumeLanes(this.#kernel, this.#lanesMeant(lifecycle, lanes), {
      reason: textOrNull(reason, "The reason"),
      actor: textOrNull(actor, "The actor"),
    });
  }

  /**
   * Changes the limit or the rate of a state in all processes, until you change it again; what is left out stays as it is, and
   * null takes it back to the definition. A lower limit holds for every step that begins after this returns, and ends none;
   * a rate, and a higher limit, hold within a second. Returns the limits that hold now. Only limits that the definition
   * declares can be changed. Who changed them, when and why is recorded, and `list` shows it.
   *
   * ```ts
   * await pawl.lanes.putLimit(essay, { state: "grading", limit: 4, reason: "the model is slow", actor: "grace" });
   * ```
   *
   * @throws `option_invalid` when the state declares no such limit.
   */
  async putLimit<L extends AnyLifecycle>(lifecycle: L, options: PutLimitOptions<L>): Promise<LaneLimits> {
    refuseInside(this.#kernel, "lanes.putLimit");
    const keys = ["state", "limit", "rate", "reason", "actor"];
    const { state, limit, rate, reason, actor } = checkedOptions(options, keys, "lanes.putLimit");
    const [limits, rates] = [boundIn(limit, "limit", limitIn), boundIn(rate, "rate", rateIn)];
    if ([limits.total, limits.each, rates.total, rates.each].every((one) => one === undefined))
      throw new PawlError("option_invalid", "`lanes.putLimit` was given nothing to change. Give `limit` or `rate`.");
    return putLimits(
      this.#kernel,
      knownLifecycle(this.#kernel, lifecycle),
      state,
      { limit: limits.total, limitEach: limits.each, rate: rates.total, rateEach: rates.each },
      { reason: textOrNull(reason, "The reason"), actor: textOrNull(actor, "The actor") },
    );
  }

  /**
   * Lists lanes with their backlog, limits, and pauses with reasons. With `internal`, includes empty lanes of internal
   * lifecycles.
   */
  async list(options: { readonly internal?: boolean } = {}): Promise<Lane[]> {
    refuseInside(this.#kernel, "lanes.list");
    const { internal = false } = checkedOptions(options, ["internal"], "lanes.list");
    return listLanes(this.#kernel, { internal });
  }

  #lanesMeant<L extends AnyLifecycle>(lifecycle: L, { state, effects = false }: LanesOptions<L>): LaneSelection {
    return { lifecycle: knownLifecycle(this.#kernel, lifecycle), state, effects };
  }
}

/** A limit or a rate as given: of all, or of all and of each key. */
function boundIn<Value>(
  given: unknown,
  name: string,
  read: (value: unknown, what: string) => Value,
): { readonly total: Value | null | undefined; readonly each: Value | null | undefined } {
  const readOne = (value: unknown, what: string) => (value == null ? (value as null | undefined) : read(value, what));
  if (typeof given !== "object" || given === null) return { total: readOne(given, name), each: undefined };
  const { total, each } = checkedOptions(given as { total?: unknown; each?: unknown }, ["total", "each"], name);
  return { total: readOne(total, `${name}.total`), each: readOne(each, `${name}.each`) };
}

function limitIn(value: unknown, what: string): number {
  if (typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= 1_000_000) return value;
  throw new PawlError(
    "option_invalid",
    `\`${what}\` must be a whole number from 1 to 1,000,000, or null for what the definition says. To stop a lane, pause it.`,
  );
}

function rateIn(value: unknown, what: string): string {
  if (isRate(value)) return value;
  throw new PawlError(
    "option_invalid",
    `\`${what}\` must be a rate such as "100/m", or null for what the definition says.`,
  );
}

const lanesKeys = ["state", "effects"];
