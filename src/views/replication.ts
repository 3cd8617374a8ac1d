import { type Executor, sql } from "../store/port/db.ts";

interface Standby {
  readonly name: string;
  /** `sync`, `quorum`, `potential` or `async`. */
  readonly sync: string;
  readonly state: string;
}

/** What of the server's replication and of other sessions decides how safe commits are, and what cleans up after them. */
export interface Replication {
  /** Of those that the present role may see. */
  readonly standbys: readonly Standby[];
  /** `synchronous_standby_names`; empty without synchronous replication. */
  readonly synchronous: string;
  /** Sessions whose commit waits for a standby. */
  readonly waiting: number;
  /** The age of the oldest open transaction: rows that were deleted since cannot be cleaned up. */
  readonly oldest_transaction_s: number | null;
  readonly oldest_transaction_by: string | null;
}

export async function readReplication(db: Executor): Promise<Replication> {
  const [row] = await db.rows<Replication>(sql`
    select
      coalesce((
        select pg_catalog.json_agg(pg_catalog.json_build_object('name', application_name, 'sync', sync_state, 'state', state)
          order by application_name)
        from pg_catalog.pg_stat_replication where sync_state is not null
      ), '[]') as standbys,
      pg_catalog.current_setting('synchronous_standby_names') as synchronous,
      (select pg_catalog.count(*)::int from pg_catalog.pg_stat_activity where wait_event = 'SyncRep') as waiting,
      (extract(epoch from pg_catalog.clock_timestamp() - oldest.xact_start))::float8 as oldest_transaction_s,
      oldest.application_name as oldest_transaction_by
    from (select 1) as one left join lateral (
      select xact_start, coalesce(nullif(application_name, ''), 'pid ' || pid::text) as application_name
      from pg_catalog.pg_stat_activity
      where xact_start is not null and pid <> pg_catalog.pg_backend_pid() and backend_type = 'client backend'
      order by xact_start limit 1
    ) as oldest on true`);
  return row!;
}
