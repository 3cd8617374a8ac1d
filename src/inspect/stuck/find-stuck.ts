import { durationMs } from "../../base/duration.ts";
import { isEventAhead } from "../../definition/decide/events-ahead.ts";
import { failed, readLane } from "../../definition/model.ts";
import { isForeign, type Kernel } from "../../kernel/kernel.ts";
import { currentLaneName } from "../../kernel/lanes/lanes.ts";
import { readCounts } from "../../views/counts.ts";
import { readNow } from "../../views/now.ts";
import type { NotClaimed, StuckReason } from "../explain/explanation.ts";
import { whyNotClaimed } from "../explain/lane-service.ts";
import { stuckWhenReady } from "../explain/stuck-instance.ts";
import { abandonedStates } from "../explain/undeclared-state.ts";
import type { Bounds, FoundGroup } from "../views/grouped.ts";
import {
  type ReleaseTurns,
  readDeadInstances,
  readOverdueChecks,
  readOverdueReleases,
  readOverdueResults,
  readOverdueTimers,
  readRefusedEvents,
  readRefusedReleases,
  readUndeclared,
  readWaitingResults,
} from "../views/stuck-instances.ts";
import { readInactiveQueues, readUnassignable } from "../views/stuck-samples.ts";
import {
  readFaultySteps,
  readLongTasks,
  readOverdueTasks,
  readReadyLanes,
  readReadyTasks,
} from "../views/stuck-tasks.ts";
import type { StuckGroup } from "./stuck-group.ts";
import { sentenceOf } from "./stuck-sentence.ts";

/** The limit of the count. */
const maxCounted = 10_000;

/** The same for those who ask often: an overview, measures, alerts. */
export const summary: Bounds = { counted: 1_000, listed: 3 };

export function boundsOf(listed: number): Bounds {
  return { counted: maxCounted, listed };
}

/** In the order in which groups are shown: what keeps most from moving first. */
export const stuckReasons: readonly StuckReason[] = [
  "no_worker",
  "worker_outdated",
  "state_undeclared",
  "overdue",
  "definition_fault",
  "dead_letter",
  "event_refused",
  "release_refused",
  "result_unmatched",
  "unassignable",
  "queue_inactive",
  "ready_too_long",
  "running_too_long",
];

/**
 * All that is stuck, by the rules of `explain`, grouped by reason and place. Each statement probes indexes and reads a bounded
 * number of rows, however much there is. An instance that is stuck for two reasons is in both groups.
 */
export async function findStuck(kernel: Kernel, bounds: Bounds): Promise<StuckGroup[]> {
  const { db, stuckAfter } = kernel;
  const { overdueMs, runningMs } = stuckAfter;
  const groups = [
    ...(await readyTooLong(kernel, bounds)),
    ...merged("state_undeclared", "state", await undeclaredStates(kernel, bounds), bounds),
    ...merged("overdue", "lane", await readOverdueTasks(db, overdueMs, bounds), bounds),
    ...merged(
      "overdue",
      "state",
      [
        ...(await readOverdueTimers(db, overdueMs, bounds)),
        ...(await readOverdueReleases(db, turnsOf(kernel), overdueMs, bounds)),
        ...(await readOverdueChecks(db, overdueMs, bounds)),
        ...(await readOverdueResults(db, overdueMs, bounds)),
      ],
      bounds,
    ),
    ...merged("running_too_long", "lane", await readLongTasks(db, runningMs, bounds), bounds),
    ...merged("definition_fault", "lane", await readFaultySteps(db, bounds), bounds),
    ...merged("dead_letter", "state", await readDeadInstances(db, bounds), bounds),
    ...merged("event_refused", "state", await readRefusedEvents(db, bounds), bounds),
    ...merged("release_refused", "state", await readRefusedReleases(db, bounds), bounds),
    ...merged("result_unmatched", "state", await unmatchedResults(kernel, bounds), bounds),
    ...merged("unassignable", "queue", await readUnassignable(db, bounds), bounds),
    ...merged("queue_inactive", "queue", await readInactiveQueues(db, bounds), bounds),
  ];
  return groups
    .map((group) => shown(kernel, group, bounds))
    .toSorted(
      (one, other) => stuckReasons.indexOf(one.reason) - stuckReasons.indexOf(other.reason) || other.count - one.count,
    );
}

/** A group before it is put into words. */
interface Found extends FoundGroup {
  readonly reason: StuckReason;
  readonly of: "lane" | "state" | "queue";
  readonly notClaimed?: NotClaimed;
}

async function readyTooLong(kernel: Kernel, bounds: Bounds): Promise<Found[]> {
  const names = await readReadyLanes(kernel.db);
  if (names.length === 0) return [];
  const why = await whyNotClaimed(kernel, names, await readNow(kernel.db));
  const rules = new Map(names.map((lane) => [lane, stuckWhenReady(why.get(lane)!, kernel.stuckAfter)]));
  const lanes = names.map((lane) => ({ lane, afterMs: rules.get(lane)!.afterMs }));
  const found = await readReadyTasks(kernel.db, lanes, bounds);
  return found.map((group) => {
    const { reason } = rules.get(group.place)!;
    return { ...group, reason, of: "lane", notClaimed: why.get(group.place)! };
  });
}

/** Instances in states that no definition of a live process has, as may remain when a version is replaced. */
async function undeclaredStates(kernel: Kernel, bounds: Bounds): Promise<FoundGroup[]> {
  const counts = await readCounts(kernel.db, [...kernel.lifecycles.keys()]);
  const undeclared = counts.filter(({ lifecycle: name, state }) => {
    const { states, renamed } = kernel.lifecycles.get(name)!;
    return !states.has(state) && renamed[state] === undefined;
  });
  const abandoned = await abandonedStates(kernel, undeclared);
  if (abandoned.length === 0) return [];
  const places = abandoned.map((one) => ({ ...one, version: kernel.lifecycles.get(one.lifecycle)!.version }));
  return readUndeclared(kernel.db, places, bounds);
}

/** How often the parked states of this process are released, by the names that they have and had. */
function turnsOf({ lifecycles }: Kernel): ReleaseTurns[] {
  return [...lifecycles.values()].flatMap(({ name: lifecycle, states, renamed }) =>
    [...states.values()].flatMap(({ name, release }) => {
      if (release === undefined) return [];
      const everyMs = durationMs(release.interval, "release.interval");
      const names = [name, ...Object.keys(renamed).filter((old) => renamed[old] === name)];
      return names.map((state) => ({ lifecycle, state, everyMs }));
    }),
  );
}

/** Waiting results that no later state accepts. Those of newer definitions are left to processes that have them. */
async function unmatchedResults(kernel: Kernel, bounds: Bounds): Promise<FoundGroup[]> {
  const waiting = await readWaitingResults(kernel.db, bounds);
  return waiting.flatMap(({ definition, failed_from: failedFrom, state, event, ...group }) => {
    const lifecycle = kernel.lifecycles.get(group.lifecycle);
    if (lifecycle === undefined || isForeign(kernel, { lifecycle: group.lifecycle, definition, state, outcome: null }))
      return [];
    const from = state === failed && lifecycle.builtIns ? (failedFrom ?? state) : state;
    return isEventAhead(lifecycle, from, event) ? [] : [{ ...group, place: state }];
  });
}

/** Groups of the same place become one. */
function merged(reason: StuckReason, of: Found["of"], groups: readonly FoundGroup[], { listed }: Bounds): Found[] {
  const places = new Map<string, Found>();
  for (const group of groups) {
    const place = JSON.stringify([group.lifecycle, group.place]);
    const known = places.get(place);
    if (known === undefined) places.set(place, { ...group, reason, of });
    else {
      const instances = [...known.instances, ...group.instances]
        .toSorted((one, other) => one.since_ms - other.since_ms)
        .filter(({ id }, at, all) => all.findIndex((one) => one.id === id) === at);
      const count = known.count + group.count;
      const sinceMs = Math.min(known.since_ms, group.since_ms);
      places.set(place, { ...known, count, since_ms: sinceMs, instances: instances.slice(0, listed) });
    }
  }
  return [...places.values()];
}

function shown(kernel: Kernel, found: Found, { counted }: Bounds): StuckGroup {
  const { reason, of, place } = found;
  const lane = of === "lane" ? place : null;
  const group = {
    reason,
    lifecycle: lane === null ? found.lifecycle : readLane(lane)!.lifecycle,
    lane,
    state: stateOf(kernel, found),
    queue: of === "queue" ? place : null,
    count: Math.min(found.count, counted),
    more: found.count >= counted,
    since: new Date(found.since_ms),
    instances: found.instances.map(({ since_ms, ...one }) => ({ ...one, since: new Date(since_ms) })),
  };
  return { ...group, sentence: sentenceOf(group, found.notClaimed) };
}

function stateOf(kernel: Kernel, { of, place, lifecycle }: Found): string | null {
  if (of === "queue") return null;
  if (of === "state") return kernel.lifecycles.get(lifecycle)?.renamed[place] ?? place;
  const { part } = currentLaneName(kernel, place);
  return part.startsWith("/") ? part.slice(1) : null;
}
