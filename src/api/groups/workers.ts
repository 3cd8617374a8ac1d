import { type Kernel, refuseInside } from "../../kernel/kernel.ts";
import { listWorkers, type WorkerInfo } from "../../kernel/tasks/workers.ts";

/** The workers of all processes: `pawl.workers`. */
export class Workers {
  readonly #kernel: Kernel;

  /** @internal */
  constructor(kernel: Kernel) {
    this.#kernel = kernel;
  }

  /** The workers of all processes, as they were at their last sign of life; those that fell silent are kept for an hour. */
  async list(): Promise<WorkerInfo[]> {
    refuseInside(this.#kernel, "workers.list");
    return listWorkers(this.#kernel);
  }
}
