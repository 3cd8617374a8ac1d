import type { InstanceRow } from "../../store/move/instances.ts";
import type { ClaimedTaskRow } from "../../store/tasks/tasks.ts";
import { deliveryIn } from "../family/deliveries.ts";
import { isForeign, type Kernel, lifecycleOf } from "../kernel.ts";
import type { ClaimedTask, EffectWork } from "../types/claimed-task.ts";

/** A claimed task; nothing if a newer definition has moved its instance, and so taken its work over, meanwhile. */
export function claimedTaskOf(kernel: Kernel, task: ClaimedTaskRow, fresh?: InstanceRow): ClaimedTask | [] {
  const row = fresh ?? task;
  const delivery = deliveryIn(task.work);
  if (task.kind === "step" && isForeign(kernel, row)) return [];
  return {
    ...(task.begun === false && { isAhead: true }),
    lease: { taskId: task.task_id, token: task.token },
    kind: task.kind,
    lane: task.lane,
    attempt: task.attempt,
    priority: task.priority,
    visit: task.task_visit,
    work: delivery === undefined ? (task.work as EffectWork | null) : null,
    payload: task.has_payload === true ? task.payload : undefined,
    delivery,
    row,
    // An effect follows a move that was made; by which version its instance is moved today does not matter to it.
    lifecycle:
      task.kind === "effect" ? kernel.lifecycles.get(delivery?.lifecycle ?? task.lifecycle)! : lifecycleOf(kernel, row),
  };
}
