-- The ground: definitions, instances and their history, the work and the clocks that they wait for.
-- Creates new tables only; safe while anything runs.

-- The one clock. Whole milliseconds, so that a time survives the way to JavaScript and back without a change.
create function pawl.now() returns timestamptz language sql stable
as $$ select date_trunc('milliseconds', clock_timestamp()) $$;

create function pawl.ms(at timestamptz) returns float8 language sql stable
as $$ select round(date_part('epoch', at) * 1000) $$;

create function pawl.at(ms float8) returns timestamptz language sql stable
as $$ select to_timestamp(ms / 1000.0) $$;

create table pawl.lifecycles (
  name          text collate "C" not null,
  version       int not null check (version > 0),
  -- Hashes of the definitions that were seen under this number, oldest first. A process of an earlier deploy is welcome
  -- back; an unknown shape must not lack anything of the newest.
  shapes        text[] not null,
  shape         jsonb not null,
  -- How long a closed instance is kept; null keeps it for ever.
  keep_closed   interval,
  registered_at timestamptz not null default pawl.now(),
  primary key (name, version)
);

-- Every way that a definition allows, the built-in ones too. A start comes from ''.
create table pawl.edges (
  lifecycle  text collate "C" not null,
  version    int not null,
  from_state text collate "C" not null,
  event      text collate "C" not null,
  to_state   text collate "C" not null,
  primary key (lifecycle, version, from_state, event, to_state),
  foreign key (lifecycle, version) references pawl.lifecycles
);

create table pawl.instances (
  id           uuid primary key,
  lifecycle    text collate "C" not null,
  definition   int not null,
  key          text collate "C",
  -- False once a job has ended: the key of a job is free for the next one.
  key_held     boolean not null default true,
  state        text collate "C" not null,
  -- The state again while nobody works on it (it waits, is parked, has failed or ended), null while a task is out for it:
  -- a chain of steps then touches no index, and those at rest can still be found by state.
  shelf        text collate "C",
  version      int not null check (version >= 1),
  visit        int not null,
  run          int not null default 1 check (run >= 1),
  data         jsonb not null,
  deadline_at  timestamptz,
  -- The earliest of the instance's timers, so that the locked row tells whether something is due.
  next_due_at  timestamptz,
  -- How often timers came or went without a move: a decision made on older timers is then made anew.
  alarms       int not null default 0,
  failed_from  text collate "C",
  failed_visit int,
  outcome      text check (outcome in ('success', 'failure', 'discarded')),
  closed_at    timestamptz,
  created_at   timestamptz not null,
  moved_at     timestamptz not null,
  constraint instances_visit_is_a_version check (visit between 1 and version),
  constraint instances_shelf_is_the_state check (shelf = state),
  constraint instances_closed_has_outcome check ((outcome is null) = (closed_at is null)),
  constraint instances_closed_waits_for_nothing check (closed_at is null or next_due_at is null)
) with (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000,
        autovacuum_analyze_scale_factor = 0.02, autovacuum_analyze_threshold = 2000);

create unique index instances_key on pawl.instances (lifecycle, key) where key is not null and key_held;
create index instances_key_history on pawl.instances (lifecycle, key, id) where key is not null and not key_held;
create index instances_shelf on pawl.instances (lifecycle, shelf, id) where shelf is not null;
create index instances_due on pawl.instances (next_due_at, id) where next_due_at is not null;

-- The history of moves, numbered 1 to version without a gap. Append-only; see 0002.
create table pawl.journal (
  instance_id uuid not null,
  version     int not null check (version >= 1),
  lifecycle   text collate "C" not null,
  definition  int not null,
  event       text collate "C" not null,
  from_state  text collate "C",
  to_state    text collate "C" not null,
  at          timestamptz not null,
  source      text collate "C" not null check (source in ('call', 'worker', 'timer', 'pawl')),
  actor       text,
  reason      text,
  payload     jsonb,
  -- What the move changed in the data: keys set, and keys removed.
  patch       jsonb,
  cleared     text[],
  -- Who made it: the call, or the task under its lease.
  request_id  uuid,
  task_id     uuid,
  token       bigint,
  -- The next task, when it was granted to the same worker in the same statement.
  granted     bigint,
  primary key (instance_id, version),
  constraint journal_start_comes_from_nowhere check ((version = 1) = (from_state is null)),
  constraint journal_task_has_token check ((task_id is null) = (token is null)),
  constraint journal_worker_has_task check ((source = 'worker') = (task_id is not null))
);

-- Rises with every claim and is never given twice, so a token alone tells the newest holder.
create sequence pawl.tokens;

-- Work that is waited for. A step's task has its instance's own id, since an instance is in one state at a time: the row
-- moves on from lane to lane in place. Exactly one of queue (ready), due_at (scheduled) and worker (running) is set, and
-- no status column stands in the way of the planner.
create table pawl.tasks (
  id           uuid primary key,
  instance_id  uuid not null,
  kind         text collate "C" not null check (kind in ('step', 'effect')),
  lane         text collate "C" not null,
  priority     int not null default 0,
  queue        text collate "C",
  due_at       timestamptz,
  worker       text collate "C",
  leased_until timestamptz,
  token        bigint not null default nextval('pawl.tokens'),
  attempt      int not null default 0 check (attempt >= 0),
  visit        int not null,
  -- What an effect is about: the move that caused it.
  work         jsonb,
  since        timestamptz not null,
  constraint tasks_are_ready_scheduled_or_running check (num_nonnulls(queue, due_at, worker) = 1),
  constraint tasks_queue_is_the_lane check (queue = lane),
  constraint tasks_lease_has_end check ((worker is null) = (leased_until is null)),
  constraint tasks_step_has_its_instances_id check ((kind = 'step') = (id = instance_id))
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000,
        autovacuum_analyze_scale_factor = 0.02, autovacuum_analyze_threshold = 1000);

create index tasks_ready on pawl.tasks (queue, priority, id) where queue is not null;
create index tasks_scheduled on pawl.tasks (lane, due_at, id) where due_at is not null;
create index tasks_running on pawl.tasks (lane, leased_until, id) where worker is not null;
create index tasks_effects on pawl.tasks (instance_id) where kind = 'effect';

-- What workers did without moving an instance. Append-only; see 0002.
create table pawl.attempts (
  instance_id uuid not null,
  task_id     uuid not null,
  token       bigint not null,
  what        text collate "C" not null check (what in ('claimed', 'failed', 'lapsed', 'released', 'deferred', 'refused')),
  at          timestamptz not null,
  lane        text collate "C",
  attempt     int,
  worker      text collate "C",
  detail      jsonb,
  primary key (instance_id, task_id, token, what)
);

-- Moments at which an event is sent. A timer with a visit goes when that visit ends.
create table pawl.timers (
  instance_id uuid not null,
  id          uuid not null,
  kind        text collate "C" not null check (kind in ('timeout', 'deadline', 'send')),
  visit       int,
  due_at      timestamptz not null,
  event       text collate "C" not null,
  payload     jsonb,
  actor       text,
  reason      text,
  primary key (instance_id, id),
  constraint timers_timeout_has_visit check ((kind = 'timeout') = (visit is not null))
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000);

-- The outbox: to be published, in the order of (aggregate_id, version, place).
create table pawl.messages (
  id             uuid primary key,
  aggregate_id   uuid not null,
  aggregate_type text collate "C" not null,
  message_type   text collate "C" not null,
  payload        jsonb not null,
  status         text collate "C" not null default 'pending' check (status in ('pending', 'published', 'dead')),
  created_at     timestamptz not null,
  processed_at   timestamptz,
  retry_count    int not null default 0,
  error_message  text,
  version        int not null,
  place          int not null,
  constraint messages_order unique (aggregate_id, version, place),
  constraint messages_published_is_processed check (status <> 'published' or processed_at is not null)
);

create index messages_waiting on pawl.messages (status, created_at);
create index messages_aggregate on pawl.messages (aggregate_id, aggregate_type);

-- The first answer to an idempotency key.
create table pawl.requests (
  instance_id uuid not null,
  key         text collate "C" not null,
  hash        text collate "C" not null,
  version     int not null,
  at          timestamptz not null,
  primary key (instance_id, key)
);

-- Counts per state as deltas: summed where they are read, rolled up by maintenance. One counter row a state would make
-- every move wait for every other.
create table pawl.counts (
  lifecycle text collate "C" not null,
  state     text collate "C" not null,
  delta     bigint not null
);
