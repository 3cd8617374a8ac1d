import { type Db, sql } from "../../../src/store/port/db.ts";

/** Events that wait for their time. */
export async function readDelayed(db: Db): Promise<{ readonly request: string; readonly instance: string }[]> {
  return db.rows(sql`
    select request_id::text as request, instance_id::text as instance from pawl.timers
    where kind = 'send' and visit is null and request_id is not null`);
}
