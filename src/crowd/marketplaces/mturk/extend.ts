import type { HIT } from "@aws-sdk/client-mturk";
import { PermanentError, TransientError } from "../../../base/step-errors.ts";
import { type Call, CannotExtend, type Extension, type RemoteJob } from "../../marketplace.ts";
import { jobOf, readHit } from "./hits.ts";
import { isRefused } from "./refused.ts";
import type { Requester } from "./requester.ts";

/** From as many places on a HIT costs more: one that was created with fewer can never have them. */
const dearFrom = 10;

/**
 * Gives a HIT the places and the time that it lacks. What it has is read first, so that what was done before is not done
 * again, also after the service forgot the token.
 */
export async function extend(requester: Requester, id: string, extension: Extension, call: Call): Promise<RemoteJob> {
  const { token, places, until } = extension;
  let hit = await present(requester, id, call);
  const missing = places - (hit.MaxAssignments ?? 0);
  if (missing > 0) {
    if (places >= dearFrom && places - missing < dearFrom) throw cannotExtend(id, places, undefined);
    try {
      await requester.ask(`add ${missing} places to ${id}`, call, (turk, how) =>
        turk.createAdditionalAssignmentsForHIT(
          { HITId: id, NumberOfAdditionalAssignments: missing, UniqueRequestToken: token },
          how,
        ),
      );
    } catch (error) {
      if (isRefused(error, "InvalidMaximumAssignmentsIncrease", "HITTooOldForExtension")) {
        throw cannotExtend(id, places, error);
      }
      if (!isRefused(error, "TokenUsed")) throw error;
    }
  }
  if (until !== null && (hit.Expiration ?? until) < until) await expireAt(requester, id, until, call);
  hit = await present(requester, id, call);
  if ((hit.MaxAssignments ?? 0) >= places) return jobOf(hit);
  const text = `Mechanical Turk has taken ${places} places for ${id} and shows ${hit.MaxAssignments} yet.`;
  throw new TransientError(text, { retryAfterMs: 60_000 });
}

/** The same time a second time is refused, and is as good as the first. */
export async function expireAt(requester: Requester, id: string, at: Date, call: Call): Promise<void> {
  try {
    await requester.ask(`let ${id} end at ${at.toISOString()}`, call, (turk, how) =>
      turk.updateExpirationForHIT({ HITId: id, ExpireAt: at }, how),
    );
  } catch (error) {
    if (!isRefused(error, "TokenUsed")) throw error;
  }
}

async function present(requester: Requester, id: string, call: Call): Promise<HIT> {
  const hit = await readHit(requester, id, call);
  if (hit !== undefined) return hit;
  throw new PermanentError(`The HIT ${id} is no longer on Mechanical Turk: it cannot be extended.`);
}

function cannotExtend(id: string, places: number, cause: unknown): CannotExtend {
  const why = `The HIT ${id} cannot have ${places} places`;
  return new CannotExtend(`${why}: one created with fewer than ${dearFrom} never can, nor an old one.`, { cause });
}
