import type { Kernel } from "../kernel/kernel.ts";
import { beat, beatEveryMs, leave } from "../kernel/workers.ts";

type Said = Parameters<typeof beat>[1];

/**
 * Tells the database every now and then that a worker lives and what it does, in one small statement. Leases do not hang
 * on it: a beat that fails is not missed by anybody but who looks.
 */
export class Heartbeat {
  readonly #kernel: Kernel;
  readonly #say: () => Said;
  readonly #timer: NodeJS.Timeout;
  #underWay: Promise<void> | undefined;

  constructor(kernel: Kernel, say: () => Said) {
    this.#kernel = kernel;
    this.#say = say;
    this.#timer = setInterval(() => this.now(), beatEveryMs);
    this.#timer.unref();
  }

  /** Does not wait for a beat that has not come back: what hangs is not to pile up. */
  now(): void {
    this.#underWay ??= beat(this.#kernel, this.#say()).then(
      () => this.#done(),
      () => this.#done(),
    );
  }

  /** The worker is no more, and nobody is to look for it. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#underWay;
    await leave(this.#kernel, this.#say().id).catch(() => {});
  }

  #done(): void {
    this.#underWay = undefined;
  }
}
