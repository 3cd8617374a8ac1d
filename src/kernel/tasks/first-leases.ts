import { newToken } from "../../base/ids.ts";
import { readLeasedTasks } from "../../store/tasks/tasks.ts";
import { rowAfter } from "../commit/rows.ts";
import type { Kernel } from "../kernel.ts";
import type { ClaimedTask } from "../types/claimed-task.ts";
import type { PlannedStart } from "../types/start.ts";
import { claimedTaskOf } from "./claimed-row.ts";

/**
 * The leases that come with a batch of starts: of the first steps that a worker of this process has a free slot for, and
 * that are to run at once.
 */
export class FirstLeases {
  readonly #kernel: Kernel;
  readonly #open = new Map<string, PlannedStart>();
  /** The starts, with the leases that are asked for. */
  readonly starts: readonly PlannedStart[];

  constructor(kernel: Kernel, planned: readonly PlannedStart[]) {
    this.#kernel = kernel;
    this.starts = planned.map((one) => this.#reserve(one));
  }

  #reserve(one: PlannedStart): PlannedStart {
    const { id, step } = one.row;
    if (step === null || step.afterMs !== null || step.atMs !== null) return one;
    const holder = this.#kernel.localWorkers.reserve(id, step);
    if (holder === null) return one;
    const leased = { ...one, row: { ...one.row, step: { ...step, grant: { ...holder, token: newToken() } } } };
    this.#open.set(id, leased);
    return leased;
  }

  /** It was written with its lease at this time. */
  give(one: PlannedStart, atMs: number): void {
    this.#settle(one, firstTask(one, atMs));
  }

  /** Finds the leases of starts that were written by a try whose reply was lost. */
  async find(written: readonly PlannedStart[]): Promise<void> {
    const asked = written.flatMap(({ row: { id } }) => this.#open.get(id) ?? []);
    if (asked.length === 0) return;
    const leases = asked.map(({ row: { id, step } }) => ({ taskId: id, token: step!.grant!.token }));
    const held = new Map((await readLeasedTasks(this.#kernel.db, leases)).map((row) => [row.task_id, row]));
    for (const one of asked) {
      const row = held.get(one.row.id);
      const task = row === undefined ? [] : claimedTaskOf(this.#kernel, row);
      this.#settle(one, Array.isArray(task) ? "unwritten" : task);
    }
  }

  /** What became of all others. */
  settle(result: "unwritten" | "unknown"): void {
    for (const one of [...this.#open.values()]) this.#settle(one, result);
  }

  #settle(one: PlannedStart, result: ClaimedTask | "unwritten" | "unknown"): void {
    this.#open.delete(one.row.id);
    this.#kernel.localWorkers.settle(one.row.id, result);
  }
}

/** The first task of an instance that was started at `atMs`, as a claim would have given it. */
function firstTask({ row, decision, start }: PlannedStart, atMs: number): ClaimedTask {
  const { id, lifecycle, key, parent, dataText, deadlineAfterMs } = row;
  const deadlineAtMs = deadlineAfterMs === null ? null : atMs + deadlineAfterMs;
  const data = JSON.parse(dataText) as Record<string, unknown>;
  const born = { id, lifecycle, key, parent_lifecycle: parent?.lifecycle ?? null, parent_id: parent?.id ?? null };
  return {
    lease: { taskId: id, token: row.step!.grant!.token },
    kind: "step",
    lane: row.step!.lane,
    attempt: 1,
    priority: row.step!.priority,
    visit: 1,
    work: null,
    payload: undefined,
    lifecycle: start.lifecycle,
    row: rowAfter(
      { ...born, created_ms: atMs },
      { ...decision.instance, createdAtMs: atMs, deadlineAtMs, data },
      { atMs, alarms: 0, inbox: 0, hasChildren: false },
    ),
  };
}
