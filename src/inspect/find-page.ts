import { PawlError } from "../base/errors.ts";
import type { InstanceRow } from "../store/move/instances.ts";
import { readInstances } from "../store/move/instances.ts";
import type { Executor } from "../store/port/db.ts";
import { readCounts } from "../views/counts.ts";
import { countFiltered, findFiltered, type InstanceFilter, type LastRow } from "../views/move/filtered.ts";

/** A number of instances. */
export interface InstanceCount {
  readonly count: number;
  /** Whether there may be more. */
  readonly more: boolean;
}

/** The most instances that are counted, and the most that are sorted by their key. */
const most = 10_000;

/** The instances that fit, after the last one of the page before. */
export async function findPage(
  db: Executor,
  filter: InstanceFilter,
  { afterId, limit }: { readonly afterId: string | null; readonly limit: number },
): Promise<InstanceRow[]> {
  const after = afterId === null ? null : await lastRow(db, filter, afterId);
  return findFiltered(db, filter, { after, limit, few: await areFew(db, filter) });
}

/** Counts those that fit. Without a condition but the state it is a sum of stored counts. */
export async function countPages(db: Executor, filter: InstanceFilter): Promise<InstanceCount> {
  const { key, failure, parentId, olderThanMs, idleMs } = filter;
  const onlyStates = [key, failure, parentId, olderThanMs, idleMs].every((each) => each === null);
  if (onlyStates) return { count: await sumOf(db, filter), more: false };
  return countFiltered(db, filter, { most, few: await areFew(db, filter) });
}

/** Pages in the order of keys go on after the key of the last row. */
async function lastRow(db: Executor, { key }: InstanceFilter, id: string): Promise<LastRow> {
  if (key === null) return { id, key: null };
  const [found] = await readInstances(db, [id]);
  if (found?.key) return { id, key: found.key };
  throw new PawlError(
    "option_invalid",
    `\`after\` is not an instance with a key: ${id}. List again from the first page.`,
  );
}

/** Whether the states have so few instances that all of them can be sorted by key. */
async function areFew(db: Executor, filter: InstanceFilter): Promise<boolean> {
  if (filter.key === null || !filter.resting || filter.parentId !== null) return false;
  return (await sumOf(db, filter)) <= most;
}

async function sumOf(db: Executor, { lifecycle, states }: InstanceFilter): Promise<number> {
  const counts = await readCounts(db, [lifecycle]);
  return counts
    .filter(({ state }) => states === null || states.includes(state))
    .reduce((sum, { instances }) => sum + instances, 0);
}
