import { durationMs } from "../../base/duration.ts";
import { PawlError } from "../../base/errors.ts";
import { idMaker } from "../../base/ids.ts";
import type { Json } from "../../base/json.ts";
import { PermanentError } from "../../base/step-errors.ts";
import type { JsonSchema } from "../../definition/schema/json-schema.ts";
import type { Posting, RemoteJob, RemoteSubmission } from "../marketplace.ts";

/** A job of a `memoryMarketplace`, with what its workers are shown. */
export interface MemoryJob extends RemoteJob {
  /** The name of the crowd. */
  readonly crowd: string;
  readonly token: string;
  readonly content: Json;
  readonly form: JsonSchema;
}

/** The assignment of a worker of a `memoryMarketplace`, and its outcome. */
export interface MemoryAssignment {
  readonly id: string;
  readonly job: string;
  readonly worker: string;
  readonly status: "accepted" | "returned" | "abandoned" | "submitted" | "approved" | "rejected";
  /** The worker's input; null before the submission. */
  readonly answer: Json;
  /** The feedback for the worker. */
  readonly feedback: string | null;
}

/** A stored job: times are those of the marketplace's clock, in milliseconds. */
export interface KeptJob {
  readonly id: string;
  readonly posting: Posting;
  places: number;
  expiresMs: number;
  isDisposed: boolean;
  readonly assignments: Map<string, KeptAssignment>;
  readonly extensions: Set<string>;
}

export interface KeptAssignment {
  readonly id: string;
  readonly job: KeptJob;
  readonly worker: string;
  readonly deadlineMs: number;
  status: MemoryAssignment["status"];
  answer: Json;
  feedback: string | null;
  submittedMs: number;
}

/** The jobs of a marketplace. Every read first applies what is due by the clock. */
export class MemoryJobs {
  readonly now: () => number;
  readonly #reopens: boolean;
  readonly #newId: () => string;
  readonly #byToken = new Map<string, KeptJob>();
  readonly #jobs = new Map<string, KeptJob>();
  readonly #assignments = new Map<string, KeptAssignment>();

  constructor(now: () => number, reopens: boolean) {
    this.now = now;
    this.#reopens = reopens;
    this.#newId = idMaker(now);
  }

  /** The job of a posting, which the same token finds again, also when it was disposed of. */
  put(posting: Posting): KeptJob {
    const earlier = this.#byToken.get(posting.token);
    if (earlier !== undefined) return earlier;
    const id = this.#newId();
    const { places, lifetimeMs } = posting;
    const kept = { assignments: new Map(), extensions: new Set<string>(), isDisposed: false };
    const job: KeptJob = { id, posting, places, expiresMs: this.now() + lifetimeMs, ...kept };
    this.#byToken.set(posting.token, job);
    this.#jobs.set(id, job);
    return job;
  }

  find(id: string): KeptJob | undefined {
    const job = this.#jobs.get(id);
    if (job !== undefined) this.#letTimePass(job);
    return job;
  }

  get(id: string): KeptJob {
    const job = this.find(id);
    if (job === undefined) throw new PermanentError(`Job ${id} does not exist on the marketplace, or was deleted.`);
    return job;
  }

  /** All of them, the oldest first. */
  list(): KeptJob[] {
    const jobs = [...this.#jobs.values()];
    for (const job of jobs) this.#letTimePass(job);
    return jobs;
  }

  findAssignment(id: string): KeptAssignment | undefined {
    const found = this.#assignments.get(id);
    if (found !== undefined) this.#letTimePass(found.job);
    return found;
  }

  /** The submission with this id, decided or not. */
  submission(id: string): KeptAssignment {
    const found = this.findAssignment(id);
    if (found !== undefined && isSubmitted(found)) return found;
    throw new PermanentError(`Submission ${id} does not exist on the marketplace, or its job was deleted.`);
  }

  take(job: KeptJob, worker: string): KeptAssignment {
    const deadlineMs = this.now() + durationMs(job.posting.crowd.workTime, "workTime");
    const blank = { status: "accepted", answer: null, feedback: null, submittedMs: 0 } as const;
    const taken: KeptAssignment = { id: this.#newId(), job, worker, deadlineMs, ...blank };
    job.assignments.set(taken.id, taken);
    this.#assignments.set(taken.id, taken);
    return taken;
  }

  remove(job: KeptJob): void {
    job.isDisposed = true;
    this.#jobs.delete(job.id);
    for (const id of job.assignments.keys()) this.#assignments.delete(id);
  }

  pending(job: KeptJob): number {
    return [...job.assignments.values()].filter((one) => one.status === "accepted").length;
  }

  isExpired(job: KeptJob): boolean {
    return job.expiresMs <= this.now();
  }

  hasPlace(job: KeptJob): boolean {
    const taken = [...job.assignments.values()].filter(
      (one) => one.status === "accepted" || (isSubmitted(one) && !(this.#reopens && one.status === "rejected")),
    );
    return taken.length < job.places;
  }

  show(job: KeptJob): MemoryJob {
    const { id, places, posting } = job;
    const { owner, token, content, form } = posting;
    return {
      id,
      owner,
      places,
      pending: this.pending(job),
      expiresAt: new Date(job.expiresMs),
      open: !job.isDisposed && !this.isExpired(job) && this.hasPlace(job),
      crowd: posting.crowd.name,
      token,
      content,
      form,
    };
  }

  /** Work that is overdue is abandoned, and undecided submissions are approved after a time. */
  #letTimePass(job: KeptJob): void {
    const now = this.now();
    const approvedAfterMs = durationMs(job.posting.crowd.approvedAfter, "approvedAfter");
    for (const one of job.assignments.values()) {
      if (one.status === "accepted" && one.deadlineMs <= now) one.status = "abandoned";
      else if (one.status === "submitted" && one.submittedMs + approvedAfterMs <= now) one.status = "approved";
    }
  }
}

export function isSubmitted({ status }: KeptAssignment): boolean {
  return status === "submitted" || status === "approved" || status === "rejected";
}

export function submissionOf(one: KeptAssignment): RemoteSubmission {
  const { id, job, worker, answer, submittedMs } = one;
  const status = one.status as RemoteSubmission["status"];
  return { id, job: job.id, worker, status, answer, submittedAt: new Date(submittedMs) };
}

export function assignmentOf({ id, job, worker, status, answer, feedback }: KeptAssignment): MemoryAssignment {
  return { id, job: job.id, worker, status, answer, feedback };
}

/** A worker's wish that the marketplace does not grant. */
export function refusedWorker(wish: string, why: string): PawlError {
  return new PawlError("not_allowed", `${wish}: ${why}.`);
}
