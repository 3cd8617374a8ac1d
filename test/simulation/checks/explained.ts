import { explainInstance } from "../../../src/inspect/explain/explain-instance.ts";
import type { Explanation, StuckReason, WaitingFor } from "../../../src/inspect/explain/explanation.ts";
import type { Kernel } from "../../../src/kernel/kernel.ts";
import { type InstanceRow, readInstances } from "../../../src/store/move/instances.ts";
import { sql } from "../../../src/store/port/db.ts";
import type { LifecyclePlan } from "../plan/plan.ts";
import type { World } from "../world/world.ts";
import type { Finding } from "./finding.ts";

/**
 * What may hold up an instance for ever while all processes are up: only a person or a developer can change it. That
 * something is overdue, or that no worker serves a lane, would be the engine's fault.
 */
const forPeople: ReadonlySet<StuckReason> = new Set([
  "dead_letter",
  "release_refused",
  "event_refused",
  "result_unmatched",
  "unassignable",
  "queue_inactive",
  "definition_fault",
]);

/** Open instances of a world at rest that `pawl.explain` does not explain: nothing will move them, and nothing says so. */
export async function unexplained(world: World): Promise<Finding[]> {
  const { kernel } = world.slots[0]!.process;
  if (kernel === undefined) return [{ invariant: "I11", message: "no process is left that could explain anything" }];
  const found: Finding[] = [];
  for (const row of await openInstances(kernel)) {
    const explained = await explainInstance(kernel, row);
    if (explained.stuck !== null) world.note(`stuck: ${explained.stuck.reason}`, row.key ?? row.id);
    const why = whyUnexplained(explained, world.plan.lifecycles);
    if (why !== undefined)
      found.push({
        invariant: "I11",
        message: `${row.lifecycle} "${row.key}" ${row.id} ${why}: ${explained.sentences.join(" ")}`,
      });
  }
  return found;
}

async function openInstances(kernel: Kernel): Promise<InstanceRow[]> {
  const open = await kernel.db.rows<{ id: string }>(
    sql`select id::text as id from pawl.instances where closed_at is null order by id`,
  );
  return readInstances(
    kernel.db,
    open.map(({ id }) => id),
  );
}

function whyUnexplained(explained: Explanation, plans: readonly LifecyclePlan[]): string | undefined {
  const { stuck, waitingFor, next } = explained;
  if (stuck !== null) return forPeople.has(stuck.reason) ? undefined : `is stuck (${stuck.reason})`;
  if (waitingFor.length === 0) return "is open and waits for nothing";
  if (next?.at != null) return undefined;
  if (next !== null) return "is ready to move, and does not";
  return waitingFor.some((wait) => hasCounterpart(wait, explained, plans))
    ? undefined
    : "waits for nothing that may come";
}

/** Whether somebody may end this wait, where no timer does. */
function hasCounterpart(wait: WaitingFor, { lifecycle, state }: Explanation, plans: readonly LifecyclePlan[]): boolean {
  switch (wait.kind) {
    case "events": {
      const plan = plans.find((one) => one.name === lifecycle);
      // The states of Pawl's own lifecycles that have no end are declared so.
      return plan === undefined || plan.stages.find((one) => one.name === state)?.kind === "waiting";
    }
    case "children":
      return wait.open > 0 || wait.by === "person";
    case "people":
    case "crowd_job":
    case "person":
      return true;
    default:
      return false;
  }
}
