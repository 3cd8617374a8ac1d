import { type Executor, sql } from "./db.ts";

/**
 * Sends a hint to all listening processes. Sent outside the transaction that it is about: inside, commits would queue
 * behind each other.
 */
export async function sendNotice(db: Executor, text: string): Promise<void> {
  await db.rows(sql`select pg_notify('pawl', ${text}::text)`);
}
