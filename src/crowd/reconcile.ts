import type { Kernel } from "../kernel/kernel.ts";
import { findInStates } from "../views/move/instances.ts";
import { readStates } from "../views/move/states.ts";
import type { CrowdLifecycles } from "./crowd-lifecycles.ts";
import type { JobData } from "./data.ts";
import type { Marketplace, MarketplaceContext, RemoteJob } from "./marketplace.ts";

/** A difference between the marketplace and Pawl. */
export interface ReconcileIssue {
  /** A posting without a job, or a job whose posting is missing. */
  readonly kind: "posting" | "job";
  readonly marketplace: string;
  readonly posting: string;
  /** The crowd job, if there is one. */
  readonly jobId: string | null;
  readonly message: string;
  readonly repaired: boolean;
}

const pageSize = 500;
/** Where a job has its postings, and is to find them. */
const living = ["running", "syncing", "extending", "closing", "failed"];

/** Compares all postings with all open jobs, page by page. */
export async function reconcile(
  kernel: Kernel,
  families: readonly CrowdLifecycles[],
  { repair, sync }: { readonly repair: boolean; readonly sync: (id: string) => Promise<void> },
): Promise<ReconcileIssue[]> {
  const call = { signal: AbortSignal.timeout(10 * 60_000) };
  const issues: ReconcileIssue[] = [];
  const seen = new Map<Marketplace, Set<string>>();
  for (const { crowd, marketplace } of families) {
    if (seen.has(marketplace)) continue;
    const ids = new Set<string>();
    seen.set(marketplace, ids);
    for (let after: string | undefined; ; ) {
      const { jobs, next } = await marketplace.jobs(after, call);
      for (const { id } of jobs) ids.add(id);
      const orphans = await orphansAmong(kernel, jobs);
      for (const one of orphans) issues.push(await settleOrphan(marketplace, crowd.marketplace, one, repair, call));
      if (next === undefined) break;
      after = next;
    }
  }
  for (const family of families)
    issues.push(...(await lostJobs(kernel, family, seen.get(family.marketplace)!, repair, sync)));
  return issues;
}

/** A posting that names an instance, and whether there is such a job here. */
interface Orphan extends RemoteJob {
  readonly isOurs: boolean;
}

/**
 * Postings whose job is not here, or does not know them; a posting that names no instance may belong to another system.
 */
async function orphansAmong(kernel: Kernel, jobs: readonly RemoteJob[]): Promise<Orphan[]> {
  const owned = jobs.filter(({ owner }) => owner !== null);
  const rows = await readStates(kernel.db, [...new Set(owned.map(({ owner }) => owner!))]);
  const owners = new Map(rows.map((row) => [row.id, row]));
  return owned.flatMap((job): Orphan[] => {
    const row = owners.get(job.owner!);
    if (row === undefined) return [{ ...job, isOurs: false }];
    // It may be in progress: published, and not stored yet.
    if (row.state === "publishing" || row.state === "extending") return [];
    const isKnown = (row.data as JobData).remotes?.some((remote) => remote.id === job.id);
    return isKnown ? [] : [{ ...job, isOurs: true }];
  });
}

/** A posting without a job here may belong to another Pawl on the same account, and is not changed. */
async function settleOrphan(
  marketplace: Marketplace,
  name: string,
  { id, owner, open, isOurs }: Orphan,
  repair: boolean,
  call: MarketplaceContext,
): Promise<ReconcileIssue> {
  const repaired = repair && isOurs;
  if (repaired && open) await marketplace.close(id, call);
  const which = isOurs
    ? "which has no record of it"
    : "which does not exist here; it may belong to another installation";
  const message = `Posting ${id} names crowd job ${owner}, ${which}.`;
  return { kind: "posting", marketplace: name, posting: id, jobId: owner, message, repaired: repaired };
}

async function lostJobs(
  kernel: Kernel,
  { job, crowd }: CrowdLifecycles,
  there: ReadonlySet<string>,
  repair: boolean,
  sync: (id: string) => Promise<void>,
): Promise<ReconcileIssue[]> {
  const issues: ReconcileIssue[] = [];
  for (let beforeId: string | null = null; ; ) {
    const rows = await findInStates(kernel.db, living, { lifecycle: job.name, beforeId, limit: pageSize });
    for (const row of rows) {
      for (const { id } of (row.data as JobData).remotes) {
        if (there.has(id)) continue;
        if (repair) await sync(row.id);
        const message = `Crowd job ${row.id} has posting ${id}, which does not exist on the marketplace.`;
        issues.push({
          kind: "job",
          marketplace: crowd.marketplace,
          posting: id,
          jobId: row.id,
          message,
          repaired: repair,
        });
      }
    }
    if (rows.length < pageSize) return issues;
    beforeId = rows.at(-1)!.id;
  }
}
