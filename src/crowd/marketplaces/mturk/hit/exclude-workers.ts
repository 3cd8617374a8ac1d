import type { QualificationRequirement } from "@aws-sdk/client-mturk";
import { TransientError } from "../../../../base/step-errors.ts";
import type { MarketplaceContext, Posting } from "../../../marketplace.ts";
import { pages } from "../pages.ts";
import { isRefused, Refused } from "../refused.ts";
import type { Requester } from "../requester.ts";

/**
 * A requirement of a HIT that excludes some workers: not to have a qualification that they are given. There is one per
 * owner; creating and granting it a second time does nothing.
 */
export async function requireNone(
  requester: Requester,
  { owner, excludes }: Posting,
  call: MarketplaceContext,
): Promise<readonly QualificationRequirement[]> {
  if (excludes.length === 0) return [];
  const id = await qualificationOf(requester, owner, call);
  for (const worker of excludes) {
    await requester.ask(`exclude the worker ${worker}`, call, (turk, how) =>
      turk.associateQualificationWithWorker(
        { QualificationTypeId: id, WorkerId: worker, IntegerValue: 1, SendNotification: false },
        how,
      ),
    );
  }
  return [{ QualificationTypeId: id, Comparator: "DoesNotExist", ActionsGuarded: "DiscoverPreviewAndAccept" }];
}

/** Deletes the qualification of an owner whose jobs have ended; a missing one is fine. */
export async function deleteExclusion(requester: Requester, owner: string, call: MarketplaceContext): Promise<void> {
  const id = await findQualification(requester, nameFor(owner), call);
  if (id === undefined) return;
  try {
    await requester.ask("delete a qualification", call, (turk, how) =>
      turk.deleteQualificationType({ QualificationTypeId: id }, how),
    );
  } catch (error) {
    if (!(error instanceof Refused)) throw error; // It is deleted already, or still in use, which does no harm.
  }
}

function nameFor(owner: string): string {
  return `pawl ${owner} done`;
}

async function qualificationOf(requester: Requester, owner: string, call: MarketplaceContext): Promise<string> {
  const name = nameFor(owner);
  try {
    const { QualificationType: made } = await requester.ask("create a qualification", call, (turk, how) =>
      turk.createQualificationType(
        { Name: name, Description: "Has already done this task.", QualificationTypeStatus: "Active" },
        how,
      ),
    );
    if (made?.QualificationTypeId !== undefined) return made.QualificationTypeId;
  } catch (error) {
    if (!isRefused(error, "QualificationTypeAlreadyExists")) throw error;
  }
  const known = await findQualification(requester, name, call);
  if (known !== undefined) return known;
  const text = `The qualification "${name}" exists on Mechanical Turk, but is not visible yet.`;
  throw new TransientError(text, { retryAfterMs: 60_000 });
}

async function findQualification(
  requester: Requester,
  name: string,
  call: MarketplaceContext,
): Promise<string | undefined> {
  const owned = { Query: name, MustBeRequestable: false, MustBeOwnedByCaller: true };
  const read = pages((from) =>
    requester.ask("find a qualification", call, (turk, how) => turk.listQualificationTypes({ ...owned, ...from }, how)),
  );
  for await (const { QualificationTypes = [] } of read) {
    const found = QualificationTypes.find((one) => one.Name === name)?.QualificationTypeId;
    if (found !== undefined) return found;
  }
  return undefined;
}
