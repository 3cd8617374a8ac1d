import { isOfOtherProcesses, PawlError } from "../base/errors.ts";
import { cleanText } from "../base/json.ts";
import type { Cause } from "../base/options.ts";
import type { Kernel } from "../kernel/kernel.ts";
import { type Repeated, repeat } from "../maintenance/repeat.ts";
import type { Part } from "../store/port/db.ts";
import { logFailure } from "../telemetry/log.ts";
import { type Operation, operationOf } from "./results.ts";
import {
  abortOperation,
  type ItemOutcome,
  insertOperation,
  type LeasedOperation,
  leaseOperation,
  type NewOperation,
  type OperationItem,
  type OperationSubject,
  pruneOperations,
  readLeftItems,
  settleOperation,
} from "./store/operations.ts";
import { type OperationView, readOperation, readOperations } from "./views/operations.ts";

export type { ItemOutcome, LeasedOperation };

/** The most items of one operation. */
export const mostItems = 100_000;
const batchSize = 100;
const leaseMs = 60_000;
const lookEveryMs = 1_000;
/** Counted from its end. */
const keepMs = 30 * 86_400_000;

/**
 * Decides items one by one: a refused one does not block others. An item without an outcome is decided again later. A
 * process that continues after a crash must recognise what was decided before.
 */
export type DecideItems = (operation: LeasedOperation, items: readonly OperationItem[]) => Promise<ItemOutcome[]>;

/** What decides the items of each subject. */
export type Deciders = Readonly<Record<OperationSubject, DecideItems>>;

/** Stores a bulk operation with the items that match now; any process carries it out. */
export async function beginOperation(
  kernel: Kernel,
  operation: Omit<NewOperation, "id">,
  meant: Part,
): Promise<Operation> {
  const id = kernel.newId();
  await insertOperation(kernel.db, { ...operation, id }, meant);
  return knownOperation(kernel, id);
}

/** Returns an operation; throws `operation_unknown`. */
export async function knownOperation(kernel: Kernel, id: string): Promise<Operation> {
  const found = await readOperation(kernel.db, id);
  if (found !== undefined) return operationOf(found);
  throw new PawlError("operation_unknown", `Operation ${id} does not exist.`, { operation: id });
}

export function getOperation(kernel: Kernel, id: string): Promise<OperationView | undefined> {
  return readOperation(kernel.db, id);
}

export function listOperations(kernel: Kernel, limit: number): Promise<OperationView[]> {
  return readOperations(kernel.db, limit);
}

/** False when it had ended. */
export function abortRunningOperation(kernel: Kernel, id: string, by: Cause): Promise<boolean> {
  return abortOperation(kernel.db, id, by);
}

/** Runs one batch of one operation that may continue now; returns whether there was one. */
export async function runOneBatch(kernel: Kernel, deciders: Deciders, only: string | null = null): Promise<boolean> {
  const lifecycles = [...kernel.lifecycles.keys()];
  const operation = await leaseOperation(kernel.db, { only, lifecycles, leaseMs });
  if (operation === undefined) return false;
  const limit = Math.min(batchSize, Math.max(1, Math.ceil(operation.per_second ?? batchSize)));
  const items = await readLeftItems(kernel.db, operation, { lifecycles, limit });
  const outcomes = await deciders[operation.subject](operation, items);
  await settleOperation(kernel.db, operation, outcomes);
  return true;
}

/** Runs operations in the background, and deletes those that ended long ago. */
export function startOperationLoop(kernel: Kernel, deciders: Deciders): Repeated {
  const round = async (): Promise<number> => {
    if (await runOneBatch(kernel, deciders)) return 0;
    return lookEveryMs;
  };
  return repeat(round, { restMs: lookEveryMs, onFailure: (error) => logFailure(kernel.telemetry.log, error) });
}

/** Deletes operations that ended a month ago. */
export async function pruneEndedOperations(kernel: Kernel): Promise<void> {
  await pruneOperations(kernel.db, keepMs, 20);
}

/**
 * The outcomes that are known. If no item could be decided, the environment is at fault, and a later attempt may
 * succeed: the first error is thrown.
 */
export function knownOutcomes(
  outcomes: readonly (ItemOutcome | undefined)[],
  failures: Iterable<PawlError>,
): ItemOutcome[] {
  const known = outcomes.filter((one) => one !== undefined);
  const [first] = failures;
  if (known.length === 0 && first !== undefined) throw first;
  return known;
}

/** The outcome of a refused item; undefined if the same may succeed later. */
export function refusedOutcome(itemId: string, error: PawlError): ItemOutcome | undefined {
  const isPassing = error.fault === "environment" && !isOfOtherProcesses(error);
  return isPassing ? undefined : { itemId, ...refusalOf(error) };
}

export function refusalOf(error: PawlError): { outcome: string; note: string } {
  return { outcome: error.code, note: cleanText(error.message, 500) };
}

/** The reason that is recorded: the operator's, or else the operation itself. */
export function reasonOf({ reason, decision, id }: LeasedOperation): string {
  return reason ?? `${decision} ${id}`;
}
