import { type Executor, part, sql, textArray } from "../port/db.ts";

/** The stored answer of an idempotency key. */
export interface RequestRow {
  readonly instanceId: string;
  readonly key: string;
  readonly hash: string;
  readonly version: number;
}

/** The requests of those instances that `written` holds. A part of the statements that commit. */
export function insertRequests(rows: readonly RequestRow[]) {
  return part`
    insert into pawl.requests (instance_id, key, hash, version, at)
    select request.instance_id, request.key, request.hash, request.version, clock.now
    from clock, unnest(
      (select ${textArray(rows.map((row) => row.instanceId))}::text)::uuid[],
      (select ${textArray(rows.map((row) => row.key))}::text)::text[],
      (select ${textArray(rows.map((row) => row.hash))}::text)::text[],
      (select ${textArray(rows.map((row) => row.version))}::text)::int[]
    ) as request(instance_id, key, hash, version)
    where (request.instance_id in (select id from written)) is true`;
}

export interface KnownRequest {
  readonly instance_id: string;
  readonly key: string;
  readonly hash: string;
  readonly version: number;
}

export function readRequests(db: Executor, asked: readonly { id: string; key: string }[]): Promise<KnownRequest[]> {
  return db.rows<KnownRequest>(sql`
    select request.instance_id::text as instance_id, request.key, request.hash, request.version
    from unnest(
      (select ${textArray(asked.map((one) => one.id))}::text)::uuid[],
      (select ${textArray(asked.map((one) => one.key))}::text)::text[]
    ) as asked(id, key)
    cross join lateral (
      select * from pawl.requests as each where each.instance_id = asked.id and each.key = asked.key offset 0
    ) as request`);
}
