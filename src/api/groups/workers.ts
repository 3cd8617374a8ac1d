import { type Kernel, refuseInside } from "../../kernel/kernel.ts";
import { listWorkers, type WorkerInfo } from "../../kernel/tasks/workers.ts";

/** The workers of all processes: `pawl.workers`. */
export class Workers {
  readonly #kernel: Kernel;

  /** @internal */
  constructor(kernel: Kernel) {
    this.#kernel = kernel;
  }

  /** Lists the workers of all processes, as of their last heartbeat. Silent workers are listed for one hour. */
  async list(): Promise<WorkerInfo[]> {
    refuseInside(this.#kernel, "workers.list");
    return listWorkers(this.#kernel);
  }
}
