import { readLane } from "../../definition/model.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import { isLive } from "../../kernel/tasks/workers.ts";
import { readDefinitions } from "../../store/definitions.ts";
import { readWorkers } from "../../views/tasks/workers.ts";

/** A state of a lifecycle of this process that its own definition does not have. */
export interface UndeclaredState {
  readonly lifecycle: string;
  readonly state: string;
}

/** Who has ended stays where it ended, and a step that no worker can run waits in a lane that none serves. */
const isOfOtherKind = (kind: string) => kind === "end" || kind === "work";

/**
 * Those of these states in which instances would wait for ever, as far as is known: no live worker has a version whose
 * registered definition has them. Where that of this process has, it has grown since, in another process.
 */
export async function abandonedStates(
  kernel: Kernel,
  states: readonly UndeclaredState[],
): Promise<readonly UndeclaredState[]> {
  if (states.length === 0) return [];
  const workers = (await readWorkers(kernel.db)).filter(isLive).map(({ lanes }) => lanes);
  const definitions = await readDefinitions(kernel.db, [...new Set(states.map(({ lifecycle }) => lifecycle))]);
  return states.filter(({ lifecycle, state }) => {
    const own = kernel.lifecycles.get(lifecycle)!.version;
    const live = new Set([own, ...workers.map((lanes) => newestVersion(lanes, lifecycle))]);
    const having = definitions.flatMap(({ name, version, shape }) => {
      const found = name === lifecycle ? shape.states.find((one) => one.name === state) : undefined;
      return found === undefined ? [] : [{ version, kind: found.kind }];
    });
    return having.some(({ kind }) => !isOfOtherKind(kind)) && !having.some(({ version }) => live.has(version));
  });
}

/** A process serves the lanes of all versions up to its own. */
function newestVersion(lanes: readonly string[], lifecycle: string): number {
  const versions = lanes.map((lane) => readLane(lane)!).filter((one) => one.lifecycle === lifecycle);
  return Math.max(0, ...versions.map(({ version = 0 }) => version));
}
