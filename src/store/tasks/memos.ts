import { type Executor, sql } from "../port/db.ts";
import type { Lease } from "./tasks.ts";

export interface MemoKey {
  readonly instanceId: string;
  readonly owner: string;
  readonly name: string;
}

/** A result that was kept. A step may keep nothing, which is not the same as null. */
export interface Memo {
  readonly value: unknown;
  readonly has_value: boolean;
}

/** The value stored under this name; undefined if there is none. */
export async function readMemo(db: Executor, key: MemoKey): Promise<Memo | undefined> {
  const [memo] = await db.rows<Memo>(sql`
    select value, value is not null as has_value from pawl.memos
    where instance_id = ${key.instanceId}::uuid and owner = ${key.owner}::text and name = ${key.name}::text`);
  return memo;
}

/**
 * Stores a result, for the holder of the lease only. Returns the stored value: the first one stays. The lock on the
 * task keeps its lease from being returned meanwhile, and does not conflict with a renewal.
 */
export async function saveMemo(
  db: Executor,
  lease: Lease,
  key: MemoKey,
  valueText: string | null,
): Promise<Memo | undefined> {
  const [kept] = await db.rows<Memo>(sql`
    with held as materialized (
      select task.id from pawl.tasks as task
      where task.id = ${lease.taskId}::uuid and task.token = ${lease.token}::bigint and task.worker is not null
      for key share
    )
    insert into pawl.memos as memo (instance_id, owner, name, value, at)
    select ${key.instanceId}::uuid, ${key.owner}::text, ${key.name}::text, ${valueText}::text::jsonb, pawl.now() from held
    on conflict (instance_id, owner, name) do update set at = memo.at
    returning memo.value, memo.value is not null as has_value`);
  return kept;
}
