import { dateOf } from "../../base/moment.ts";
import { noKey } from "../../definition/decide/lane-key.ts";
import { readLane } from "../../definition/model.ts";
import { readBreakerStates } from "../../kernel/breakers/breakers.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import { breakerOf } from "../../kernel/lanes/closed-lanes.ts";
import { type Gate, gatesOf, isKeyed, readGateViews, readUseOfKey } from "../../kernel/lanes/gates.ts";
import { hasLimits, limitsOf, readChangedLimits } from "../../kernel/lanes/lane-limits.ts";
import { currentLaneName } from "../../kernel/lanes/lanes.ts";
import { isLive } from "../../kernel/tasks/workers.ts";
import { readPauses } from "../../store/tasks/pauses.ts";
import { readWorkers } from "../../views/tasks/workers.ts";
import type { NotClaimed } from "./explanation.ts";

/**
 * Why ready tasks in these lanes have not been claimed: first what an operator can change, then what ends by itself.
 * Six statements at most, for any number of lanes. The key of a task says more about its lane.
 */
export async function whyNotClaimed(
  kernel: Kernel,
  lanes: readonly string[],
  nowMs: number,
  keyed?: KeyedTask,
): Promise<ReadonlyMap<string, NotClaimed>> {
  if (lanes.length === 0) return new Map();
  const served = servedBy((await readWorkers(kernel.db)).filter(isLive).flatMap((worker) => worker.lanes));
  const pauses = await readPauses(kernel.db);
  const breakers = [...new Set(lanes.flatMap((lane) => breakerOf(kernel, lane) ?? []))];
  await readBreakerStates(kernel, breakers);
  if (hasLimits(kernel, lanes)) await readChangedLimits(kernel);
  const gates = gatesOf(kernel, lanes);
  const counting = gates.filter(({ limit, rate }) => limit !== null || rate !== null);
  const views = counting.length === 0 ? [] : await readGateViews(kernel, counting);
  const rooms = new Map(views.map((one) => [one.name, one]));
  const fullKey = await whyKeyWaits(kernel, gates, keyed, nowMs);

  const why = (lane: string): NotClaimed => {
    const { lifecycle, part } = currentLaneName(kernel, lane);
    const pause = pauses.find((one) => one.lifecycle === lifecycle && (one.part === "" || one.part === part));
    if (pause !== undefined) {
      return { reason: "paused", since: new Date(pause.since_ms), actor: pause.actor, why: pause.reason };
    }
    const unserved = whyUnserved(lane, served);
    if (unserved !== undefined) return unserved;
    const name = breakerOf(kernel, lane);
    const breaker = name === undefined ? undefined : kernel.breakers.of(name);
    if (breaker !== undefined && breaker.state !== "closed") {
      const until = dateOf(breaker.until_ms);
      const { name: breakerName, state, forced, actor, reason } = breaker;
      return { reason: "breaker", breaker: breakerName, state, held: forced !== null, actor, until, why: reason };
    }
    const gate = gates.find((one) => one.lanes.includes(lane));
    const room = gate === undefined ? undefined : rooms.get(gate.name);
    if (room?.room !== 0) return (lane === keyed?.lane ? fullKey : undefined) ?? { reason: "in_turn" };
    if (room.wait_ms !== null && gate!.rate !== null) {
      const { rate } = limitsOf(kernel, lifecycle, kernel.lifecycles.get(lifecycle)!.states.get(part.slice(1))!);
      return { reason: "rate", rate: rate!, until: new Date(nowMs + Math.max(0, room.wait_ms)) };
    }
    return { reason: "limit", limit: gate!.limit ?? 0 };
  };
  return new Map(lanes.map((lane) => [lane, why(lane)]));
}

/** A ready task that has a key. */
export interface KeyedTask {
  readonly lane: string;
  readonly key: string;
}

/** Whether the key of a task is at its limit or its rate. */
async function whyKeyWaits(
  kernel: Kernel,
  gates: readonly Gate[],
  keyed: KeyedTask | undefined,
  nowMs: number,
): Promise<NotClaimed | undefined> {
  const gate = gates.find(({ lanes }) => lanes.includes(keyed?.lane ?? ""));
  if (keyed === undefined || gate === undefined || !isKeyed(gate)) return undefined;
  const use = await readUseOfKey(kernel, gate, keyed.key);
  const key = keyed.key === noKey ? null : keyed.key;
  const { limit } = gate.keys;
  if (limit !== null && use.running >= limit) return { reason: "limit", limit, key };
  if (use.wait_ms === null) return undefined;
  const { lifecycle, part } = currentLaneName(kernel, keyed.lane);
  const { rateEach } = limitsOf(kernel, lifecycle, kernel.lifecycles.get(lifecycle)!.states.get(part.slice(1))!);
  return { reason: "rate", rate: rateEach!, until: new Date(nowMs + Math.max(0, use.wait_ms)), key };
}

/** Which lanes live workers serve, and the newest version that they have of each lifecycle. */
interface ServedLanes {
  readonly lanes: ReadonlySet<string>;
  readonly newest: ReadonlyMap<string, number>;
}

function servedBy(lanes: readonly string[]): ServedLanes {
  const newest = new Map<string, number>();
  for (const lane of lanes) {
    const { lifecycle, version = 0 } = readLane(lane)!;
    newest.set(lifecycle, Math.max(version, newest.get(lifecycle) ?? 0));
  }
  return { lanes: new Set(lanes), newest };
}

/** Why no live worker claims from a lane; undefined when one does. */
function whyUnserved(
  lane: string,
  { lanes, newest }: ServedLanes,
): Extract<NotClaimed, { reason: "no_worker" | "worker_outdated" }> | undefined {
  if (lanes.has(lane)) return undefined;
  const { lifecycle, version = 0 } = readLane(lane)!;
  const known = newest.get(lifecycle);
  if (known === undefined || known >= version) return { reason: "no_worker" };
  return { reason: "worker_outdated", version, newest: known };
}
