import { setTimeout as pause } from "node:timers/promises";
import { isPawlError, type Pawl } from "pawl";
import { trip } from "./trip.ts";

/** Callers that repeat each call until it is acknowledged, and write down what was. */
export class Callers {
  readonly started: string[] = [];
  readonly confirmed: string[] = [];
  readonly left: string[] = [];
  /** How often a call ended without an answer that counts. */
  refused = 0;
  readonly #pawl: Pawl;
  readonly #running: Promise<void>[];
  #isOver = false;

  constructor(pawl: Pawl, many: number) {
    this.#pawl = pawl;
    this.#running = Array.from({ length: many }, (_, caller) => this.#call(caller));
  }

  /** Ends with calls that are acknowledged. */
  async end(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#running);
  }

  async #call(caller: number): Promise<void> {
    for (let number = 0; !this.#isOver; number++) {
      const key = `${caller}-${number}`;
      await this.#untilAcknowledged(() => this.#pawl.start(trip, { key }));
      this.started.push(key);
      // Before, while and after it waits for it.
      await this.#untilAcknowledged(() => this.#pawl.receive(trip, key, "confirmed", { dedupeKey: "once" }));
      this.confirmed.push(key);
      await this.#pawl.wait(trip, key, { until: "ready", timeout: "5m" }).catch(() => {});
      await this.#untilAcknowledged(() => this.#pawl.send(trip, key, "leave", { idempotencyKey: "once" }));
      this.left.push(key);
    }
  }

  async #untilAcknowledged(call: () => Promise<unknown>): Promise<void> {
    for (;;) {
      try {
        await call();
        return;
      } catch (error) {
        // The state is not reached yet, when its wait was cut off.
        const isEarly = isPawlError(error, "transition_refused");
        if (!isEarly && !(isPawlError(error) && error.fault === "environment")) throw error;
        this.refused += 1;
        await pause(50);
      }
    }
  }
}
