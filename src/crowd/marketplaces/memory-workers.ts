import type { Json } from "../../base/json.ts";
import {
  assignmentOf,
  isSubmitted,
  type KeptAssignment,
  type MemoryAssignment,
  type MemoryJob,
  type MemoryJobs,
  refusedWorker,
} from "./memory-jobs.ts";

/** The workers of a `memoryMarketplace`, played by a test or a demo. */
export class MemoryWorkers {
  readonly #jobs: MemoryJobs;

  /** @internal */
  constructor(jobs: MemoryJobs) {
    this.#jobs = jobs;
  }

  /** The jobs on which a worker can begin, oldest first. */
  openJobs(): MemoryJob[] {
    return this.#shown().filter((job) => job.open);
  }

  /** The jobs that an instance of Pawl has published and not deleted, oldest first. */
  jobsOf(owner: string): MemoryJob[] {
    return this.#shown().filter((job) => job.owner === owner);
  }

  /** The current state of an assignment. */
  assignment(id: string): MemoryAssignment {
    return assignmentOf(this.#assignment(id, "shown"));
  }

  /** Begins work; returns the id of the assignment, which is also that of its submission. */
  accept(job: string, worker: string): string {
    const wish = `Worker ${JSON.stringify(worker)} cannot start job ${job}`;
    if (typeof worker !== "string" || worker === "") throw refusedWorker(wish, "a worker needs an id, a string");
    const found = this.#jobs.find(job);
    if (found === undefined) throw refusedWorker(wish, "the job does not exist, or was deleted");
    if (found.posting.excludes.includes(worker)) throw refusedWorker(wish, "the job excludes this worker");
    const earlier = [...found.assignments.values()].find(
      (one) => one.worker === worker && (one.status === "accepted" || isSubmitted(one)),
    );
    if (earlier !== undefined) throw refusedWorker(wish, `the worker already has assignment ${earlier.id} of it`);
    if (this.#jobs.isExpired(found)) throw refusedWorker(wish, "it has expired");
    if (!this.#jobs.hasPlace(found)) throw refusedWorker(wish, `all its ${found.places} places are taken`);
    return this.#jobs.take(found, worker).id;
  }

  /** Submits an answer, which is not validated here. */
  submit(assignment: string, answer: Json): void {
    const held = this.#held(assignment, "submitted");
    held.status = "submitted";
    held.answer = answer;
    held.submittedMs = this.#jobs.now();
  }

  /** Accepts and submits at once; returns the id of the submission. */
  work(job: string, worker: string, answer: Json): string {
    const id = this.accept(job, worker);
    this.submit(id, answer);
    return id;
  }

  /** The worker gives it back, and its place is free again. */
  return(assignment: string): void {
    this.#held(assignment, "returned").status = "returned";
  }

  /** Ends the worker's time, as happens after the crowd's `workTime`. */
  abandon(assignment: string): void {
    this.#held(assignment, "abandoned").status = "abandoned";
  }

  #held(id: string, become: string): KeptAssignment {
    const found = this.#assignment(id, become);
    if (found.status === "accepted") return found;
    throw refusedWorker(`Assignment ${id} cannot be ${become}`, `it is ${found.status}`);
  }

  #assignment(id: string, become: string): KeptAssignment {
    const found = this.#jobs.findAssignment(id);
    if (found !== undefined) return found;
    throw refusedWorker(`Assignment ${id} cannot be ${become}`, "it does not exist, or its job was deleted");
  }

  #shown(): MemoryJob[] {
    return this.#jobs.list().map((job) => this.#jobs.show(job));
  }
}
