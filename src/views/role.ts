import { type Executor, sql } from "../store/port/db.ts";

/** The role that this process connects as. */
export interface DatabaseRole {
  readonly name: string;
  readonly superuser: boolean;
  /** Whether it may change the schema, as migrations do. */
  readonly owns_schema: boolean;
  /** Pawl's tables that it cannot read or write, and sequences and functions that it cannot use. */
  readonly lacks: readonly string[];
  /** The search path on which Pawl's statements run, on a connection that has just begun. */
  readonly search_path: string;
}

export async function readRole(db: Executor): Promise<DatabaseRole> {
  const [row] = await db.rows<DatabaseRole>(sql`
    select current_user::text as name,
      (select rolsuper from pg_catalog.pg_roles where rolname = current_user) as superuser,
      pg_catalog.pg_has_role(current_user, schema.nspowner, 'usage') as owns_schema,
      pg_catalog.current_setting('search_path') as search_path,
      coalesce((
        select pg_catalog.json_agg(lacking.name order by lacking.name) from (
          select 'table ' || relname as name from pg_catalog.pg_class
          where relnamespace = schema.oid and relname <> 'migrations' and case when relkind in ('r', 'p') then not
            pg_catalog.has_table_privilege(oid, case when relname in ('journal', 'attempts') then 'insert' else 'update' end) end
          union all
          select 'sequence ' || relname from pg_catalog.pg_class
          where relnamespace = schema.oid and case when relkind = 'S' then not pg_catalog.has_sequence_privilege(oid, 'usage') end
          union all
          select 'function ' || proname from pg_catalog.pg_proc
          where pronamespace = schema.oid and not pg_catalog.has_function_privilege(oid, 'execute')
        ) as lacking
      ), '[]') as lacks
    from pg_catalog.pg_namespace as schema where schema.nspname = 'pawl'`);
  return row!;
}
