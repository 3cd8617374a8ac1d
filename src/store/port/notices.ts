import { type Executor, sql } from "./db.ts";

/** A hint to all processes that listen. Sent outside of what it tells about: inside, it would make commits wait in line. */
export async function sendNotice(db: Executor, text: string): Promise<void> {
  await db.rows(sql`select pg_notify('pawl', ${text}::text)`);
}
