import { type Executor, sql } from "../store/port/db.ts";

/** The database's time, from its own schema: an answer shows that both exist. */
export async function readNow(db: Executor): Promise<number> {
  const [row] = await db.rows<{ now_ms: number }>(sql`select pawl.ms(pawl.now()) as now_ms`);
  return row!.now_ms;
}
