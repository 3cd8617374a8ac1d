import type pg from "pg";

/** How a queue is filled. */
export interface Filling {
  readonly queue: string;
  readonly size: number;
  /** In which order its samples come, as SQL: a number for sample `n`, slot `no`. */
  readonly rank: string;
  /** The labeler who has done the first of them, and how many. */
  readonly ahead: string;
  readonly done: number;
}

/** How many labels each sample needs. */
export const overlap = 3;

/**
 * Puts samples into a queue as if they had been added, each a copy of `template` (the id of one that was), and lets one
 * labeler have done the first of them. Past the triggers, for time's sake: a million would take minutes.
 */
export async function fill(client: pg.Client, template: string, filling: Filling): Promise<void> {
  const { queue, size, rank, ahead, done } = filling;
  await client.query("begin");
  await client.query("set local session_replication_role = replica");
  await client.query("set local synchronous_commit = off");
  // The time of the template and a number of its own: ids are ordered as they would be.
  await client.query(
    `create temp table fresh on commit drop as
     select n, (left($1::text, 24) || lpad(to_hex(n), 12, '0'))::uuid as id,
       (left($1::text, 18) || '-9000-' || lpad(to_hex(n), 12, '0'))::uuid as assignment_id
     from generate_series(1, ${size}) as n`,
    [template],
  );
  await client.query(
    `insert into pawl.instances (id, lifecycle, definition, state, shelf, version, visit, data, created_at, moved_at)
     select fresh.id, one.lifecycle, one.definition, one.state, one.shelf, 1, 1, one.data, one.created_at, one.moved_at
     from fresh, pawl.instances as one where one.id = $1`,
    [template],
  );
  await client.query(
    `insert into pawl.journal (instance_id, version, lifecycle, definition, event, to_state, at, source, patch)
     select fresh.id, 1, one.lifecycle, one.definition, one.event, one.to_state, one.at, one.source, one.patch
     from fresh, pawl.journal as one where one.instance_id = $1`,
    [template],
  );
  await client.query(
    `insert into pawl.samples (id, queue, needs, filled, spare, created_at)
     select fresh.id, $1, ${overlap}, case when n <= ${done} then 1 else 0 end, 2, now() from fresh`,
    [queue],
  );
  await client.query(
    `insert into pawl.slots (sample_id, no, queue, open_in, rank, assignment_id, filled)
     select id, no, $1, case when n <= ${done} and no = 1 then null else $1 end, ${rank},
       case when n <= ${done} and no = 1 then assignment_id end, n <= ${done} and no = 1
     from fresh cross join generate_series(1, ${overlap}) as no`,
    [queue],
  );
  await client.query(
    `insert into pawl.assignments (id, queue, sample_id, slot, labeler, status, try, attempts, label_id, created_at, started_at, completed_at)
     select assignment_id, $1, id, 1, $2, 'completed', 1, 1, assignment_id, now(), now(), now() from fresh where n <= ${done}`,
    [queue, ahead],
  );
  await client.query("commit");
  for (const table of ["instances", "journal", "samples", "slots", "assignments"])
    await client.query(`vacuum analyze pawl.${table}`);
}
