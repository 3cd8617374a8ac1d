import type { Kernel } from "../kernel/kernel.ts";
import { beatEveryMs, deleteWorker, saveHeartbeat } from "../kernel/tasks/workers.ts";

type HeartbeatRow = Parameters<typeof saveHeartbeat>[1];

/**
 * Writes at intervals that a worker is alive and what it does, in one small statement. Leases do not depend on it: a
 * failed heartbeat affects only what is displayed.
 */
export class Heartbeat {
  readonly #kernel: Kernel;
  readonly #say: () => HeartbeatRow;
  readonly #timer: NodeJS.Timeout;
  #underWay: Promise<void> | undefined;
  #hasNews = false;

  constructor(kernel: Kernel, say: () => HeartbeatRow) {
    this.#kernel = kernel;
    this.#say = say;
    this.#timer = setInterval(() => this.now(), beatEveryMs);
    this.#timer.unref();
  }

  /** One at a time: what hangs is not to pile up, and is followed by one more. */
  now(): void {
    this.#hasNews = true;
    this.#underWay ??= this.#beat();
  }

  /** The worker has stopped: removes its row. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#underWay;
    await deleteWorker(this.#kernel, this.#say().id).catch(() => {});
  }

  async #beat(): Promise<void> {
    while (this.#hasNews) {
      this.#hasNews = false;
      await saveHeartbeat(this.#kernel, this.#say()).catch(() => {});
    }
    this.#underWay = undefined;
  }
}
