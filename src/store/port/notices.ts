import { type Executor, sql } from "./db.ts";

/**
 * Sends a hint to all listening processes. Sent outside the transaction that it is about: inside, commits would queue
 * behind each other. It does not wait for the disk: a crash of the server ends all listeners anyway, and they poll.
 */
export async function sendNotice(db: Executor, text: string): Promise<void> {
  await db.rows(sql`select set_config('synchronous_commit', 'off', true), pg_notify('pawl', ${text}::text)`);
}
