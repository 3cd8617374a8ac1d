import { readDueInstances, readInstances } from "../../store/move/instances.ts";
import { isForeign, type Kernel } from "../kernel.ts";
import { applyDueFirst } from "./apply-due.ts";
import { sweep } from "./sweep.ts";

/** The result of a round of firing, with its errors. */
export interface FiredTimers {
  readonly fired: number;
  /** Instances that only a process with another definition can move: it fires them. */
  readonly newer: number;
  readonly failures: readonly { readonly id: string; readonly error: unknown }[];
}

const firstId = "00000000-0000-0000-0000-000000000000";

/**
 * Fires due timers of all instances, page by page: one that cannot be moved does not block those behind it. The same
 * "due comes first" as in every call, so the order of processes does not matter.
 */
export async function fireTimers(kernel: Kernel, pageSize: number): Promise<FiredTimers> {
  const lifecycles = [...kernel.lifecycles.keys()];
  const failures: { id: string; error: unknown }[] = [];
  let fired = 0;
  let newer = 0;
  for (let afterMs: number | null = null, afterId = firstId; ; ) {
    if (kernel.faults !== undefined) await kernel.faults.at("fire.before");
    const rows = await readDueInstances(kernel.db, { lifecycles, afterMs, afterId, limit: pageSize });
    const ours = rows.filter((row) => !isForeign(kernel, row));
    newer += rows.length - ours.length;
    if (ours.length > 0) {
      const swept = await sweep(kernel, ours, applyDueFirst);
      fired += swept.written.size;
      failures.push(...swept.failures);
    }
    if (kernel.faults !== undefined) await kernel.faults.at("fire.after");
    const last = rows.at(-1);
    if (last === undefined || rows.length < pageSize) return { fired, newer, failures };
    afterMs = last.next_due_ms;
    afterId = last.id;
  }
}

/** Fires due timers of these instances. */
export async function fireTimersOf(kernel: Kernel, ids: readonly string[]): Promise<FiredTimers> {
  const rows = await readInstances(kernel.db, ids);
  const ours = rows.filter((row) => !isForeign(kernel, row));
  const { written, failures } = await sweep(kernel, ours, applyDueFirst);
  return { fired: written.size, newer: rows.length - ours.length, failures };
}
