import { checkedOptions, textOrNull } from "../../base/options.ts";
import { checkedText } from "../../base/text.ts";
import type { AnyLifecycle } from "../../definition/language/public-types.ts";
import { type Kernel, knownLifecycle, refuseInside } from "../../kernel/kernel.ts";
import { type Lane, listLanes } from "../../kernel/lanes/list-lanes.ts";
import { type LaneSelection, pauseLanes, resumeLanes } from "../../kernel/lanes/pause-lanes.ts";
import type { LanesOptions, PauseOptions, ResumeOptions } from "../arguments/options.ts";

/** The lanes in which work waits: `pawl.lanes`. */
export class Lanes {
  readonly #kernel: Kernel;

  /** @internal */
  constructor(kernel: Kernel) {
    this.#kernel = kernel;
  }

  /**
   * Stops work in all processes, within a second: nothing is claimed from these lanes until they are resumed. What runs is
   * let finish, and what waits keeps its place.
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

  /** Lets work go on; tells whether it was paused. A whole lifecycle is resumed with all its parts. */
  async resume<L extends AnyLifecycle>(lifecycle: L, options: ResumeOptions<L> = {}): Promise<boolean> {
    refuseInside(this.#kernel, "lanes.resume");
    const { reason, actor, ...lanes } = checkedOptions(options, [...lanesKeys, "reason", "actor"], "lanes.resume");
    return resumeLanes(this.#kernel, this.#lanesMeant(lifecycle, lanes), {
      reason: textOrNull(reason, "The reason"),
      actor: textOrNull(actor, "The actor"),
    });
  }

  /**
   * The lanes in which work waits: how much there is in each, what holds it back, and why it is closed if it is. With
   * `internal` also those of Pawl's own lifecycles that are empty.
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
