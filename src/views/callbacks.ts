import type { SettledCallback } from "../store/callbacks/callbacks.ts";
import { type Executor, part, sql } from "../store/port/db.ts";

/** A callback as it is read. */
export interface CallbackView {
  readonly id: string;
  readonly instance_id: string;
  readonly key: string | null;
  readonly lifecycle: string;
  readonly event: string;
  readonly dedupe: string;
  readonly source: "call" | "token" | "step";
  readonly actor: string | null;
  readonly payload: unknown;
  readonly has_payload: boolean;
  readonly patch: Record<string, unknown> | null;
  readonly error: { readonly name: string; readonly message: string; readonly code?: string } | null;
  readonly received_ms: number;
  readonly status: SettledCallback["status"];
  readonly is_late: boolean;
  readonly reason: string | null;
  readonly version: number | null;
  readonly settled_ms: number | null;
  /** It came in the current run of its instance. */
  readonly is_current: boolean;
}

const columns = part`
  callback.id::text as id, callback.instance_id::text as instance_id, instance.key, callback.lifecycle, callback.event,
  callback.dedupe, callback.source, callback.actor, callback.payload, callback.payload is not null as has_payload, callback.patch, callback.error,
  pawl.ms(callback.received_at) as received_ms, callback.status, callback.is_late, callback.reason, callback.version,
  pawl.ms(callback.settled_at) as settled_ms, instance.run = callback.run as is_current`;

export async function readCallback(db: Executor, id: string): Promise<CallbackView | undefined> {
  const [callback] = await db.rows<CallbackView>(sql`
    select ${columns}
    from pawl.callbacks as callback
    join pawl.instances as instance on instance.id = callback.instance_id
    where callback.id = ${id}::uuid`);
  return callback;
}

export interface CallbackPage {
  readonly lifecycle: string | null;
  /** Only those of one status. */
  readonly status: SettledCallback["status"] | null;
  /** Only those that came after their deadline. */
  readonly late: boolean;
  readonly beforeId: string | null;
  readonly limit: number;
}

const lastId = "ffffffff-ffff-ffff-ffff-ffffffffffff";

/** Newest first. */
export function readCallbacks(db: Executor, page: CallbackPage): Promise<CallbackView[]> {
  return db.rows<CallbackView>(sql`
    select ${columns}
    from (
      select * from pawl.callbacks as each
      where each.id < ${page.beforeId ?? lastId}::uuid
        and (${page.lifecycle}::text is null or each.lifecycle = ${page.lifecycle}::text)
        and (${page.status}::text is null or each.status = ${page.status}::text)
        and (not ${page.late}::boolean or each.is_late)
      order by each.id desc limit ${page.limit}::int
    ) as callback
    cross join lateral (
      select each.key, each.run from pawl.instances as each where each.id = callback.instance_id offset 0
    ) as instance
    order by callback.id desc`);
}

/** Those of one instance, newest first. */
export function readCallbacksOf(db: Executor, instanceId: string, page: CallbackPage): Promise<CallbackView[]> {
  return db.rows<CallbackView>(sql`
    select ${columns}
    from pawl.callbacks as callback
    join pawl.instances as instance on instance.id = callback.instance_id
    where callback.instance_id = ${instanceId}::uuid and callback.id < ${page.beforeId ?? lastId}::uuid
      and (${page.status}::text is null or callback.status = ${page.status}::text)
      and (not ${page.late}::boolean or callback.is_late)
    order by callback.id desc limit ${page.limit}::int`);
}
