import { type Kernel, refuseInside } from "../kernel/kernel.ts";
import { type ShownWorker, showWorkers } from "../kernel/tasks/workers.ts";

/** The workers of all processes: `pawl.workers`. */
export class Workers {
  readonly #kernel: Kernel;

  /** @internal */
  constructor(kernel: Kernel) {
    this.#kernel = kernel;
  }

  /** The workers of all processes, as they were at their last sign of life; those that fell silent are kept for an hour. */
  async list(): Promise<ShownWorker[]> {
    refuseInside(this.#kernel, "workers.list");
    return showWorkers(this.#kernel);
  }
}
