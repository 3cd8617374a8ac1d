import type { HIT } from "@aws-sdk/client-mturk";
import type { MarketplaceContext, RemoteJob } from "../../../marketplace.ts";
import { pageAfter, pages } from "../pages.ts";
import { isRefused } from "../refused.ts";
import type { Requester } from "../requester.ts";

/** Undefined if it was deleted or never existed: for a while the service returns deleted HITs. */
export async function readHit(requester: Requester, id: string, call: MarketplaceContext): Promise<HIT | undefined> {
  try {
    const { HIT } = await requester.ask(`read the HIT ${id}`, call, (turk, how) => turk.getHIT({ HITId: id }, how));
    return HIT?.HITStatus === "Disposed" ? undefined : HIT;
  } catch (error) {
    if (isRefused(error, "HITDoesNotExist")) return undefined;
    throw error;
  }
}

/** A page of the HITs that Pawl has published with this account. */
export async function readHits(
  requester: Requester,
  after: string | undefined,
  call: MarketplaceContext,
): Promise<{ readonly hits: readonly HIT[]; readonly NextToken: string | undefined }> {
  const { HITs = [], NextToken } = await requester.ask("list the HITs", call, (turk, how) =>
    turk.listHITs({ ...pageAfter(after) }, how),
  );
  const ours = HITs.filter(
    (hit) => hit.HITStatus !== "Disposed" && requester.annotations.ownerIn(hit.RequesterAnnotation) !== undefined,
  );
  return { hits: ours, NextToken: NextToken || undefined };
}

/** Searches all HITs for the one with this annotation. */
export async function findAnnotated(
  requester: Requester,
  annotation: string,
  call: MarketplaceContext,
): Promise<HIT | undefined> {
  for await (const { hits } of pages(({ NextToken }) => readHits(requester, NextToken, call))) {
    const found = hits.find((hit) => hit.RequesterAnnotation === annotation);
    if (found !== undefined) return found;
  }
  return undefined;
}

export function jobOf(requester: Requester, hit: HIT): RemoteJob {
  return {
    id: hit.HITId!,
    owner: requester.annotations.ownerIn(hit.RequesterAnnotation) ?? null,
    places: hit.MaxAssignments ?? 0,
    pending: hit.NumberOfAssignmentsPending ?? 0,
    expiresAt: hit.Expiration ?? null,
    open: hit.HITStatus === "Assignable",
  };
}
