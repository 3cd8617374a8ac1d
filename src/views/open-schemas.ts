import { type Executor, sql } from "../store/port/db.ts";

/** A schema in which other roles may create. */
export interface OpenSchema {
  readonly name: string;
  /** Their names; PUBLIC is every role. */
  readonly roles: readonly string[];
}

/**
 * Of the schemas on a default search path and Pawl's own, those in which roles may create that are neither superusers, nor
 * the owner of the database, nor roles that the present one has itself.
 */
export function readOpenSchemas(db: Executor): Promise<OpenSchema[]> {
  return db.rows<OpenSchema>(sql`
    select schema.nspname::text as name, pg_catalog.array_agg(granted.role order by granted.role) as roles
    from pg_catalog.pg_namespace as schema
    cross join lateral (
      select distinct coalesce(role.rolname::text, 'PUBLIC') as role
      from pg_catalog.aclexplode(coalesce(schema.nspacl, pg_catalog.acldefault('n', schema.nspowner))) as acl
      left join pg_catalog.pg_roles as role on role.oid = acl.grantee
      where acl.privilege_type = 'CREATE' and (
        acl.grantee = 0::oid or not (
          role.rolsuper or role.rolname = 'pg_database_owner' or pg_catalog.pg_has_role(current_user, role.oid, 'member')
        )
      )
    ) as granted
    where schema.nspname in ('pawl', 'public', current_user)
    group by schema.nspname
    order by schema.nspname`);
}
