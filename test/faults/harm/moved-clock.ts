import { sql } from "../../../src/store/port/db.ts";
import type { BehindProxy } from "./behind-proxy.ts";

/** Puts the database's clock a row ahead of the real one. */
export async function installMovedClock(t: BehindProxy): Promise<void> {
  await t.db.script(`
    create table pawl.test_ahead (by interval not null);
    insert into pawl.test_ahead values ('0');
    create or replace function pawl.now() returns timestamptz language sql stable as
      'select date_trunc(''milliseconds'', clock_timestamp() + by) from pawl.test_ahead';`);
}

/** Sets the clock this many seconds ahead of the real one, over a connection that does not pass the proxy. */
export async function setAhead(t: BehindProxy, seconds: number): Promise<void> {
  await t.db.rows(sql`update pawl.test_ahead set by = ${seconds}::int * interval '1 second'`);
}

/** Takes the database away from everybody who uses it through the proxy. */
export function takeAway(t: BehindProxy): void {
  t.proxy.refuse = Number.POSITIVE_INFINITY;
  t.proxy.cutAll();
}

/** Brings it back. */
export function bringBack(t: BehindProxy): void {
  t.proxy.refuse = 0;
}
