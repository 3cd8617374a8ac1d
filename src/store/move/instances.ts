import { type Executor, part, sql, textArray } from "../port/db.ts";

/** The failure of an instance, as stored in its row. */
export interface FailureColumn {
  readonly reason: string;
  readonly error: { readonly name: string; readonly message: string } | null;
  /** The state in which it failed. */
  readonly state: string;
}

/** An instance as it is read, with the database's time of the read. */
export interface InstanceRow {
  readonly id: string;
  readonly lifecycle: string;
  readonly definition: number;
  readonly key: string | null;
  readonly parent_lifecycle: string | null;
  readonly parent_id: string | null;
  readonly has_children: boolean;
  readonly state: string;
  readonly version: number;
  readonly visit: number;
  readonly run: number;
  readonly data: Record<string, unknown>;
  readonly deadline_ms: number | null;
  readonly next_due_ms: number | null;
  readonly alarms: number;
  readonly failed_from: string | null;
  readonly failed_visit: number | null;
  readonly timed_out_ms: number | null;
  readonly failure: FailureColumn | null;
  readonly failed_ms: number | null;
  /** How many callbacks wait for it. */
  readonly inbox: number;
  readonly outcome: "success" | "failure" | "discarded" | null;
  readonly closed_ms: number | null;
  readonly created_ms: number;
  readonly moved_ms: number;
  readonly now_ms: number;
}

/** The columns of an `InstanceRow`, from a row called `instance` and a clock. */
export const instanceColumns = part`
  instance.id::text as id, instance.lifecycle, instance.definition, instance.key, instance.parent_lifecycle,
  instance.parent_id::text as parent_id, instance.has_children, instance.state, instance.version, instance.visit, instance.run, instance.data, pawl.ms(instance.deadline_at) as deadline_ms,
  pawl.ms(instance.next_due_at) as next_due_ms, instance.alarms, instance.failed_from, instance.failed_visit, instance.outcome,
  pawl.ms(instance.timed_out_at) as timed_out_ms, instance.failure, pawl.ms(instance.failed_at) as failed_ms, instance.inbox,
  pawl.ms(instance.closed_at) as closed_ms, pawl.ms(instance.created_at) as created_ms,
  pawl.ms(instance.moved_at) as moved_ms, pawl.ms(clock.now) as now_ms`;

export function readInstances(db: Executor, ids: readonly string[]): Promise<InstanceRow[]> {
  return db.rows<InstanceRow>(sql`
    with clock as materialized (select pawl.now() as now)
    select ${instanceColumns}
    from clock, unnest((select ${textArray(ids)}::text)::uuid[]) as wanted(id)
    cross join lateral (select * from pawl.instances as each where each.id = wanted.id offset 0) as instance`);
}

/**
 * By key: the instance that holds it; otherwise (a job's key is released) the newest one that held it. Children are not
 * included.
 */
export function readInstancesByKey(
  db: Executor,
  wanted: readonly { lifecycle: string; key: string }[],
): Promise<InstanceRow[]> {
  return db.rows<InstanceRow>(sql`
    with clock as materialized (select pawl.now() as now)
    select ${instanceColumns}
    from clock, unnest(
      (select ${textArray(wanted.map((one) => one.lifecycle))}::text)::text[],
      (select ${textArray(wanted.map((one) => one.key))}::text)::text[]
    ) as wanted(lifecycle, key)
    cross join lateral (
      (select * from pawl.instances as each
       where each.lifecycle = wanted.lifecycle and each.key = wanted.key and each.key is not null and each.key_held)
      union all
      (select * from pawl.instances as each
       where each.lifecycle = wanted.lifecycle and each.key = wanted.key and each.key is not null and not each.key_held
         and each.parent_id is null
       order by each.id desc limit 1)
      limit 1
    ) as instance`);
}

/**
 * Locks the rows of these instances, in the order of their ids, until the transaction ends: for a user's own
 * transaction, `before` hooks, and callers that met too many conflicts.
 */
export function lockInstances(tx: Executor, ids: readonly string[]): Promise<InstanceRow[]> {
  return tx.rows<InstanceRow>(sql`
    with clock as materialized (select pawl.now() as now),
    wanted as materialized (select id from unnest((select ${textArray(ids)}::text)::uuid[]) as wanted(id) order by id),
    instance as materialized (
      select held.* from wanted
      cross join lateral (select * from pawl.instances as each where each.id = wanted.id for no key update) as held
    )
    select ${instanceColumns} from clock, instance`);
}

/** Instances with a timer that is due, from the place where the last page ended. */
export function readDueInstances(
  db: Executor,
  page: { lifecycles: readonly string[]; afterMs: number | null; afterId: string; limit: number },
): Promise<InstanceRow[]> {
  return db.rows<InstanceRow>(sql`
    with clock as materialized (select pawl.now() as now)
    select ${instanceColumns}
    from clock, lateral (
      select * from pawl.instances as each
      where each.next_due_at is not null and each.next_due_at <= clock.now
        and (each.next_due_at, each.id) > (coalesce(pawl.at(${page.afterMs}::float8), '-infinity'::timestamptz), ${page.afterId}::uuid)
        and each.lifecycle = any((select ${textArray(page.lifecycles)}::text)::text[])
      order by each.next_due_at, each.id
      limit ${page.limit}::int
    ) as instance`);
}
