import { PawlError } from "../../base/errors.ts";
import { cleanText } from "../../base/json.ts";
import { putProgress } from "../../store/tasks/progress.ts";
import type { Kernel } from "../kernel.ts";
import type { ClaimedTask } from "../types/claimed-task.ts";

/** The progress of a task, as its step reports it. */
export interface ProgressReport {
  readonly fraction: number;
  readonly note: string | null;
}

/** The tolerance for a sum of many small parts outside 0 to 1. */
const slack = 1e-6;

export function checkedProgress(fraction: unknown, note: unknown): ProgressReport {
  if (typeof fraction !== "number" || !(fraction >= -slack && fraction <= 1 + slack)) {
    throw new PawlError("option_invalid", "`progress` takes a fraction from 0 to 1, such as 0.4, and a note.");
  }
  const text = note === undefined || note === null ? null : cleanText(String(note), 500);
  return { fraction: Math.min(1, Math.max(0, fraction)), note: text };
}

/** Keeps the newest word about a task. From a worker that lost its lease nothing is kept. */
export function saveProgress(kernel: Kernel, task: ClaimedTask, report: ProgressReport): Promise<void> {
  return putProgress(kernel.db, task.lease, report);
}
