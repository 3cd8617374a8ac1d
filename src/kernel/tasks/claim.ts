import { readInstances } from "../../store/move/instances.ts";
import { readEntryPayloads } from "../../store/move/journal.ts";
import { claimGated, claimProbe, type ProbePlace } from "../../store/tasks/gates.ts";
import {
  type Claim,
  type ClaimedTaskRow,
  claimTasks,
  type Holder,
  markBegun,
  promoteTasks,
  type Renewal,
  renewLeases,
} from "../../store/tasks/tasks.ts";
import { claimTurnProbe, claimTurns, type NextTurn, type Turn } from "../../store/tasks/turns.ts";
import { commit } from "../commit/commit.ts";
import { InstanceUpdate } from "../commit/instance-update.ts";
import type { Kernel } from "../kernel.ts";
import { type Gate, isKeyed, turnGateRow } from "../lanes/gates.ts";
import { applyRename } from "../move/apply-due.ts";
import type { ClaimedTask } from "../types/claimed-task.ts";
import { claimedTaskOf } from "./claimed-row.ts";

export type { ProbePlace, Turn };

/** The run of the instance that a task belongs to: an effect may be carried out after a restart. */
export function runOf({ row, work }: ClaimedTask): number {
  return work?.run ?? row.run;
}

/** Claims up to `limit` tasks from these lanes in one round trip. Each spends an attempt, once it has begun. */
export function claimFromLanes(kernel: Kernel, claim: Claim): Promise<ClaimedTask[]> {
  return claimBy(kernel, () => claimTasks(kernel.db, claim));
}

interface GatesClaim extends Holder {
  readonly gates: readonly Gate[];
  readonly limit: number;
}

/** The same from lanes behind gates, as many as each of them lets through. */
export async function claimFromGates(kernel: Kernel, claim: GatesClaim): Promise<ClaimedTask[]> {
  const plain = claim.gates.filter((gate) => !isKeyed(gate));
  const tasks =
    plain.length === 0 ? [] : await claimBy(kernel, () => claimGated(kernel.db, { ...claim, gates: plain }));
  const keyed = { ...claim, gates: claim.gates.filter(isKeyed), limit: claim.limit - tasks.length };
  return [...tasks, ...(await claimByTurns(kernel, keyed, new Map())).tasks];
}

/** The same from lanes whose tasks take turns by their keys; also where the ring of each gate continues. */
export async function claimByTurns(
  kernel: Kernel,
  { gates, ...claim }: GatesClaim,
  turns: ReadonlyMap<string, Turn>,
): Promise<{ readonly tasks: ClaimedTask[]; readonly turns: readonly NextTurn[] }> {
  if (gates.length === 0 || claim.limit <= 0) return { tasks: [], turns: [] };
  let next: readonly NextTurn[] = [];
  const tasks = await claimBy(kernel, async () => {
    const claimed = await claimTurns(kernel.db, {
      ...claim,
      gates: gates.map((gate) => turnGateRow(gate, turns.get(gate.name))),
    });
    next = claimed.turns;
    return claimed.tasks;
  });
  return { tasks, turns: next };
}

/** One task as the probe of a half-open breaker, if there is no other probe by now. */
export async function claimProbeTask(
  kernel: Kernel,
  place: ProbePlace,
  { gates, ...holder }: Omit<GatesClaim, "limit">,
): Promise<ClaimedTask[]> {
  kernel.breakers.markProbeClaim(place.breaker);
  const [plain, keyed] = [
    gates.filter((gate) => !isKeyed(gate)),
    gates.filter(isKeyed).map((gate) => turnGateRow(gate)),
  ];
  const tasks = await claimBy(kernel, async () => {
    const claimed = plain.length === 0 ? [] : await claimProbe(kernel.db, place, { ...holder, gates: plain, limit: 1 });
    if (claimed.length > 0 || keyed.length === 0) return claimed;
    return claimTurnProbe(kernel.db, place, { ...holder, gates: keyed, limit: 1 });
  });
  if (tasks.length > 0) kernel.breakers.markProbing(place.breaker);
  return tasks.map((one) => ({ ...one, probe: { breaker: place.breaker, flip: place.flip } }));
}

async function claimBy(kernel: Kernel, claim: () => Promise<ClaimedTaskRow[]>): Promise<ClaimedTask[]> {
  if (kernel.faults !== undefined) await kernel.faults.at("claim.before");
  const claimed = await claim();
  if (kernel.faults !== undefined) await kernel.faults.at("claim.after");
  if (claimed.length > 0) kernel.clock.observe(claimed[0]!.now_ms);
  // A claim may meet an instance that entered its state again at this very moment: then it has read the older row.
  const outdated = claimed.filter((task) => task.kind === "step" && task.visit !== task.task_visit);
  const fresh =
    outdated.length === 0
      ? []
      : await readInstances(
          kernel.db,
          outdated.map((task) => task.id),
        );
  const rows = new Map(fresh.map((row) => [row.id, row]));
  const entries = outdated.length === 0 ? [] : await readEntryPayloads(kernel.db, outdated.map(visitOf));
  const entered = new Map(entries.map((one) => [one.id, one]));
  const tasks = claimed.flatMap((task) =>
    claimedTaskOf(kernel, { ...task, ...entered.get(task.id) }, rows.get(task.id)),
  );
  const underOldNames = tasks.filter((one) => one.kind === "step" && !one.lifecycle.states.has(one.row.state));
  if (underOldNames.length === 0) return tasks;
  await renameAll(kernel, underOldNames);
  const ready = tasks.filter((one) => !underOldNames.includes(one));
  return ready.length > 0 ? ready : claimBy(kernel, claim);
}

function visitOf({ id, task_visit: visit }: ClaimedTaskRow): { id: string; visit: number } {
  return { id, visit };
}

/** The work of a state that has another name now: it moves to the lane of that name, to be claimed there. */
async function renameAll(kernel: Kernel, tasks: readonly ClaimedTask[]): Promise<void> {
  const updates = tasks.map(({ lifecycle, row }) => new InstanceUpdate(lifecycle, row, kernel.newId));
  for (const update of updates) applyRename(update);
  const renamed = updates.filter((update) => update.changes && update.error === undefined);
  if (renamed.length > 0) await commit(kernel, kernel.db, renamed);
  for (const update of renamed) for (const lane of update.lanes) kernel.signals.hint(lane);
}

/** Extends leases in one statement; returns those that were lost, and those whose rows were locked. */
export async function renewTaskLeases(
  kernel: Kernel,
  leases: readonly ClaimedTask["lease"][],
  leaseMs: number,
): Promise<Renewal> {
  if (leases.length === 0) return { lost: [], skipped: [] };
  if (kernel.faults !== undefined) await kernel.faults.at("renew.before");
  return renewLeases(kernel.db, leases, leaseMs);
}

/** Records that these tasks have begun; returns the ids of those that are recorded. */
export async function markTasksBegun(kernel: Kernel, leases: readonly ClaimedTask["lease"][]): Promise<Set<string>> {
  return new Set((await markBegun(kernel.db, leases)).map((one) => one.task_id));
}

/** Puts due scheduled tasks into their lanes; returns how many. */
export async function promoteScheduled(kernel: Kernel, lanes: readonly string[], limit: number): Promise<number> {
  if (lanes.length === 0) return 0;
  if (kernel.faults !== undefined) await kernel.faults.at("promote.before");
  const promoted = await promoteTasks(kernel.db, lanes, limit);
  if (kernel.faults !== undefined) await kernel.faults.at("promote.after");
  for (const { lane } of promoted) kernel.signals.hint(lane);
  return promoted.reduce((sum, one) => sum + one.tasks, 0);
}
