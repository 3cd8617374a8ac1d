import { validSecrets } from "../access/access.ts";
import { broken } from "../base/errors.ts";
import { readLiveCounts } from "../inspect/overview.ts";
import type { Kernel } from "../kernel/kernel.ts";
import { kernelOf } from "../kernel/kernel-of.ts";
import type { ReadLimits } from "../store/port/db.ts";
import type { Log } from "../telemetry/log.ts";
import { isDraining } from "./draining.ts";
import type { Pawl } from "./pawl.ts";

/** The logger of a Pawl. */
export function logOf(pawl: Pawl): Log {
  return knownKernel(pawl).telemetry.log;
}

/** Whether the process of a Pawl is shutting down. */
export function isDrainingPawl(pawl: Pawl): boolean {
  return isDraining(knownKernel(pawl));
}

/** Returns the counts of all states and the state of these instances, for live views. */
export function standingOf(pawl: Pawl, ids: readonly string[]): ReturnType<typeof readLiveCounts> {
  return readLiveCounts(knownKernel(pawl), ids);
}

/** Returns which of these tokens and sessions are still valid. */
export function validSecretsOf(pawl: Pawl, secrets: readonly string[]): Promise<ReadonlySet<string>> {
  return validSecrets(knownKernel(pawl).db, secrets);
}

function knownKernel(pawl: Pawl): Kernel {
  const kernel = kernelOf(pawl);
  if (kernel === undefined) throw broken("A Pawl has no kernel.");
  return kernel;
}

/** Runs reads on a few connections of their own, if the database supports it; see `Db.limited`. */
export function withReadLimits<T>(pawl: Pawl, limits: ReadLimits | undefined, work: () => Promise<T>): Promise<T> {
  const db = kernelOf(pawl)?.db;
  return limits === undefined || db?.limited === undefined ? work() : db.limited(limits, work);
}
