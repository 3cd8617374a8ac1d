-- Circuit breakers that all workers share, what their calls came to, and every time that one opened or closed.
-- New tables only; safe while anything runs.

create table pawl.breakers (
  name        text collate "C" primary key,
  state       text collate "C" not null default 'closed' check (state in ('closed', 'open', 'half_open')),
  -- How often it went from one state to another: a change is made on what was read, or not at all. Calls belong to the flip
  -- after which they began, so that counting begins anew with each.
  flip        int not null default 0 check (flip >= 0),
  since       timestamptz not null,
  -- When it lets a first probe through.
  open_until  timestamptz,
  -- The probe under way. It is over when that task no longer runs under that token, whatever became of its worker.
  probe_task  uuid,
  probe_token bigint,
  probes_done int not null default 0,
  probes_good int not null default 0,
  -- An operator's word holds until it is taken back.
  forced      text collate "C" check (forced in ('open', 'closed')),
  -- Why it is as it is, and whose word that was.
  reason      text,
  actor       text,
  constraint breakers_force_is_the_state check (forced = state),
  constraint breakers_open_ends check ((open_until is not null) = (state = 'open' and forced is null)),
  constraint breakers_probe_is_whole check ((probe_task is null) = (probe_token is null)),
  constraint breakers_probe_when_half_open check (probe_token is null or state = 'half_open'),
  constraint breakers_probes_add_up check (probes_good between 0 and probes_done)
) with (fillfactor = 50);

-- How many calls of each process went well and failed in a slice of time. Each process writes rows of its own, as often as
-- it likes and to the same numbers; those that no window reaches are removed by maintenance.
create table pawl.breaker_counts (
  breaker  text collate "C" not null,
  flip     int not null,
  at       timestamptz not null,
  process  uuid not null,
  good     int not null check (good >= 0),
  failed   int not null check (failed >= 0),
  -- The latest moment that the dependency asked to be left alone until.
  retry_at timestamptz,
  primary key (breaker, flip, at, process)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);

-- Every change of state, the newest thousand of each breaker.
create table pawl.breaker_flips (
  breaker    text collate "C" not null,
  flip       int not null,
  from_state text collate "C" not null,
  to_state   text collate "C" not null,
  cause      text collate "C" not null
    check (cause in ('failures', 'rested', 'probe_failed', 'probes_passed', 'forced', 'released')),
  -- The calls, or the probes, that led to it.
  good       int not null,
  failed     int not null,
  open_until timestamptz,
  reason     text,
  actor      text,
  at         timestamptz not null,
  primary key (breaker, flip)
);
