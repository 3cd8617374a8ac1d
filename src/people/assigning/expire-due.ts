import type { Kernel } from "../../kernel/kernel.ts";
import { fireTimersOf } from "../../kernel/move/fire-timers.ts";
import { type Assignment, assignmentOf } from "../results.ts";
import { settle } from "../review/settle.ts";
import { readAssignments, readDueAssignments } from "../store/assignments.ts";

const pageSize = 500;

/** Expires overdue assignments of a queue and returns them. */
export async function expireOverdue(kernel: Kernel, queue: string): Promise<Assignment[]> {
  const expired: Assignment[] = [];
  for (;;) {
    const ids = (await readDueAssignments(kernel.db, queue, pageSize)).map((one) => one.id);
    if (ids.length === 0) return expired;
    const { fired, failures } = await fireTimersOf(kernel, ids);
    await settle(kernel, ids);
    const rows = await readAssignments(kernel.db, ids);
    expired.push(...rows.filter((row) => row.status === "expired").map(assignmentOf));
    if (failures.length > 0) throw failures[0]!.error;
    if (fired === 0) return expired; // Another process is expiring them.
  }
}
