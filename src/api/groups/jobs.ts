import { PawlError } from "../../base/errors.ts";
import { checkedLimit, checkedOptions } from "../../base/options.ts";
import type { AnyJob } from "../../definition/job.ts";
import type { AnyLifecycle } from "../../definition/language/public-types.ts";
import type { LifecycleModel } from "../../definition/model.ts";
import { type Kernel, knownLifecycle, refuseInside } from "../../kernel/kernel.ts";
import { refOf } from "../../kernel/refs.ts";
import { type JobStatus, listJobs, statusOf } from "../../kernel/tasks/jobs.ts";
import type { Verbs } from "../../kernel/verbs.ts";
import { type InstanceRef, idOf, type JobsOptions } from "../arguments/options.ts";

/** Background jobs: `pawl.jobs`. */
export class Jobs {
  readonly #kernel: Kernel;
  readonly #verbs: Verbs;

  /** @internal */
  constructor(kernel: Kernel, verbs: Verbs) {
    this.#kernel = kernel;
    this.#verbs = verbs;
  }

  /**
   * Returns the status of a job (pending, running, done or error) and its attempts, or undefined if it does not exist.
   */
  async get<J extends AnyJob>(job: J, instance: InstanceRef): Promise<JobStatus | undefined> {
    const row = await this.#verbs.read(knownJob(this.#kernel, job), refOf(instance), undefined);
    if (row === undefined) return undefined;
    return (await statusOf(this.#kernel, [row]))[0];
  }

  /** Lists jobs, newest first. Defaults to all jobs of this process and all statuses. */
  async list(options: JobsOptions = {}): Promise<JobStatus[]> {
    refuseInside(this.#kernel, "jobs.list");
    const {
      job,
      status,
      limit = 100,
      after,
    } = checkedOptions(options, ["job", "status", "limit", "after"], "jobs.list");
    const jobs =
      job === undefined
        ? [...this.#kernel.lifecycles.values()].filter((one) => one.job)
        : [knownJob(this.#kernel, job)];
    if (status !== undefined && !["pending", "running", "done", "error"].includes(status)) {
      throw new PawlError("option_invalid", "`status` must be pending, running, done or error.");
    }
    const beforeId = after === undefined ? null : idOf(after);
    return listJobs(this.#kernel, { jobs, status, limit: checkedLimit(limit), beforeId });
  }
}

/** Returns the lifecycle of a job; refuses any other lifecycle. */
export function knownJob(kernel: Kernel, job: AnyLifecycle): LifecycleModel {
  const known = knownLifecycle(kernel, job);
  if (known.job) return known;
  throw new PawlError("option_invalid", `\`${job.name}\` is a lifecycle, not a job: start it with pawl.start().`);
}
