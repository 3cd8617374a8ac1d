import { PawlError } from "../base/errors.ts";
import { guardListener } from "../base/guard.ts";
import { causeOf, checkedLimit, checkedOptions } from "../base/options.ts";
import { type Kernel, refuseInside } from "../kernel/kernel.ts";
import { pause } from "../kernel/pause.ts";
import type { Verbs } from "../kernel/verbs.ts";
import { logFailure } from "../telemetry/log.ts";
import { idOf } from "./options.ts";
import { type Operation, operationOf } from "./results.ts";
import { runOneBatch } from "./run-operations.ts";
import { abortOperation } from "./store/operations.ts";
import { readOperation, readOperations } from "./views/operations.ts";

const pollMs = 100;

/**
 * Bulk decisions: lists their progress, and runs them in this process. `pawl.operations`.
 *
 * ```ts
 * const { id } = await pawl.deadLetters.requeueMany({ lifecycle: essay }, { actor: "ada", reason: "disk was full" });
 * const { outcomes } = await pawl.operations.run(id);
 * ```
 */
export class Operations {
  readonly #kernel: Kernel;
  readonly #verbs: Verbs;

  /** @internal */
  constructor(kernel: Kernel, verbs: Verbs) {
    this.#kernel = kernel;
    this.#verbs = verbs;
  }

  /** Returns an operation with its progress and outcomes; undefined if there is none. */
  async get(id: string): Promise<Operation | undefined> {
    refuseInside(this.#kernel, "operations.get");
    const found = await readOperation(this.#kernel.db, idOf(id, "an operation"));
    return found === undefined ? undefined : operationOf(found);
  }

  /** Operations, the newest first; those that ended are kept for a month. */
  async list(options: { limit?: number } = {}): Promise<Operation[]> {
    refuseInside(this.#kernel, "operations.list");
    const { limit = 20 } = checkedOptions(options, ["limit"], "operations.list");
    return (await readOperations(this.#kernel.db, checkedLimit(limit))).map(operationOf);
  }

  /** Runs the next batch of an operation in this process, if its rate allows it now; returns its progress. */
  async runBatch(id: string): Promise<Operation> {
    refuseInside(this.#kernel, "operations.runBatch");
    const operation = idOf(id, "an operation");
    await runOneBatch(this.#kernel, this.#verbs, operation);
    return knownOperation(this.#kernel, operation);
  }

  /** Runs an operation in this process, together with others that do, until it has ended. What `onProgress` throws is logged. */
  async run(
    id: string,
    options: { onProgress?: (operation: Operation) => void; signal?: AbortSignal } = {},
  ): Promise<Operation> {
    const { onProgress, signal } = checkedOptions(options, ["onProgress", "signal"], "operations.run");
    const report = guardListener(onProgress, (error) => logFailure(this.#kernel.telemetry.log, error));
    for (let done = -1; ; ) {
      const operation = await this.runBatch(id);
      report(operation);
      if (operation.status !== "running" || signal?.aborted === true) return operation;
      if (operation.done === done) await pause(pollMs);
      done = operation.done;
    }
  }

  /** Aborts an operation. Decisions already made stay. */
  async abort(id: string, options: { actor?: string; reason?: string } = {}): Promise<Operation> {
    refuseInside(this.#kernel, "operations.abort");
    const by = causeOf(checkedOptions(options, ["actor", "reason"], "operations.abort"));
    const operation = idOf(id, "an operation");
    const isAborted = await abortOperation(this.#kernel.db, operation, by);
    const { status, ...found } = await knownOperation(this.#kernel, operation);
    if (isAborted) return { status, ...found };
    const how = status === "done" ? "done" : "aborted";
    throw new PawlError("operation_ended", `Operation ${operation} is already ${how}.`, { operation, status });
  }
}

/** Returns an operation; throws `operation_unknown`. */
export async function knownOperation(kernel: Kernel, id: string): Promise<Operation> {
  const found = await readOperation(kernel.db, id);
  if (found !== undefined) return operationOf(found);
  throw new PawlError("operation_unknown", `Operation ${id} does not exist.`, { operation: id });
}
