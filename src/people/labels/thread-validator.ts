import { Worker } from "node:worker_threads";
import { PawlError } from "../../base/errors.ts";
import { threadFile } from "../../store/port/thread-file.ts";
import type { LabelFault } from "./label-faults.ts";
import type { FromThread, ToThread } from "./validation-messages.ts";

/**
 * The number of labels that can wait for the thread: many may be submitted at once, and a pause of the process makes
 * labels seem slow.
 */
const maxWaiting = 1_000;
const startLimitMs = 10_000;
const maxHeapMb = 128;

interface Validation extends ToThread {
  readonly limitMs: number;
  readonly resolve: (faults: readonly LabelFault[]) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Validates labels in a thread, one after the other. Catastrophic backtracking blocks only the thread, which is
 * terminated at the time limit; the next label starts a new one.
 */
export class ThreadValidator {
  #worker: Worker | undefined;
  #isReady = false;
  #current: Validation | undefined;
  #timer: NodeJS.Timeout | undefined;
  readonly #waiting: Validation[] = [];

  /** Returns all faults of a label, or `busy` if it takes longer than `limitMs` or too many labels wait. */
  validate(form: object, label: unknown, limitMs: number): Promise<readonly LabelFault[]> {
    if (this.#waiting.length >= maxWaiting)
      throw new PawlError("busy", `${maxWaiting} labels are waiting for validation. Try again.`);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ form, label, limitMs, resolve, reject });
      this.#next();
    });
  }

  #next(): void {
    if (this.#current !== undefined) return;
    this.#current = this.#waiting.shift();
    if (this.#current === undefined) {
      this.#worker?.unref(); // An idle thread must not keep the process alive.
      return;
    }
    this.#worker ??= this.#start();
    this.#worker.ref();
    if (this.#isReady) this.#begin();
  }

  /** The time limit starts when the thread is ready. */
  #begin(): void {
    const { form, label, limitMs } = this.#current!;
    this.#limit(limitMs);
    this.#worker!.postMessage({ form, label } satisfies ToThread);
  }

  #limit(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#replace();
      this.#end(new PawlError("busy", `It took longer than ${ms} ms.`));
    }, ms);
  }

  #start(): Worker {
    const { file, execArgv } = threadFile(new URL("./validation-thread.ts", import.meta.url));
    const resourceLimits = { maxOldGenerationSizeMb: maxHeapMb };
    const worker = new Worker(file, { name: "pawl-labels", execArgv, resourceLimits });
    const ended = (error: Error): void => {
      if (this.#worker !== worker) return;
      this.#replace();
      this.#end(error);
    };
    worker.on("message", (message: FromThread) => {
      if (this.#worker !== worker) return;
      if ("ready" in message) {
        this.#isReady = true;
        if (this.#current !== undefined) this.#begin();
      } else this.#end("faults" in message ? message.faults : new Error(message.failure));
    });
    worker.on("error", ended);
    worker.on("exit", () => ended(new PawlError("busy", "The validation thread ended.")));
    this.#limit(startLimitMs);
    return worker;
  }

  #replace(): void {
    void this.#worker?.terminate();
    this.#worker = undefined;
    this.#isReady = false;
  }

  #end(outcome: readonly LabelFault[] | Error): void {
    clearTimeout(this.#timer);
    const ended = this.#current;
    this.#current = undefined;
    if (outcome instanceof Error) ended?.reject(outcome);
    else ended?.resolve(outcome);
    this.#next();
  }
}
