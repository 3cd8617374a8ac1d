import pg from "pg";

/**
 * The ceiling of a worker: five states by plain SQL on tables of its own, claims and reports of 500, fenced by a token, a
 * journal row for each move and one for each claim, the next step leased with the report, edges checked by the database,
 * states counted by deltas. Nothing is decided, timed, guarded or run; there are no batches of different things.
 */
const schema = `
  create schema bare;
  create sequence bare.tokens;
  create table bare.instances (
    id uuid primary key, state text collate "C" not null, version int not null, moved_at timestamptz not null
  ) with (fillfactor = 50);
  create table bare.tasks (
    id uuid primary key, lane text collate "C" not null, queue text collate "C", worker text collate "C",
    leased_until timestamptz, token bigint not null default nextval('bare.tokens'), attempt int not null default 0
  ) with (fillfactor = 50);
  create index on bare.tasks (queue, id) where queue is not null;
  create table bare.journal (
    instance_id uuid, version int, from_state text collate "C", to_state text collate "C" not null,
    at timestamptz not null, token bigint, primary key (instance_id, version)
  );
  create table bare.attempts (
    instance_id uuid, token bigint, what text collate "C" not null, at timestamptz not null, worker text collate "C",
    primary key (instance_id, token)
  );
  create table bare.counts (state text collate "C" not null, delta bigint not null);
  create table bare.edges (from_state text collate "C", to_state text collate "C", primary key (from_state, to_state));
  insert into bare.edges values ('one', 'two'), ('two', 'three'), ('three', 'four'), ('four', 'five'), ('five', 'done');
  create function bare.check_edges() returns trigger language plpgsql as $$
  begin
    if exists (
      select from (select distinct from_state, to_state from fresh where from_state is not null) as move
      where not exists (select from bare.edges as edge where edge.from_state = move.from_state and edge.to_state = move.to_state)
    ) then
      raise 'no such edge';
    end if;
    return null;
  end $$;
  create trigger edges after insert on bare.journal
    referencing new table as fresh for each statement execute function bare.check_edges()`;

const claim = `
  with ready as materialized (
    select id from bare.tasks where queue = $1 order by queue, id limit $2 for update skip locked
  ),
  claimed as (
    update bare.tasks as task
    set queue = null, worker = $3, leased_until = now() + interval '30 seconds', token = nextval('bare.tokens'),
      attempt = attempt + 1
    from ready where task.id = ready.id
    returning task.id, task.token
  ),
  noted as (
    insert into bare.attempts select id, token, 'claimed', now(), $3 from claimed
  )
  select claimed.id::text, claimed.token::float8, instance.version
  from claimed cross join lateral (select version from bare.instances where id = claimed.id offset 0) as instance`;

const report = `
  with free as materialized (
    select done.id, done.token, held.state, held.version
    from unnest(($1::text)::uuid[], ($2::text)::bigint[]) as done(id, token)
    cross join lateral (
      select state, version from bare.instances as instance where instance.id = done.id for no key update skip locked
    ) as held
    cross join lateral (
      select token from bare.tasks as task where task.id = done.id and task.token = done.token for update skip locked
    ) as lease
    limit (select $3::int)
  ),
  moved as (
    update bare.instances as instance set state = $4, version = instance.version + 1, moved_at = now()
    from free where instance.id = free.id
    returning instance.id, free.state as from_state, instance.version, free.token, nextval('bare.tokens') as granted
  ),
  journaled as (
    insert into bare.journal select id, version, from_state, $4, now(), token from moved
  ),
  granted as (
    update bare.tasks as task set lane = $4, token = moved.granted, leased_until = now() + interval '30 seconds'
    from moved where task.id = moved.id and $4 <> 'done'
  ),
  ended as (
    delete from bare.tasks as task using moved where task.id = moved.id and $4 = 'done'
  ),
  counted as (
    insert into bare.counts
    select state, sum(delta)
    from (select from_state as state, -1 as delta from moved union all select $4, 1 from moved) as change group by state
  )
  select id::text, granted::float8 from moved`;

const states = ["one", "two", "three", "four", "five", "done"];
const batch = 500;

/** Moves so many instances through five states; gives back the moves a second. */
export async function chainBare(url: string, count: number): Promise<number> {
  const setUp = new pg.Client(url);
  await setUp.connect();
  await setUp.query("drop schema if exists bare cascade");
  await setUp.query(schema);
  await setUp.query(
    `with fresh as (
       insert into bare.instances
       select (lpad(to_hex(n), 8, '0') || '-0000-7000-8000-000000000000')::uuid, 'one', 1, now() from generate_series(1, $1) as n
       returning id
     ),
     begun as (insert into bare.journal select id, 1, null, 'one', now(), null from fresh)
     insert into bare.tasks (id, lane, queue) select id, 'one', 'one' from fresh`,
    [count],
  );
  const began = performance.now();
  // Two at once, as Pawl's worker does it: database and process are busy at the same time.
  await Promise.all([work(url), work(url)]);
  const seconds = (performance.now() - began) / 1_000;
  const { rows } = await setUp.query("select count(*)::int as done from bare.instances where state = 'done'");
  await setUp.query("drop schema bare cascade");
  await setUp.end();
  if (rows[0].done !== count) throw new Error(`The bare chain ended ${rows[0].done} of ${count}.`);
  return (count * 5) / seconds;
}

async function work(url: string): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    for (;;) {
      let leases = (
        await client.query({ name: "claim", text: claim, values: ["one", batch, "bare"], rowMode: "array" })
      ).rows as [string, number][];
      if (leases.length === 0) return;
      for (const to of states.slice(1)) {
        leases = await reported(client, leases, to);
      }
    }
  } finally {
    await client.end();
  }
}

/** Moves them on. A row that the other one's claim holds for a moment is skipped, so it is tried again. */
async function reported(
  client: pg.Client,
  leases: readonly [string, number][],
  to: string,
): Promise<[string, number][]> {
  const moved: [string, number][] = [];
  for (let left = leases; left.length > 0; ) {
    const ids = `{${left.map(([id]) => id).join(",")}}`;
    const tokens = `{${left.map(([, token]) => token).join(",")}}`;
    const values = [ids, tokens, left.length, to];
    const { rows } = await client.query({ name: "report", text: report, values, rowMode: "array" });
    moved.push(...(rows as [string, number][]));
    const done = new Set(rows.map(([id]) => id));
    left = left.filter(([id]) => !done.has(id));
  }
  return moved;
}
