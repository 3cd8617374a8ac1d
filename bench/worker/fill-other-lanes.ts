import pg from "pg";

/** Inserts this many instances with a ready task in a lane without a worker, as many scheduled, as many finished. */
export async function fillOtherLanes(url: string, many: number): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    // The benchmark measures claims among many rows, not the vacuum of recent rows.
    for (const table of ["instances", "tasks"])
      await client.query(`alter table pawl.${table} set (autovacuum_enabled = off)`);
    // Past the guards of the history, for time's sake: these rows are only there to be in the way.
    await client.query("set session_replication_role = replica");
    await client.query(
      `insert into pawl.instances (id, lifecycle, definition, state, version, visit, data, created_at, moved_at)
       select gen_random_uuid(), 'other', 1, 'working', 1, 1, '{}', now(), now() from generate_series(1, $1::int * 2)`,
      [many],
    );
    await client.query(
      `insert into pawl.tasks (id, instance_id, kind, lane, queue, due_at, visit, since)
       select id, id, 'step', 'other@1/working', 'other@1/working',
         case when n > $1 then now() + interval '1 day' end, 1, now()
       from (select id, row_number() over () as n from pawl.instances where lifecycle = 'other') as numbered`,
      [many],
    );
    await client.query(
      `insert into pawl.instances (id, lifecycle, definition, state, shelf, version, visit, data, outcome, closed_at, created_at, moved_at)
       select gen_random_uuid(), 'other', 1, 'done', 'done', 2, 2, '{}', 'success', now(), now(), now()
       from generate_series(1, $1::int)`,
      [many],
    );
  } finally {
    await client.end();
  }
}
