import type { HIT } from "@aws-sdk/client-mturk";
import { PermanentError, TransientError } from "../../../../base/step-errors.ts";
import { CannotExtend, type Extension, type MarketplaceContext, type RemoteJob } from "../../../marketplace.ts";
import { isRefused } from "../refused.ts";
import type { Requester } from "../requester.ts";
import { jobOf, readHit } from "./hits.ts";

/** A HIT with this many places costs more: one that was created with fewer can never have them. */
const dearFrom = 10;
const secondMs = 1_000;

/**
 * Adds the missing places and time to a HIT. The current values are read first, so that a repeated call does nothing
 * even after the service has forgotten the token.
 */
export async function extend(
  requester: Requester,
  id: string,
  extension: Extension,
  call: MarketplaceContext,
): Promise<RemoteJob> {
  const { places, until } = extension;
  const before = await present(requester, id, call);
  const missing = places - (before.MaxAssignments ?? 0);
  const isNew = missing > 0 && (await addPlaces(requester, id, missing, extension, call));
  if (until !== null && (before.Expiration ?? until) < until) {
    const isSet = await expireAt(requester, id, until, call);
    // It had this end before and was closed since: to an extension that is new, the next second is as good.
    if (!isSet && isNew) await expireAt(requester, id, new Date(until.getTime() + secondMs), call);
  }
  const hit = await present(requester, id, call);
  if ((hit.MaxAssignments ?? 0) >= places) return jobOf(requester, hit);
  const text = `Mechanical Turk accepted ${places} places for ${id}, but still shows ${hit.MaxAssignments}.`;
  throw new TransientError(text, { retryAfterMs: 60_000 });
}

/** False when an attempt before has added them. */
async function addPlaces(
  requester: Requester,
  id: string,
  missing: number,
  { token, places }: Extension,
  call: MarketplaceContext,
): Promise<boolean> {
  if (places >= dearFrom && places - missing < dearFrom) throw cannotExtend(id, places, undefined);
  const more = { HITId: id, NumberOfAdditionalAssignments: missing, UniqueRequestToken: token };
  try {
    await requester.ask(`add ${missing} places to ${id}`, call, (turk, how) =>
      turk.createAdditionalAssignmentsForHIT(more, how),
    );
    return true;
  } catch (error) {
    if (isRefused(error, "TokenUsed")) return false;
    const never = isRefused(error, "InvalidMaximumAssignmentsIncrease", "HITTooOldForExtension");
    throw never ? cannotExtend(id, places, error) : error;
  }
}

/** The service carries one time out once for each HIT: false when it has done that before. */
export async function expireAt(requester: Requester, id: string, at: Date, call: MarketplaceContext): Promise<boolean> {
  try {
    await requester.ask(`set the end of ${id} to ${at.toISOString()}`, call, (turk, how) =>
      turk.updateExpirationForHIT({ HITId: id, ExpireAt: at }, how),
    );
    return true;
  } catch (error) {
    if (isRefused(error, "TokenUsed")) return false;
    throw error;
  }
}

async function present(requester: Requester, id: string, call: MarketplaceContext): Promise<HIT> {
  const hit = await readHit(requester, id, call);
  if (hit !== undefined) return hit;
  throw new PermanentError(`The HIT ${id} is no longer on Mechanical Turk: it cannot be extended.`);
}

function cannotExtend(id: string, places: number, cause: unknown): CannotExtend {
  const why = `The HIT ${id} cannot have ${places} places`;
  return new CannotExtend(`${why}: one created with fewer than ${dearFrom} never can, nor an old one.`, { cause });
}
