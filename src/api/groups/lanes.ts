import { checkedOptions, textOrNull } from "../../base/options.ts";
import { checkedText } from "../../base/text.ts";
import type { AnyLifecycle } from "../../definition/language/public-types.ts";
import { type Kernel, knownLifecycle, refuseInside } from "../../kernel/kernel.ts";
import { type Lane, listLanes } from "../../kernel/lanes/list-lanes.ts";
import { type LaneSelection, pauseLanes, resumeLanes } from "../../kernel/lanes/pause-lanes.ts";
import type { LanesOptions, PauseOptions, ResumeOptions } from "../arguments/options.ts";

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

const lanesKeys = ["state", "effects"];
