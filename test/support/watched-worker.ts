import type { Pawl, WorkerMove } from "pawl";
import type { WorkOptions } from "../../src/worker/settings.ts";
import type { Worker } from "../../src/worker/worker.ts";

/** A worker whose moves are recorded, and a way to wait for one of them. */
export class WatchedWorker {
  readonly moves: string[] = [];
  readonly failures: unknown[] = [];
  readonly worker: Worker;
  #waiting: { move: string; resolve: () => void }[] = [];

  constructor(pawl: Pawl, options: WorkOptions = {}, observe: (move: WorkerMove) => unknown = () => {}) {
    const onMove = (made: WorkerMove) => {
      observe(made);
      const move = `${made.from} → ${made.to}`;
      this.moves.push(move);
      const reached = this.#waiting.filter((one) => one.move === move);
      this.#waiting = this.#waiting.filter((one) => one.move !== move);
      for (const one of reached) one.resolve();
    };
    const onFailure = (error: unknown) => this.failures.push(error);
    this.worker = pawl.work({ concurrency: 1, prefetch: 0, onMove, onFailure, ...options });
  }

  /** Resolves when the move is made from now on. */
  next(move: string): Promise<void> {
    return new Promise((resolve) => this.#waiting.push({ move, resolve }));
  }

  /** Resolves when the move is made, or at once if it was made already. */
  async made(move: string): Promise<void> {
    if (!this.moves.includes(move)) await this.next(move);
  }
}
