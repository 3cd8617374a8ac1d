import { sql } from "../../../src/store/port/db.ts";
import { errand } from "../worlds/errand.ts";
import type { BehindProxy } from "./behind-proxy.ts";

/** Holds the next move of "e" at the server, uncommitted; returns a function that releases it. */
export async function holdMove(t: BehindProxy): Promise<() => Promise<void>> {
  const { id, version } = (await t.pawl.get(errand, "e"))!;
  let letGo = () => {};
  const isLetGo = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  let ended: Promise<unknown> = Promise.resolve();
  await new Promise<void>((isHeld) => {
    ended = t.db
      .transaction(async (tx) => {
        // An uncommitted row takes its place in the journal.
        await tx.query("set local session_replication_role = replica");
        await tx.query(
          `insert into pawl.journal (instance_id, version, lifecycle, definition, event, from_state, to_state, at, source)
           values ($1, $2, 'errand', 1, 'noted', 'ready', 'ready', pawl.now(), 'call')`,
          [id, version + 1],
        );
        isHeld();
        await isLetGo;
        throw new Error("It does not stay.");
      })
      .catch(() => {});
  });
  return async () => {
    letGo();
    await ended;
    while ((await t.db.rows<{ version: number }>(sql`select version from pawl.instances`))[0]!.version === version);
  };
}

/** Resolves when a statement waits for a lock at the server: its sender can be cut off then. */
export async function someoneWaits(t: BehindProxy): Promise<void> {
  for (let waiting = 0; waiting === 0; ) {
    const [row] = await t.db.rows<{ waiting: number }>(sql`
      select count(*)::int as waiting from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`);
    waiting = row!.waiting;
  }
}
