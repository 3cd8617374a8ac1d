import { PawlError } from "../../base/errors.ts";
import {
  effectLaneOf,
  failed,
  hasEffects,
  type LaneName,
  type LifecycleModel,
  laneOf,
  readLane,
  sendLaneOf,
} from "../../definition/model.ts";
import { readDefinitions } from "../../store/definitions.ts";
import type { Kernel } from "../kernel.ts";

/**
 * The lanes that this process can serve: of its own definitions, and of older versions of them whose work it can do (the
 * state still works, or has a new name that does).
 */
export async function lanesOf(kernel: Kernel): Promise<string[]> {
  const lanes = new Set<string>();
  for (const known of await readDefinitions(kernel.db, [...kernel.lifecycles.keys()])) {
    const lifecycle = kernel.lifecycles.get(known.name)!;
    if (known.version > lifecycle.version) continue;
    if (hasEffects(lifecycle)) lanes.add(effectLaneOf(known));
    lanes.add(sendLaneOf(known));
    if (known.shape.recovers === true && lifecycle.builtIns) lanes.add(laneOf(known, failed));
    for (const { name, kind } of known.shape.states)
      if (kind === "work" && canRun(lifecycle, name)) lanes.add(laneOf(known, name));
  }
  return [...lanes];
}

function canRun(lifecycle: LifecycleModel, state: string): boolean {
  return lifecycle.states.get(lifecycle.renamed[state] ?? state)?.kind === "work";
}

/** The states in which workers have something to do: those that work, and `failed` where instances recover by themselves. */
export function workingStates({ states, recovery, builtIns }: LifecycleModel): string[] {
  const working = [...states.values()].filter((state) => state.kind === "work").map((state) => state.name);
  return recovery !== undefined && builtIns ? [...working, failed] : working;
}

/** The lifecycle and the part of a lane, by current names. */
export function currentLaneName(kernel: Kernel, lane: string): LaneName {
  const { lifecycle, version, part } = readLane(lane)!;
  const known = kernel.lifecycles.get(lifecycle);
  const renamed = part.startsWith("/") ? known?.renamed[part.slice(1)] : undefined;
  return { lifecycle, version, part: renamed === undefined ? part : `/${renamed}` };
}

/**
 * The lanes of a worker, from its `lanes` option: `essay` for all of a lifecycle, `essay/grading` for a state,
 * `essay:after` for its after-effects, `essay:send` for events to other instances. Refuses unknown names.
 */
export function laneFilter(kernel: Kernel, lanes: readonly string[] | undefined): (lane: string) => boolean {
  if (lanes === undefined) return () => true;
  const names = new Set(lanes.map((name) => checkedPurpose(kernel, name)));
  return (lane) => {
    const { lifecycle, part } = currentLaneName(kernel, lane);
    return names.has(lifecycle) || names.has(`${lifecycle}${part}`);
  };
}

function checkedPurpose(kernel: Kernel, name: unknown): string {
  const read = typeof name === "string" ? readLane(name) : undefined;
  const lifecycle = kernel.lifecycles.get(read?.lifecycle ?? "");
  const isState = read?.part.startsWith("/") === true;
  const works = lifecycle !== undefined && (!isState || workingStates(lifecycle).includes(read.part.slice(1)));
  if (read !== undefined && works) return `${read.lifecycle}${read.part}`;
  throw new PawlError(
    "option_invalid",
    `\`lanes\` names "${String(name)}", and nothing of that name works here. Write lifecycle, lifecycle/state, lifecycle:after or lifecycle:send.`,
  );
}
