import { hasJoins, isJoinAhead } from "../../definition/decide/joins-ahead.ts";
import { failed } from "../../definition/model.ts";
import { readUnjoinedFailures } from "../../store/family/children.ts";
import { type InstanceRow, readInstances } from "../../store/move/instances.ts";
import type { InstanceUpdate } from "../commit/instance-update.ts";
import { isForeign, type Kernel, lifecycleOf } from "../kernel.ts";
import { type SweepResult, sweep } from "../move/sweep.ts";

const pageSize = 500;

/**
 * Reports failed children that were left to parents which then continued without the join that was to handle them: by a
 * timeout, or by another way to their end. Each gets the dead letter and the alert that it would have had without a
 * parent. Returns the parents that must be checked again.
 */
export async function reportUnjoinedFailures(
  kernel: Kernel,
  rows: readonly InstanceRow[],
): Promise<{ readonly again: ReadonlySet<string>; readonly failures: SweepResult["failures"] }> {
  const parents = rows.filter((row) => hasPassedJoins(kernel, row));
  if (parents.length === 0) return { again: new Set(), failures: [] };
  const found = await readUnjoinedFailures(
    kernel.db,
    parents.map(({ id, run }) => ({ id, run })),
    pageSize,
  );
  const left = new Map(found.map((one) => [one.id, one]));
  const children = await readInstances(
    kernel.db,
    found.filter(({ lifecycle }) => kernel.lifecycles.has(lifecycle)).map(({ id }) => id),
  );
  const ours = children.filter((row) => !isForeign(kernel, row));
  const { written, failures } = await sweep(kernel, ours, async (_, updates) => {
    for (const update of updates) update.decide(() => report(update, left.get(update.row.id)!.attempts));
  });
  const again = found.filter(({ id }) => !written.has(id)).map((one) => one.parent_id);
  const more = found.length === pageSize ? parents.map(({ id }) => id) : [];
  return { again: new Set([...again, ...more]), failures };
}

function hasPassedJoins(kernel: Kernel, row: InstanceRow): boolean {
  const lifecycle = lifecycleOf(kernel, row);
  if (!hasJoins(lifecycle) || row.outcome === "discarded") return false;
  return row.outcome !== null || !isJoinAhead(lifecycle, row.failed_from ?? row.state);
}

function report(update: InstanceUpdate, attempts: number): void {
  const { instance, lifecycle, row } = update;
  const { failure } = row;
  // It was recovered meanwhile.
  if (failure === null || (instance.outcome === null && instance.state !== failed)) return;
  update.reportFailure({
    id: update.newId(),
    instanceId: instance.id,
    lifecycle: lifecycle.name,
    kind: "instance",
    origin: failure.state,
    reason: failure.reason,
    errorText: failure.error === null ? null : JSON.stringify(failure.error),
    attempts,
    payloadText: null,
    detailsText: JSON.stringify({ leftTo: instance.parent?.id ?? null }),
    workText: null,
    cause: `move:${instance.id}:${instance.version}`,
    version: instance.version,
    lease: null,
  });
}
