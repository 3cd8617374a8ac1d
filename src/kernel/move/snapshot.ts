import { broken } from "../../base/errors.ts";
import type { InstanceModel } from "../../definition/decide/instance.ts";
import type { InstanceRow } from "../../store/move/instances.ts";
import { readMovesUpTo } from "../../store/move/journal.ts";
import type { Executor } from "../../store/port/db.ts";
import { modelOf } from "../commit/rows.ts";
import type { FailureOf, Snapshot } from "../types/snapshot.ts";

export function snapshotOf(row: InstanceRow): Snapshot {
  const failure = row.failure === null ? null : { ...row.failure, atMs: row.failed_ms! };
  return { model: modelOf(row), movedAtMs: row.moved_ms, closedAtMs: row.closed_ms, failure };
}

/** An instance right after a move that was written at `atMs`. */
export function snapshotAfter(model: InstanceModel, atMs: number, failure: FailureOf | null): Snapshot {
  return { model, movedAtMs: atMs, closedAtMs: model.outcome === null ? null : atMs, failure };
}

/**
 * An instance after an earlier move, from its journal: the first answer to a repeated request. The outcome is the
 * current one only if that move is still the last.
 */
export async function snapshotAt(db: Executor, row: InstanceRow, version: number): Promise<Snapshot> {
  if (version === row.version) return snapshotOf(row);
  const moves = await readMovesUpTo(db, row.id, version);
  const last = moves.at(-1);
  if (last === undefined) throw broken(`Instance ${row.id} has no move ${version}.`);
  const data: Record<string, unknown> = {};
  for (const move of moves) {
    Object.assign(data, move.patch);
    for (const key of move.cleared ?? []) delete data[key];
  }
  const model: InstanceModel = {
    ...modelOf(row),
    definition: last.definition,
    state: last.to_state,
    version,
    visit: Math.min(row.visit, version),
    run: 1 + moves.filter((move) => move.event === "restart").length,
    data,
    failedFrom: null,
    failedVisit: null,
    timedOutAtMs: null,
    outcome: null,
  };
  return { model, movedAtMs: last.at_ms, closedAtMs: null, failure: null };
}
