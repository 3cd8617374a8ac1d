import { dateOf } from "../../base/moment.ts";
import { type LifecycleModel, laneOf } from "../../definition/model.ts";
import { readDefinitions } from "../../store/definitions.ts";
import type { InstanceRow } from "../../store/move/instances.ts";
import { findAll, findInStates, findResting, type Page } from "../../views/move/instances.ts";
import { findRunning, readSteps } from "../../views/tasks/tasks.ts";
import type { Kernel } from "../kernel.ts";

/** The status of a job. */
export interface JobStatus {
  readonly id: string;
  readonly key: string | null;
  /** The name of the job. */
  readonly job: string;
  readonly status: "pending" | "running" | "done" | "error";
  /** Attempts so far; null once it has ended. */
  readonly attempt: number | null;
  readonly enqueuedAt: Date;
  /** When it runs next, if that is later. */
  readonly runsAt: Date | null;
  readonly endedAt: Date | null;
}

export interface JobsPage {
  readonly jobs: readonly LifecycleModel[];
  readonly status: JobStatus["status"] | undefined;
  readonly limit: number;
  readonly beforeId: string | null;
}

/** The status of these jobs, in their order. */
export async function statusOf(kernel: Kernel, rows: readonly InstanceRow[]): Promise<JobStatus[]> {
  const open = rows.filter((row) => row.outcome === null);
  const ids = open.map((row) => row.id);
  const steps = new Map(ids.length === 0 ? [] : (await readSteps(kernel.db, ids)).map((step) => [step.id, step]));
  return rows.map((row) => {
    const step = row.outcome === null ? steps.get(row.id) : undefined;
    const ended = row.outcome === "success" ? "done" : "error";
    return {
      id: row.id,
      key: row.key,
      job: row.lifecycle,
      status: row.outcome !== null ? ended : step?.running === true ? "running" : "pending",
      attempt: step?.attempt ?? null,
      enqueuedAt: new Date(row.created_ms),
      runsAt: step?.due_ms == null ? null : new Date(step.due_ms),
      endedAt: dateOf(row.closed_ms),
    };
  });
}

/** Jobs, newest first. */
export async function listJobs(kernel: Kernel, page: JobsPage): Promise<JobStatus[]> {
  const found: JobStatus[] = [];
  for (const job of page.jobs) found.push(...(await listOf(kernel, job, page)));
  return found.sort((one, other) => (one.id < other.id ? 1 : -1)).slice(0, page.limit);
}

async function listOf(kernel: Kernel, job: LifecycleModel, page: JobsPage): Promise<JobStatus[]> {
  const { status, limit } = page;
  const found: JobStatus[] = [];
  for (let beforeId = page.beforeId; ; ) {
    const rows = await find(kernel, job, status, { lifecycle: job.name, beforeId, limit });
    // Ready and running jobs are in the same state, and a job may have continued between two reads.
    const statuses = await statusOf(kernel, rows);
    found.push(...statuses.filter((one) => status === undefined || one.status === status));
    const last = rows.at(-1);
    if (found.length >= limit || last === undefined || rows.length < limit) return found;
    beforeId = last.id;
  }
}

async function find(
  { db }: Kernel,
  job: LifecycleModel,
  status: JobsPage["status"],
  page: Page,
): Promise<InstanceRow[]> {
  if (status === undefined) return findAll(db, page);
  if (status === "pending") return findInStates(db, [status], page);
  if (status !== "running") return findResting(db, [status], page);
  const versions = await readDefinitions(db, [job.name]);
  return findRunning(
    db,
    versions.map((one) => laneOf(one, job.initial)),
    page,
  );
}
