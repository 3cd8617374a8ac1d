import type { Grant } from "../../store/move/written.ts";
import type { ClaimedTask } from "../types/claimed-task.ts";

/** What became of a reserved slot: the task, that there is none, or that its outcome is unknown. */
export type Settled = ClaimedTask | "unwritten" | "unknown";

/** A worker of this process, as the start of an instance sees it. */
export interface LocalWorker {
  /** Reserves a slot for the first step of an instance that is about to start; null if that has to wait in its lane. */
  reserve(instanceId: string, step: { readonly lane: string }): Omit<Grant, "token"> | null;
  /** Called once for each reserved slot. */
  settle(instanceId: string, result: Settled): void;
}

/**
 * The workers of this process. The first step of a new instance is leased with the start to one that has a free slot and
 * nothing else to do: that saves a notification and a claim.
 */
export class LocalWorkers {
  readonly #workers = new Set<LocalWorker>();
  readonly #reserved = new Map<string, LocalWorker>();

  add(worker: LocalWorker): void {
    this.#workers.add(worker);
  }

  remove(worker: LocalWorker): void {
    this.#workers.delete(worker);
  }

  reserve(instanceId: string, step: { readonly lane: string }): Omit<Grant, "token"> | null {
    for (const worker of this.#workers) {
      const holder = worker.reserve(instanceId, step);
      if (holder === null) continue;
      this.#reserved.set(instanceId, worker);
      return holder;
    }
    return null;
  }

  settle(instanceId: string, result: Settled): void {
    this.#reserved.get(instanceId)?.settle(instanceId, result);
    this.#reserved.delete(instanceId);
  }
}
