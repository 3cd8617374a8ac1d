import pg from "pg";

/**
 * The ceiling: the same rows as a batch of moves writes (instance, journal, counts), by one plain `unnest` statement,
 * without Pawl: nothing is read, decided, fenced or folded. The triggers that guard the history stay on, or are left
 * out to show their cost.
 */
export async function moveBare(
  url: string,
  ids: readonly string[],
  turns: number,
  batch: number,
  guarded: boolean,
): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    await moveAll(client, ids, turns, batch, guarded);
  } finally {
    await client.end();
  }
}

async function moveAll(
  client: pg.Client,
  ids: readonly string[],
  turns: number,
  batch: number,
  guarded: boolean,
): Promise<void> {
  if (!guarded) await client.query("set session_replication_role = replica");
  const states = ["a", "b", "c", "d", "e"];
  for (let turn = 0; turn < turns; turn++) {
    const [from, to] = [states[turn]!, states[turn + 1]!];
    for (let at = 0; at < ids.length; at += batch) {
      const list = ids.slice(at, at + batch);
      await client.query(
        `with moved as materialized (select id from unnest($1::uuid[]) as moved(id)),
         updated as (
           update pawl.instances as instance
           set state = $4::text, shelf = $4::text, version = version + 1, visit = version + 1, moved_at = pawl.now(),
             outcome = $5::text, closed_at = case when $5::text is not null then pawl.now() end
           from moved where instance.id = moved.id
         ),
         counted as (
           insert into pawl.counts (lifecycle, state, delta)
           select 'ping', $3::text, -count(*) from moved union all select 'ping', $4::text, count(*) from moved
         )
         insert into pawl.journal (instance_id, version, lifecycle, definition, event, from_state, to_state, at, source, request_id)
         select id, $2::int, 'ping', 1, 'go', $3::text, $4::text, pawl.now(), 'call', gen_random_uuid() from moved`,
        [list, turn + 2, from, to, turn === 3 ? "success" : null],
      );
    }
  }
}
