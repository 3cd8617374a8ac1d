import { PawlError } from "../../base/errors.ts";
import type { LifecycleModel } from "../../definition/model.ts";
import { endPauses, type PauseRow, putPause, readPauses } from "../../store/tasks/pauses.ts";
import type { Kernel } from "../kernel.ts";
import { closedLanesTopic } from "./closed-lanes.ts";
import { workingStates } from "./lanes.ts";

/** Selects lanes: all of a lifecycle, those of one state, or those of its after-effects; of every version. */
export interface LaneSelection {
  readonly lifecycle: LifecycleModel;
  readonly state: string | undefined;
  readonly effects: boolean;
}

/** Pauses lanes: nothing more is claimed from them, and running tasks may finish. */
export async function pauseLanes(
  kernel: Kernel,
  meant: LaneSelection,
  by: { reason: string; actor: string | null },
): Promise<PauseRow> {
  const { lifecycle } = meant;
  const pause = await putPause(kernel.db, { lifecycle: lifecycle.name, part: partOf(meant), ...by });
  kernel.signals.hint(closedLanesTopic);
  return pause;
}

/** Resumes lanes; returns whether any was paused. A lifecycle is resumed with all its parts. */
export async function resumeLanes(
  kernel: Kernel,
  meant: LaneSelection,
  by: { reason: string | null; actor: string | null },
): Promise<boolean> {
  const { name } = meant.lifecycle;
  const part = partOf(meant);
  const ended = await endPauses(kernel.db, { lifecycle: name, part: part === "" ? null : part, ...by });
  if (ended.length > 0) kernel.signals.hint(closedLanesTopic);
  const whole = part !== "" && (await readPauses(kernel.db)).some((one) => one.lifecycle === name && one.part === "");
  if (!whole) return ended.length > 0;
  throw new PawlError(
    "option_invalid",
    `\`${name}\` is paused as a whole. Resume it as a whole, and then pause the parts that should stay paused.`,
    { lifecycle: name },
  );
}

function partOf({ lifecycle, state, effects }: LaneSelection): string {
  if (effects && state !== undefined)
    throw new PawlError("option_invalid", "Give `state` or `effects`, not both: effects belong to no state.");
  if (effects) return ":after";
  if (state === undefined) return "";
  // A job has one lane, which both of its names select.
  const working = workingStates(lifecycle);
  if (working.includes(state)) return lifecycle.job ? "" : `/${state}`;
  throw new PawlError(
    "option_invalid",
    `\`${lifecycle.name}\` has no state \`${String(state)}\` that works; ${working.length === 0 ? "none does" : `these do: ${working.join(", ")}`}.`,
    { lifecycle: lifecycle.name, state },
  );
}
