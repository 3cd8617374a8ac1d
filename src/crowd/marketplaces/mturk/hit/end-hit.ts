import { TransientError } from "../../../../base/step-errors.ts";
import type { MarketplaceContext } from "../../../marketplace.ts";
import { isRefused } from "../refused.ts";
import type { Requester } from "../requester.ts";
import { deleteExclusion } from "./exclude-workers.ts";
import { expireAt } from "./extend.ts";
import { readHit } from "./hits.ts";

/** Longer than any clock is wrong. */
const yearMs = 365 * 24 * 3_600_000;
const waitMs = 10 * 60_000;

/**
 * Stops new work on a HIT. A time in the past ends it at once. Each call uses another time: the service applies a time
 * only once, even if the HIT was extended in between.
 */
export async function close(requester: Requester, id: string, call: MarketplaceContext): Promise<void> {
  try {
    await expireAt(requester, id, new Date(requester.now() - yearMs), call);
  } catch (error) {
    const mayBeGone = isRefused(error, "HITDoesNotExist", "InvalidHITState");
    if (!mayBeGone || (await readHit(requester, id, call)) !== undefined) throw error;
  }
}

/** Deletes a HIT with all its submissions. A missing HIT counts as deleted. */
export async function dispose(requester: Requester, id: string, call: MarketplaceContext): Promise<void> {
  const hit = await readHit(requester, id, call);
  if (hit === undefined) return;
  try {
    await requester.ask(`delete the HIT ${id}`, call, (turk, how) => turk.deleteHIT({ HITId: id }, how));
  } catch (error) {
    if (isRefused(error, "HITDoesNotExist")) return;
    if (!isRefused(error, "InvalidHITState")) throw error;
    const text = `Mechanical Turk cannot delete the HIT ${id} yet: ${standing[hit.HITStatus ?? "Reviewable"]}`;
    throw new TransientError(text, { retryAfterMs: waitMs, cause: error });
  }
  const owner = requester.annotations.ownerIn(hit.RequesterAnnotation);
  const excludes = hit.QualificationRequirements?.some(({ Comparator }) => Comparator === "DoesNotExist");
  if (owner !== undefined && excludes === true) await deleteExclusion(requester, owner, call);
}

const standing = {
  Assignable: "it is open. Close it first.",
  Unassignable: "a worker is working on it, and can submit until their time expires.",
  Reviewable: "it has an undecided submission. Approve or reject it first.",
  Reviewing: "it has an undecided submission. Approve or reject it first.",
  Disposed: "it is being deleted.",
} as const;
