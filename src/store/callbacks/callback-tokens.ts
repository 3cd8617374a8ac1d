import { type Executor, sql } from "../port/db.ts";
import type { Lease } from "../tasks/tasks.ts";

/** A token with which an external system can answer for one event of one instance. */
export interface NewToken {
  readonly id: string;
  readonly hash: string;
  readonly instanceId: string;
  readonly event: string;
  readonly expiresAfterMs: number;
}

/** Stores a token's hash, for the holder of the lease only; idempotent. False if the lease was lost. */
export async function insertToken(db: Executor, lease: Lease, token: NewToken): Promise<boolean> {
  const rows = await db.rows(sql`
    with held as materialized (
      select task.instance_id from pawl.tasks as task
      where task.id = ${lease.taskId}::uuid and task.token = ${lease.token}::bigint and task.worker is not null
      for key share
    )
    insert into pawl.callback_tokens (id, hash, instance_id, run, event, created_at, expires_at)
    select ${token.id}::uuid, ${token.hash}::text, instance.id, instance.run, ${token.event}::text, pawl.now(),
      pawl.now() + ${token.expiresAfterMs}::float8 * interval '1 millisecond'
    from held
    join pawl.instances as instance on instance.id = held.instance_id
    on conflict (id) do update set hash = excluded.hash
    returning id::text as id`);
  return rows.length > 0;
}

export interface KnownToken {
  readonly hash: string;
  readonly instance_id: string;
  readonly lifecycle: string;
  readonly event: string;
  /** The instance was restarted since the token was created. */
  readonly is_old: boolean;
  readonly is_expired: boolean;
  /** How many callbacks used it. */
  readonly uses: number;
}

export async function readToken(db: Executor, id: string): Promise<KnownToken | undefined> {
  const [token] = await db.rows<KnownToken>(sql`
    select token.hash, token.instance_id::text as instance_id, instance.lifecycle, token.event,
      instance.run <> token.run as is_old, token.expires_at <= pawl.now() as is_expired, token.uses
    from pawl.callback_tokens as token
    join pawl.instances as instance on instance.id = token.instance_id
    where token.id = ${id}::uuid`);
  return token;
}

/** Deletes tokens that have no use any more. */
export async function deleteExpiredTokens(db: Executor, limit: number): Promise<number> {
  const rows = await db.rows(sql`
    with expired as materialized (
      select id from pawl.callback_tokens where expires_at <= pawl.now()
      order by expires_at limit ${limit}::int for update skip locked
    )
    delete from pawl.callback_tokens as token using expired where token.id = expired.id
    returning token.id::text as id`);
  return rows.length;
}
