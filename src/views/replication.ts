import { type Executor, sql } from "../store/port/db.ts";

interface Standby {
  readonly name: string;
  /** `sync`, `quorum`, `potential` or `async`; null to a role that may not see it. */
  readonly sync: string | null;
  readonly state: string | null;
}

/** Something that keeps the server from removing rows that were deleted since it began. */
interface HorizonHolder {
  readonly what: "transaction" | "prepared transaction" | "replication slot" | "standby";
  readonly name: string;
  /** In seconds; null where the server does not record a time. */
  readonly age_s: number | null;
  /** How many transactions have begun since. */
  readonly transactions: number;
}

/** What of the server's replication and of other sessions decides how safe commits are, and what cleans up after them. */
export interface Replication {
  /** Whether the present role sees other roles' sessions and the state of standbys. */
  readonly sees: boolean;
  readonly role: string;
  readonly standbys: readonly Standby[];
  /** `synchronous_standby_names`; empty without synchronous replication. */
  readonly synchronous: string;
  /** Sessions whose commit waits for a standby. */
  readonly waiting: number;
  /** The one that goes back furthest, if any. */
  readonly horizon: HorizonHolder | null;
}

export async function readReplication(db: Executor): Promise<Replication> {
  const [row] = await db.rows<Replication>(sql`
    select
      pg_catalog.pg_has_role(current_user, 'pg_read_all_stats', 'usage') as sees,
      current_user::text as role,
      coalesce((
        select pg_catalog.json_agg(pg_catalog.json_build_object('name', application_name, 'sync', sync_state, 'state', state)
          order by application_name)
        from pg_catalog.pg_stat_replication
      ), '[]') as standbys,
      pg_catalog.current_setting('synchronous_standby_names') as synchronous,
      (select pg_catalog.count(*)::int from pg_catalog.pg_stat_activity where wait_event = 'SyncRep') as waiting,
      (
        select pg_catalog.json_build_object('what', what, 'name', name,
          'age_s', extract(epoch from pg_catalog.clock_timestamp() - since)::float8, 'transactions', transactions)
        from (
          select 'transaction' as what, coalesce(nullif(application_name, ''), 'pid ' || pid::text) as name, xact_start as since,
            greatest(pg_catalog.age(backend_xmin), pg_catalog.age(backend_xid)) as transactions
          from pg_catalog.pg_stat_activity
          where xact_start is not null and pid <> pg_catalog.pg_backend_pid() and backend_type = 'client backend'
          union all
          select 'prepared transaction', gid, prepared, pg_catalog.age(transaction) from pg_catalog.pg_prepared_xacts
          union all
          select 'replication slot', slot_name::text, null,
            greatest(pg_catalog.age(xmin), pg_catalog.age(catalog_xmin))
          from pg_catalog.pg_replication_slots where xmin is not null or catalog_xmin is not null
          union all
          select 'standby', application_name, null, pg_catalog.age(backend_xmin)
          from pg_catalog.pg_stat_replication where backend_xmin is not null
        ) as holder
        order by transactions desc nulls last, since nulls last
        limit 1
      ) as horizon`);
  return row!;
}
