import { type Executor, sql } from "../port/db.ts";

/** Why a message of a queue was rejected. */
export interface RejectedMessage {
  readonly fingerprint: string;
  readonly queue: string;
  readonly errorText: string;
}

/** Notes why a message was rejected; a later rejection of the same message replaces an earlier one. */
export async function upsertRejectedMessage(db: Executor, message: RejectedMessage): Promise<void> {
  await db.rows(sql`
    insert into pawl.rejected_messages (fingerprint, queue, error, rejected_at)
    values (${message.fingerprint}::text, ${message.queue}::text, ${message.errorText}::text::jsonb, pawl.now())
    on conflict (fingerprint) do update
    set queue = excluded.queue, error = excluded.error, rejected_at = excluded.rejected_at`);
}

export async function deleteOldRejections(db: Executor, retentionMs: number, limit: number): Promise<number> {
  const rows = await db.rows(sql`
    with old as materialized (
      select fingerprint from pawl.rejected_messages
      where rejected_at < pawl.now() - ${retentionMs}::float8 * interval '1 millisecond'
      order by rejected_at limit ${limit}::int for update skip locked
    )
    delete from pawl.rejected_messages as message using old where message.fingerprint = old.fingerprint
    returning message.fingerprint`);
  return rows.length;
}
