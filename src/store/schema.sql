-- The schema as all migrations leave it, to be read and to be compared: a migration shows here what it changes.
-- Written by `npm run schema`; a test holds it to the migrations.

CREATE SCHEMA pawl;

CREATE FUNCTION pawl.at(ms double precision) RETURNS timestamp with time zone
    LANGUAGE sql STABLE
    RETURN to_timestamp((ms / (1000.0)::double precision));

CREATE FUNCTION pawl.error_pattern(error jsonb, reason text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  select left(coalesce(error ->> 'name' || ': ', '') || regexp_replace(regexp_replace(regexp_replace(
    left(split_part(coalesce(error ->> 'message', reason), E'\n', 1), 500),
    '[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}', '#', 'g'),
    '\m\w*\d\w*\M', '#', 'g'),
    '#(?:[-+.,:/ ]#)+', '#', 'g'), 300)
$$;

CREATE FUNCTION pawl.gate_left(gate_name text, of_lifecycle text, in_states text[], most integer, rate integer, window_start timestamp with time zone, window_end timestamp with time zone) RETURNS integer
    LANGUAGE sql STABLE
    SET enable_seqscan TO 'off'
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  select greatest(0, least(
    case when most is not null then most - (
      select count(*)::int from (
        select from pawl.lifecycles as known
        cross join unnest(in_states) as state(name)
        cross join lateral (
          select from pawl.tasks as task where task.gate = known.name || '@' || known.version || '/' || state.name
        ) as held
        where known.name = of_lifecycle
        limit most
      ) as running
    ) end,
    case when rate is not null then rate - (
      select coalesce(sum(begun.steps), 0)::int from pawl.begun as begun
      where begun.gate = gate_name and begun.at > window_start and begun.at <= window_end
    ) end
  ))
$$;

CREATE FUNCTION pawl.gate_take(gate_name text, of_lifecycle text, in_states text[], most integer, rate integer, window_start timestamp with time zone, window_end timestamp with time zone) RETURNS integer
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  room int := 0;
  most_now int;
begin
  if pg_try_advisory_xact_lock(7297, hashtext(gate_name)) then
    select least(most, (
      select known.limit_all from pawl.lane_limits as known where known.gate = gate_name and known.replaced_at is null
    )) into most_now;
    select pawl.gate_left(gate_name, of_lifecycle, in_states, most_now, rate, window_start, window_end) into room;
  end if;
  return room;
end $$;

CREATE FUNCTION pawl.history_removed() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare stray record;
begin
  select move.instance_id into stray from gone as move
  where exists (select from pawl.instances as instance where instance.id = move.instance_id)
  limit 1;
  if found then
    raise exception 'The history of instance % stays as long as the instance.', stray.instance_id using errcode = 'PW001';
  end if;
  return null;
end $$;

CREATE FUNCTION pawl.instances_moved() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare stray record;
begin
  select instance.id, instance.state, instance.version into stray
  from moved as instance
  left join lateral (
    select journal.to_state from pawl.journal as journal
    where journal.instance_id = instance.id and journal.version = instance.version
    offset 0
  ) as move on true
  where move.to_state is distinct from instance.state
  limit 1;
  if found then
    raise exception 'Instance % cannot stand in % at version %: its journal does not lead there.',
      stray.id, stray.state, stray.version using errcode = 'PW003';
  end if;
  return null;
end $$;

CREATE FUNCTION pawl.instances_removed() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare stray record;
begin
  select instance.id into stray
  from gone as instance
  left join pawl.lifecycles as lifecycle on lifecycle.name = instance.lifecycle and lifecycle.version = instance.definition
  where instance.closed_at is null or lifecycle.keep_closed is null
     or instance.closed_at + lifecycle.keep_closed > pawl.now()
  limit 1;
  if found then
    raise exception 'Instance % is open or still within its retention, and cannot be deleted.', stray.id using errcode = 'PW004';
  end if;
  delete from pawl.tasks as task using gone where task.id = gone.id;
  delete from pawl.tasks as task using gone where task.instance_id = gone.id and task.kind = 'effect';
  delete from pawl.timers as timer using gone where timer.instance_id = gone.id;
  delete from pawl.messages as message using gone
  where message.aggregate_id = gone.id::text and message.aggregate_type = gone.lifecycle and message.processed_at is not null;
  delete from pawl.requests as request using gone where request.instance_id = gone.id;
  delete from pawl.attempts as attempt using gone where attempt.instance_id = gone.id;
  delete from pawl.journal as move using gone where move.instance_id = gone.id;
  insert into pawl.counts (lifecycle, state, delta) select lifecycle, state, -count(*) from gone group by lifecycle, state;
  return null;
end $$;

CREATE FUNCTION pawl.instances_removed_alerts() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  delete from pawl.alerts as alert using gone where alert.instance_id = gone.id;
  return null;
end $$;

CREATE FUNCTION pawl.instances_removed_callbacks() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  delete from pawl.callbacks as callback using gone where callback.instance_id = gone.id;
  delete from pawl.callback_tokens as token using gone where token.instance_id = gone.id;
  return null;
end $$;

CREATE FUNCTION pawl.instances_removed_children() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  update pawl.instances as child
  set parent_lifecycle = null, parent_id = null, parent_run = null, child_name = null, child_outcome = null
  from gone where child.parent_id = gone.id;
  delete from pawl.progress as word using gone where word.instance_id = gone.id;
  return null;
end $$;

CREATE FUNCTION pawl.instances_removed_dead_letters() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  delete from pawl.dead_letters as letter using gone where letter.instance_id = gone.id;
  return null;
end $$;

CREATE FUNCTION pawl.instances_removed_memos() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  delete from pawl.memos as memo using gone where memo.instance_id = gone.id;
  return null;
end $$;

CREATE FUNCTION pawl.instances_removed_people() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  delete from pawl.slots as slot using gone where slot.sample_id = gone.id;
  delete from pawl.samples as sample using gone where sample.id = gone.id;
  delete from pawl.labels as label using gone where label.assignment_id = gone.id;
  delete from pawl.drafts as draft using gone where draft.assignment_id = gone.id;
  delete from pawl.assignments as assignment using gone where assignment.id = gone.id;
  return null;
end $$;

CREATE FUNCTION pawl.journal_added() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare stray record;
begin
  select move.* into stray
  from (select distinct lifecycle, definition, coalesce(from_state, '') as from_state, event, to_state from added) as move
  where not exists (
    select from pawl.edges as edge
    where edge.lifecycle = move.lifecycle and edge.version = move.definition and edge.from_state = move.from_state
      and edge.event = move.event and edge.to_state = move.to_state
  )
  limit 1;
  if found then
    raise exception 'Lifecycle % version % declares no edge % -> % by %.',
      stray.lifecycle, stray.definition, stray.from_state, stray.to_state, stray.event using errcode = 'PW002';
  end if;

  -- Probes by primary key that no planner can turn round (offset 0): a join of the two could become quadratic.
  select move.instance_id, move.version into stray
  from added as move
  left join lateral (
    select instance.version, instance.lifecycle from pawl.instances as instance
    where instance.id = move.instance_id
    offset 0
  ) as instance on true
  left join lateral (
    select journal.to_state from pawl.journal as journal
    where journal.instance_id = move.instance_id and journal.version = move.version - 1
    offset 0
  ) as earlier on true
  where instance.version is null or instance.version < move.version or instance.lifecycle <> move.lifecycle
    or earlier.to_state is distinct from move.from_state
  limit 1;
  if found then
    raise exception 'Instance % has not made the move % of this journal row.', stray.instance_id, stray.version
      using errcode = 'PW003';
  end if;
  return null;
end $$;

CREATE FUNCTION pawl.letter_opens_ticket() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  insert into pawl.tickets (letter_id, opened_at, due_at) values (new.id, pawl.now(), pawl.now());
  return null;
end $$;

CREATE FUNCTION pawl.letter_resolves_ticket() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  update pawl.tickets
  set status = 'resolved', resolved_at = new.decided_at, resolved_by = new.decided_by, due_at = null,
    resolution = coalesce(new.decision, new.status)
  where letter_id = new.id and status <> 'resolved';
  return null;
end $$;

CREATE FUNCTION pawl.ms(at timestamp with time zone) RETURNS double precision
    LANGUAGE sql STABLE
    RETURN round((date_part('epoch'::text, at) * (1000)::double precision));

CREATE FUNCTION pawl.now() RETURNS timestamp with time zone
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$ begin return date_trunc('milliseconds', clock_timestamp()); end $$;

CREATE FUNCTION pawl.refuse() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  raise exception 'pawl.% is append-only: % is refused.', tg_table_name, lower(tg_op) using errcode = 'PW001';
end $$;

CREATE FUNCTION pawl.refuse_adoption() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  if new.parent_id is null and not exists (select from pawl.instances as parent where parent.id = old.parent_id) then
    return new;
  end if;
  raise exception 'Instance % cannot become the child of another one.', old.id using errcode = 'PW003';
end $$;

CREATE FUNCTION pawl.refuse_change() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  raise exception 'Instance % cannot change at version % without a move in its journal.', old.id, old.version
    using errcode = 'PW003';
end $$;

CREATE FUNCTION pawl.take_turns(gate_name text, of_lifecycle text, in_states text[], of_lanes text[], after_key text, key_credit integer, most integer, quantum integer, limit_all integer, rate_all integer, window_start timestamp with time zone, window_end timestamp with time zone, limit_each integer, rate_each integer, each_start timestamp with time zone, each_end timestamp with time zone, far integer, OUT ids uuid[], OUT keys text[], OUT after text, OUT credit integer, OUT wait_ms double precision) RETURNS record
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
#variable_conflict use_variable
declare
  of_lane text; counted text[]; limit_now int; each_now int;
  turns text[]; weights int[]; rooms int[]; quotas int[]; weight_sum bigint; more uuid[]; more_keys text[];
  frees timestamptz; first_free timestamptz; gap int; before int := 0; step_count int; round int; leg_now int;
  from_key text; until_key text; quantum_now int; room_now int; last_quota int;
begin
  ids := '{}'; keys := '{}'; after := after_key; credit := key_credit;
  if most <= 0 then return; end if;
  if num_nonnulls(limit_all, rate_all, limit_each, rate_each) > 0 then
    if not pg_try_advisory_xact_lock(7297, hashtext(gate_name)) then wait_ms := 10; return; end if;
    select least(limit_all, known.limit_all), case when limit_each is not null then least(limit_each, known.limit_each) end
    into limit_now, each_now
    from (select) as one left join pawl.lane_limits as known on known.gate = gate_name and known.replaced_at is null;
    if num_nonnulls(limit_now, rate_all) > 0 then
      select least(most, pawl.gate_left(gate_name, of_lifecycle, in_states, limit_now, rate_all, window_start, window_end))
      into most;
    end if;
    if most <= 0 then return; end if;
    select array_agg(known.name || '@' || known.version || '/' || state.name) into counted
    from pawl.lifecycles as known cross join unnest(in_states) as state(name) where known.name = of_lifecycle;
  end if;
  credit := 0;
  foreach of_lane in array of_lanes loop
    exit when cardinality(ids) > 0;
    gap := most; before := 0; round := 0; quantum_now := quantum; leg_now := 1; from_key := after_key; until_key := U&'\+10FFFF';
    -- The rest of the turn of the key that was served last.
    if key_credit > 0 and after_key <> '' then
      select least(key_credit, gap,
        case when each_now is not null then each_now - (
          select count(*)::int from (
            select from unnest(counted) as lane(name) cross join lateral (
              select from pawl.tasks as held where held.gate = lane.name and held.lane_key = after_key limit each_now
            ) as one limit each_now
          ) as running
        ) end,
        case when rate_each is not null then rate_each - (
          select coalesce(sum(begun.steps), 0)::int from pawl.begun as begun
          where begun.gate = gate_name || chr(1) || after_key and begun.at > each_start and begun.at <= each_end
        ) end) into room_now;
      if room_now > 0 then
        select array_agg(task.id) into more from (
          select each.id from pawl.tasks as each
          where each.queue = of_lane and each.due_at is null and each.lane_key = after_key
          order by each.priority, each.id limit room_now for update skip locked
        ) as task;
        ids := coalesce(more, '{}'); before := cardinality(ids); gap := most - before;
        keys := array_fill(after_key, array[before]);
        if gap <= 0 then credit := key_credit - before; end if;
      end if;
    end if;
    -- The ring: from the key after the last that was served to the end, then from the beginning to that one.
    while gap > 0 and leg_now <= 2 and far > 0 loop
      with recursive walk(n, leg, turn, until, weight, room, frees, filled) as (
        select 0, leg_now, from_key collate "C", until_key collate "C", 0, 0, null::timestamptz, 0::bigint
        union all
        select walk.n + 1, case when next.turn is null then walk.leg + 1 else walk.leg end, coalesce(next.turn, ''),
          case when next.turn is null then after_key collate "C" else walk.until end, coalesce(next.weight, 0), held.room,
          held.frees, walk.filled + case when next.turn is null then 0 else greatest(0, least(next.weight * quantum_now, held.room)) end
        from walk
        left join lateral (
          select each.lane_key as turn, coalesce(each.weight, 1)::int as weight from pawl.tasks as each
          where each.queue = of_lane and each.due_at is null and each.lane_key > walk.turn and each.lane_key <= walk.until
          order by each.lane_key, each.priority, each.id limit 1
        ) as next on true
        cross join lateral (
          select least(1000000,
            case when each_now is not null then each_now - (
              select count(*)::int from (
                select from unnest(counted) as lane(name) cross join lateral (
                  select from pawl.tasks as held where held.gate = lane.name and held.lane_key = next.turn limit each_now
                ) as one limit each_now
              ) as running
            ) end,
            case when rate_each is not null then rate_each - spent.steps end)
            - case when next.turn = after_key then before else 0 end as room,
            case when spent.steps >= rate_each then spent.first_at end as frees
          from (
            select coalesce(sum(begun.steps), 0)::int as steps, min(begun.at) as first_at from pawl.begun as begun
            where rate_each is not null and begun.gate = gate_name || chr(1) || next.turn
              and begun.at > each_start and begun.at <= each_end
          ) as spent
          offset 0
        ) as held
        where walk.leg <= 2 and walk.filled < gap and walk.n < far
      )
      select array_agg(walk.turn order by walk.n) filter (where walk.weight > 0 and walk.room > 0),
        array_agg(walk.weight order by walk.n) filter (where walk.weight > 0 and walk.room > 0),
        array_agg(walk.room order by walk.n) filter (where walk.weight > 0 and walk.room > 0),
        sum(walk.weight) filter (where walk.room > 0), max(walk.leg), max(walk.n), (array_agg(walk.turn order by walk.n desc))[1],
        (array_agg(walk.until order by walk.n desc))[1], min(walk.frees)
      into turns, weights, rooms, weight_sum, leg_now, step_count, from_key, until_key, frees from walk;
      round := round + 1; far := far - step_count; first_free := least(first_free, frees);
      -- A ring shorter than the batch goes round more than once.
      select array_agg(least(one.room, case when leg_now > 2 and round = 1
        then ceil(one.weight * gap::float8 / weight_sum)::int else one.weight * quantum_now end) order by one.place)
      into quotas from unnest(turns, weights, rooms) with ordinality as one(turn, weight, room, place);
      select array_agg(task.id order by task.place), array_agg(task.turn order by task.place) into more, more_keys from (
        select next.id, given.turn, row_number() over () as place
        from unnest(turns, quotas) as given(turn, quota)
        cross join lateral (
          select each.id from pawl.tasks as each
          where each.queue = of_lane and each.due_at is null and each.lane_key = given.turn
          order by each.priority, each.id
          limit given.quota offset case when given.turn = after_key then before else 0 end for update skip locked
        ) as next limit gap
      ) as task;
      ids := ids || coalesce(more, '{}'); keys := keys || coalesce(more_keys, '{}');
      gap := most - cardinality(ids); quantum_now := 1;
      if more is null then
        if leg_now <= 2 then after := from_key; end if;
      elsif gap > 0 and leg_now <= 2 then after := from_key;
      else
        after := more_keys[cardinality(more_keys)];
        if gap <= 0 then
          select given.quota into last_quota from unnest(turns, quotas) as given(turn, quota) where given.turn = after;
          credit := greatest(0, last_quota - (select count(*)::int from unnest(more_keys) as one(turn) where one.turn = after));
        end if;
      end if;
    end loop;
    -- What the others of a short ring left goes to those who have more.
    if round = 1 and leg_now > 2 and gap > 0 and turns is not null then
      select array_agg(task.id order by task.place), array_agg(task.turn order by task.place) into more, more_keys from (
        select next.id, rich.turn, row_number() over () as place
        from (
          select given.*, sum(given.weight) over () as weights,
            case when given.turn = after_key then before else 0 end + given.quota as passed
          from unnest(turns, weights, quotas, rooms) as given(turn, weight, quota, room)
          where given.quota < given.room and exists (
            select from pawl.tasks as each
            where each.queue = of_lane and each.due_at is null and each.lane_key = given.turn
            order by each.priority, each.id offset case when given.turn = after_key then before else 0 end + given.quota limit 1
          )
        ) as rich
        cross join lateral (
          select each.id from pawl.tasks as each
          where each.queue = of_lane and each.due_at is null and each.lane_key = rich.turn
          order by each.priority, each.id
          limit least(rich.room - rich.quota, ceil(rich.weight * gap::float8 / rich.weights)::int) offset rich.passed
          for update skip locked
        ) as next limit gap
      ) as task;
      ids := ids || coalesce(more, '{}'); keys := keys || coalesce(more_keys, '{}');
      gap := most - cardinality(ids);
    end if;
    -- Tasks from before the state declared keys: the oldest of their lane.
    if gap > 0 then
      select array_agg(task.id) into more from (
        select each.id from (
          select early.id from (
            select head.id, head.lane_key from pawl.tasks as head
            where head.queue = of_lane and head.due_at is null order by head.priority, head.id limit 100
          ) as early where early.lane_key is null
        ) as early cross join lateral (
          select one.id from pawl.tasks as one
          where one.id = early.id and one.queue = of_lane and one.due_at is null and one.lane_key is null
          for update skip locked
        ) as each limit gap
      ) as task;
      ids := ids || coalesce(more, '{}'); keys := keys || array_fill(null::text, array[cardinality(coalesce(more, '{}'))]);
    end if;
  end loop;
  if cardinality(ids) = 0 then wait_ms := greatest(1, pawl.ms(first_free) - pawl.ms(each_start)); end if;
end $$;

CREATE TABLE pawl.access_tokens (
    id uuid NOT NULL,
    kind text NOT NULL COLLATE pg_catalog."C",
    hash text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    role text NOT NULL COLLATE pg_catalog."C",
    labeler text COLLATE pg_catalog."C",
    parent_id uuid,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone,
    used_at timestamp with time zone,
    CONSTRAINT access_tokens_kind_check CHECK ((kind = ANY (ARRAY['token'::text, 'session'::text, 'code'::text]))),
    CONSTRAINT access_tokens_labeler_is_somebody CHECK (((role = 'labeler'::text) = (labeler IS NOT NULL))),
    CONSTRAINT access_tokens_role_check CHECK ((role = ANY (ARRAY['viewer'::text, 'operator'::text, 'admin'::text, 'labeler'::text, 'service'::text]))),
    CONSTRAINT access_tokens_visit_ends CHECK (((kind = 'token'::text) OR (expires_at IS NOT NULL)))
);

CREATE TABLE pawl.alert_sinks (
    name text NOT NULL COLLATE pg_catalog."C",
    seen_at timestamp with time zone NOT NULL
);

CREATE TABLE pawl.alerts (
    id uuid NOT NULL,
    cause text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL COLLATE pg_catalog."C",
    lifecycle text NOT NULL COLLATE pg_catalog."C",
    instance_id uuid,
    key text,
    message text NOT NULL,
    details jsonb NOT NULL,
    at timestamp with time zone NOT NULL,
    due_at timestamp with time zone,
    attempts integer DEFAULT 0 NOT NULL,
    told text[] DEFAULT '{}'::text[] NOT NULL,
    error text
);

CREATE TABLE pawl.archives (
    name text NOT NULL COLLATE pg_catalog."C",
    store text NOT NULL COLLATE pg_catalog."C",
    letters integer NOT NULL,
    bytes integer NOT NULL,
    sha256 text NOT NULL COLLATE pg_catalog."C",
    first_id uuid NOT NULL,
    last_id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL
);

CREATE TABLE pawl.assignments (
    id uuid NOT NULL,
    queue text NOT NULL COLLATE pg_catalog."C",
    sample_id uuid NOT NULL,
    slot integer NOT NULL,
    labeler text NOT NULL COLLATE pg_catalog."C",
    status text NOT NULL COLLATE pg_catalog."C",
    desk text COLLATE pg_catalog."C",
    place integer,
    try integer NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    bars boolean DEFAULT true NOT NULL,
    revision_of uuid,
    released boolean DEFAULT false NOT NULL,
    start_by timestamp with time zone,
    deadline timestamp with time zone,
    due_at timestamp with time zone,
    label_id uuid,
    skip_reason text,
    created_at timestamp with time zone NOT NULL,
    started_at timestamp with time zone,
    completed_at timestamp with time zone,
    expired_at timestamp with time zone,
    skipped_at timestamp with time zone,
    CONSTRAINT assignments_are_closed_once CHECK ((((status = 'completed'::text) = (completed_at IS NOT NULL)) AND ((status = 'expired'::text) = (expired_at IS NOT NULL)) AND ((status = 'skipped'::text) = (skipped_at IS NOT NULL)) AND ((status = 'completed'::text) = (label_id IS NOT NULL)))),
    CONSTRAINT assignments_attempts_check CHECK ((attempts >= 0)),
    CONSTRAINT assignments_closed_wait_for_nothing CHECK (((desk IS NOT NULL) OR (due_at IS NULL))),
    CONSTRAINT assignments_desk_is_the_labelers CHECK ((desk = labeler)),
    CONSTRAINT assignments_open_lie_on_a_desk CHECK (((desk IS NOT NULL) = (status = ANY (ARRAY['pending'::text, 'in_progress'::text])))),
    CONSTRAINT assignments_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'in_progress'::text, 'completed'::text, 'expired'::text, 'skipped'::text]))),
    CONSTRAINT assignments_try_check CHECK ((try >= 1))
)
WITH (fillfactor='70', autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_threshold='2000');

CREATE TABLE pawl.attempts (
    instance_id uuid NOT NULL,
    task_id uuid NOT NULL,
    token bigint NOT NULL,
    what text NOT NULL COLLATE pg_catalog."C",
    at timestamp with time zone NOT NULL,
    lane text COLLATE pg_catalog."C",
    attempt integer,
    worker text COLLATE pg_catalog."C",
    detail jsonb,
    "position" bigint,
    visit integer,
    CONSTRAINT attempts_what_check CHECK ((what = ANY (ARRAY['claimed'::text, 'failed'::text, 'lapsed'::text, 'released'::text, 'deferred'::text, 'refused'::text, 'asked'::text])))
);

CREATE SEQUENCE pawl.attempt_positions
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE pawl.attempt_positions OWNED BY pawl.attempts."position";

CREATE TABLE pawl.begun (
    gate text NOT NULL COLLATE pg_catalog."C",
    at timestamp with time zone NOT NULL,
    steps integer NOT NULL,
    CONSTRAINT begun_steps_check CHECK ((steps > 0))
)
WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_threshold='1000');

CREATE TABLE pawl.breaker_counts (
    breaker text NOT NULL COLLATE pg_catalog."C",
    flip integer NOT NULL,
    at timestamp with time zone NOT NULL,
    process uuid NOT NULL,
    good integer NOT NULL,
    failed integer NOT NULL,
    retry_at timestamp with time zone,
    CONSTRAINT breaker_counts_failed_check CHECK ((failed >= 0)),
    CONSTRAINT breaker_counts_good_check CHECK ((good >= 0))
)
WITH (fillfactor='50', autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_threshold='1000');

CREATE TABLE pawl.breaker_flips (
    breaker text NOT NULL COLLATE pg_catalog."C",
    flip integer NOT NULL,
    from_state text NOT NULL COLLATE pg_catalog."C",
    to_state text NOT NULL COLLATE pg_catalog."C",
    cause text NOT NULL COLLATE pg_catalog."C",
    good integer NOT NULL,
    failed integer NOT NULL,
    open_until timestamp with time zone,
    reason text,
    actor text,
    at timestamp with time zone NOT NULL,
    CONSTRAINT breaker_flips_cause_check CHECK ((cause = ANY (ARRAY['failures'::text, 'rested'::text, 'probe_failed'::text, 'probes_passed'::text, 'forced'::text, 'released'::text])))
);

CREATE TABLE pawl.breakers (
    name text NOT NULL COLLATE pg_catalog."C",
    state text DEFAULT 'closed'::text NOT NULL COLLATE pg_catalog."C",
    flip integer DEFAULT 0 NOT NULL,
    since timestamp with time zone NOT NULL,
    open_until timestamp with time zone,
    probe_task uuid,
    probe_token bigint,
    probes_done integer DEFAULT 0 NOT NULL,
    probes_good integer DEFAULT 0 NOT NULL,
    forced text COLLATE pg_catalog."C",
    reason text,
    actor text,
    CONSTRAINT breakers_flip_check CHECK ((flip >= 0)),
    CONSTRAINT breakers_force_is_the_state CHECK ((forced = state)),
    CONSTRAINT breakers_forced_check CHECK ((forced = ANY (ARRAY['open'::text, 'closed'::text]))),
    CONSTRAINT breakers_open_ends CHECK (((open_until IS NOT NULL) = ((state = 'open'::text) AND (forced IS NULL)))),
    CONSTRAINT breakers_probe_is_whole CHECK (((probe_task IS NULL) = (probe_token IS NULL))),
    CONSTRAINT breakers_probe_when_half_open CHECK (((probe_token IS NULL) OR (state = 'half_open'::text))),
    CONSTRAINT breakers_probes_add_up CHECK (((probes_good >= 0) AND (probes_good <= probes_done))),
    CONSTRAINT breakers_state_check CHECK ((state = ANY (ARRAY['closed'::text, 'open'::text, 'half_open'::text])))
)
WITH (fillfactor='50');

CREATE TABLE pawl.callback_tokens (
    id uuid NOT NULL,
    hash text NOT NULL COLLATE pg_catalog."C",
    instance_id uuid NOT NULL,
    run integer NOT NULL,
    event text NOT NULL COLLATE pg_catalog."C",
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    uses integer DEFAULT 0 NOT NULL
);

CREATE TABLE pawl.callbacks (
    id uuid NOT NULL,
    instance_id uuid NOT NULL,
    lifecycle text NOT NULL COLLATE pg_catalog."C",
    run integer NOT NULL,
    event text NOT NULL COLLATE pg_catalog."C",
    dedupe text NOT NULL COLLATE pg_catalog."C",
    hash text NOT NULL COLLATE pg_catalog."C",
    source text NOT NULL COLLATE pg_catalog."C",
    actor text,
    payload jsonb,
    patch jsonb,
    error jsonb,
    received_at timestamp with time zone NOT NULL,
    status text DEFAULT 'waiting'::text NOT NULL COLLATE pg_catalog."C",
    looked boolean DEFAULT false NOT NULL,
    accepted boolean,
    is_late boolean DEFAULT false NOT NULL,
    reason text,
    version integer,
    deadline_at timestamp with time zone,
    settled_at timestamp with time zone,
    attempts integer DEFAULT 0 NOT NULL,
    retry_at timestamp with time zone,
    CONSTRAINT callbacks_error_never_completes CHECK (((error IS NULL) OR (status <> 'accepted'::text))),
    CONSTRAINT callbacks_late_is_past_the_deadline CHECK (((NOT is_late) OR (received_at >= deadline_at))),
    CONSTRAINT callbacks_move CHECK (((status = ANY (ARRAY['applied'::text, 'accepted'::text])) = (version IS NOT NULL))),
    CONSTRAINT callbacks_settled CHECK (((status = 'waiting'::text) = (settled_at IS NULL))),
    CONSTRAINT callbacks_source_check CHECK ((source = ANY (ARRAY['call'::text, 'token'::text, 'step'::text]))),
    CONSTRAINT callbacks_status_check CHECK ((status = ANY (ARRAY['waiting'::text, 'applied'::text, 'kept'::text, 'rejected'::text, 'refused'::text, 'accepted'::text])))
);

CREATE TABLE pawl.checks (
    id bigint NOT NULL,
    instance_id uuid NOT NULL,
    lifecycle text NOT NULL COLLATE pg_catalog."C",
    at timestamp with time zone DEFAULT pawl.now() NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_threshold='1000');

ALTER TABLE pawl.checks ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME pawl.checks_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE pawl.clock (
    one boolean DEFAULT true NOT NULL,
    high timestamp with time zone NOT NULL,
    CONSTRAINT clock_one_check CHECK (one)
)
WITH (fillfactor='50');

CREATE TABLE pawl.counts (
    lifecycle text NOT NULL COLLATE pg_catalog."C",
    state text NOT NULL COLLATE pg_catalog."C",
    delta bigint NOT NULL
);

CREATE TABLE pawl.dead_letters (
    id uuid NOT NULL,
    instance_id uuid,
    lifecycle text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL COLLATE pg_catalog."C",
    origin text NOT NULL COLLATE pg_catalog."C",
    reason text NOT NULL,
    error jsonb,
    attempts integer NOT NULL,
    payload jsonb,
    task_id uuid,
    token bigint,
    status text DEFAULT 'open'::text NOT NULL COLLATE pg_catalog."C",
    created_at timestamp with time zone NOT NULL,
    decided_at timestamp with time zone,
    cause text NOT NULL COLLATE pg_catalog."C",
    version integer DEFAULT 0 NOT NULL,
    details jsonb,
    work jsonb,
    decided_by text,
    decision text,
    pattern text GENERATED ALWAYS AS (pawl.error_pattern(error, reason)) STORED,
    fingerprint text GENERATED ALWAYS AS (to_hex(hashtextextended((((((lifecycle || '/'::text) || origin) || ' '::text) || pawl.error_pattern(error, reason)) COLLATE "C"), (0)::bigint))) STORED COLLATE pg_catalog."C",
    restored_at timestamp with time zone,
    CONSTRAINT dead_letters_decided CHECK (((status = 'open'::text) = (decided_at IS NULL))),
    CONSTRAINT dead_letters_kind_check CHECK ((kind = ANY (ARRAY['instance'::text, 'effect'::text, 'message'::text, 'broker'::text]))),
    CONSTRAINT dead_letters_status_check CHECK ((status = ANY (ARRAY['open'::text, 'requeued'::text, 'discarded'::text, 'archived'::text]))),
    CONSTRAINT dead_letters_task_has_token CHECK (((task_id IS NULL) = (token IS NULL))),
    CONSTRAINT dead_letters_work_has_instance CHECK (((kind = ANY (ARRAY['message'::text, 'broker'::text])) OR (instance_id IS NOT NULL)))
);

CREATE TABLE pawl.drafts (
    assignment_id uuid NOT NULL,
    value jsonb NOT NULL,
    at timestamp with time zone NOT NULL
)
WITH (fillfactor='70');

CREATE TABLE pawl.edges (
    lifecycle text NOT NULL COLLATE pg_catalog."C",
    version integer NOT NULL,
    from_state text NOT NULL COLLATE pg_catalog."C",
    event text NOT NULL COLLATE pg_catalog."C",
    to_state text NOT NULL COLLATE pg_catalog."C"
);

CREATE TABLE pawl.instances (
    id uuid NOT NULL,
    lifecycle text NOT NULL COLLATE pg_catalog."C",
    definition integer NOT NULL,
    key text COLLATE pg_catalog."C",
    key_held boolean DEFAULT true NOT NULL,
    state text NOT NULL COLLATE pg_catalog."C",
    shelf text COLLATE pg_catalog."C",
    version integer NOT NULL,
    visit integer NOT NULL,
    run integer DEFAULT 1 NOT NULL,
    data jsonb NOT NULL,
    deadline_at timestamp with time zone,
    next_due_at timestamp with time zone,
    alarms integer DEFAULT 0 NOT NULL,
    failed_from text COLLATE pg_catalog."C",
    failed_visit integer,
    outcome text,
    closed_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    moved_at timestamp with time zone NOT NULL,
    parent_lifecycle text COLLATE pg_catalog."C",
    parent_id uuid,
    parent_run integer,
    child_name text COLLATE pg_catalog."C",
    child_outcome text COLLATE pg_catalog."C",
    has_children boolean DEFAULT false NOT NULL,
    inbox integer DEFAULT 0 NOT NULL,
    timed_out_at timestamp with time zone,
    failure jsonb,
    failed_at timestamp with time zone,
    CONSTRAINT instances_child_holds_no_key CHECK (((parent_id IS NULL) OR (NOT key_held))),
    CONSTRAINT instances_child_is_whole CHECK ((num_nonnulls(parent_lifecycle, parent_id, parent_run, child_name) = ANY (ARRAY[0, 4]))),
    CONSTRAINT instances_child_outcome CHECK ((child_outcome = ANY (ARRAY['success'::text, 'failure'::text, 'discarded'::text]))),
    CONSTRAINT instances_closed_has_outcome CHECK (((outcome IS NULL) = (closed_at IS NULL))),
    CONSTRAINT instances_closed_waits_for_nothing CHECK (((closed_at IS NULL) OR (next_due_at IS NULL))),
    CONSTRAINT instances_failure_at_a_time CHECK (((failure IS NULL) = (failed_at IS NULL))),
    CONSTRAINT instances_outcome_check CHECK ((outcome = ANY (ARRAY['success'::text, 'failure'::text, 'discarded'::text]))),
    CONSTRAINT instances_run_check CHECK ((run >= 1)),
    CONSTRAINT instances_shelf_is_the_state CHECK ((shelf = state)),
    CONSTRAINT instances_version_check CHECK ((version >= 1)),
    CONSTRAINT instances_visit_is_a_version CHECK (((visit >= 1) AND (visit <= version)))
)
WITH (fillfactor='60', autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_threshold='2000', autovacuum_analyze_scale_factor='0.02', autovacuum_analyze_threshold='2000');

CREATE TABLE pawl.journal (
    instance_id uuid NOT NULL,
    version integer NOT NULL,
    lifecycle text NOT NULL COLLATE pg_catalog."C",
    definition integer NOT NULL,
    event text NOT NULL COLLATE pg_catalog."C",
    from_state text COLLATE pg_catalog."C",
    to_state text NOT NULL COLLATE pg_catalog."C",
    at timestamp with time zone NOT NULL,
    source text NOT NULL COLLATE pg_catalog."C",
    actor text,
    reason text,
    payload jsonb,
    patch jsonb,
    cleared text[],
    request_id uuid,
    task_id uuid,
    token bigint,
    granted bigint,
    messages integer,
    CONSTRAINT journal_messages_check CHECK ((messages > 0)),
    CONSTRAINT journal_start_comes_from_nowhere CHECK (((version = 1) = (from_state IS NULL))),
    CONSTRAINT journal_task_has_token CHECK (((task_id IS NULL) = (token IS NULL))),
    CONSTRAINT journal_version_check CHECK ((version >= 1)),
    CONSTRAINT journal_worker_has_task CHECK (((source = 'worker'::text) = (task_id IS NOT NULL)))
);

CREATE TABLE pawl.labeler_hours (
    queue text NOT NULL COLLATE pg_catalog."C",
    labeler text NOT NULL COLLATE pg_catalog."C",
    hour timestamp with time zone NOT NULL,
    given integer DEFAULT 0 NOT NULL,
    started integer DEFAULT 0 NOT NULL,
    completed integer DEFAULT 0 NOT NULL,
    skipped integer DEFAULT 0 NOT NULL,
    expired integer DEFAULT 0 NOT NULL,
    unstarted integer DEFAULT 0 NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    worked_ms double precision DEFAULT 0 NOT NULL,
    late integer DEFAULT 0 NOT NULL,
    rejected integer DEFAULT 0 NOT NULL,
    gold integer DEFAULT 0 NOT NULL,
    gold_right integer DEFAULT 0 NOT NULL,
    expired_unstarted integer DEFAULT 0 NOT NULL,
    released integer DEFAULT 0 NOT NULL
)
WITH (fillfactor='50');

CREATE TABLE pawl.labelers (
    id text NOT NULL COLLATE pg_catalog."C",
    name text,
    skills text[] DEFAULT '{}'::text[] NOT NULL,
    active boolean DEFAULT true NOT NULL,
    created_at timestamp with time zone NOT NULL
);

CREATE TABLE pawl.labels (
    id uuid NOT NULL,
    assignment_id uuid NOT NULL,
    sample_id uuid NOT NULL,
    slot integer NOT NULL,
    queue text NOT NULL COLLATE pg_catalog."C",
    labeler text NOT NULL COLLATE pg_catalog."C",
    value jsonb NOT NULL,
    at timestamp with time zone NOT NULL,
    late boolean DEFAULT false NOT NULL,
    review text COLLATE pg_catalog."C",
    reviewed_by text,
    comment text,
    reviewed_at timestamp with time zone,
    gold_right boolean,
    CONSTRAINT labels_review_check CHECK ((review = ANY (ARRAY['accepted'::text, 'rejected'::text]))),
    CONSTRAINT labels_reviewed CHECK (((review IS NULL) = (reviewed_at IS NULL)))
);

CREATE TABLE pawl.lane_limits (
    id bigint NOT NULL,
    gate text NOT NULL COLLATE pg_catalog."C",
    limit_all integer,
    limit_each integer,
    rate_all text,
    rate_each text,
    changed_at timestamp with time zone NOT NULL,
    actor text,
    reason text,
    replaced_at timestamp with time zone,
    CONSTRAINT lane_limits_limit_all_check CHECK ((limit_all > 0)),
    CONSTRAINT lane_limits_limit_each_check CHECK ((limit_each > 0))
);

ALTER TABLE pawl.lane_limits ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME pawl.lane_limits_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE pawl.lifecycles (
    name text NOT NULL COLLATE pg_catalog."C",
    version integer NOT NULL,
    shapes text[] NOT NULL,
    shape jsonb NOT NULL,
    keep_closed interval,
    registered_at timestamp with time zone DEFAULT pawl.now() NOT NULL,
    CONSTRAINT lifecycles_version_check CHECK ((version > 0))
);

CREATE TABLE pawl.memos (
    instance_id uuid NOT NULL,
    owner text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    value jsonb,
    at timestamp with time zone NOT NULL
);

CREATE TABLE pawl.messages (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    aggregate_id text NOT NULL COLLATE pg_catalog."C",
    aggregate_type text NOT NULL COLLATE pg_catalog."C",
    message_type text NOT NULL COLLATE pg_catalog."C",
    payload jsonb NOT NULL,
    status text DEFAULT 'pending'::text NOT NULL COLLATE pg_catalog."C",
    created_at timestamp with time zone DEFAULT pawl.now() NOT NULL,
    processed_at timestamp with time zone,
    retry_count integer DEFAULT 0 NOT NULL,
    error_message text,
    version integer,
    place integer,
    "position" bigint NOT NULL,
    shard integer GENERATED ALWAYS AS (((hashtextextended(((aggregate_type || '/'::text) || aggregate_id), (0)::bigint) & (63)::bigint))::integer) STORED,
    next_attempt_at timestamp with time zone,
    unrouted_at timestamp with time zone,
    CONSTRAINT messages_dead_is_held CHECK (((status <> 'dead'::text) OR (next_attempt_at = 'infinity'::timestamp with time zone))),
    CONSTRAINT messages_done_is_processed CHECK (((status = ANY (ARRAY['published'::text, 'discarded'::text])) = (processed_at IS NOT NULL))),
    CONSTRAINT messages_done_waits_for_nothing CHECK (((processed_at IS NULL) OR (next_attempt_at IS NULL))),
    CONSTRAINT messages_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'published'::text, 'dead'::text, 'discarded'::text]))),
    CONSTRAINT messages_version_has_place CHECK (((version IS NULL) = (place IS NULL)))
)
WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_threshold='2000', autovacuum_analyze_scale_factor='0.02', autovacuum_analyze_threshold='2000');

ALTER TABLE pawl.messages ALTER COLUMN "position" ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME pawl.messages_position_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE pawl.migrations (
    version integer NOT NULL,
    name text NOT NULL,
    checksum text NOT NULL,
    applied_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    breaking boolean DEFAULT true NOT NULL
);

CREATE TABLE pawl.operation_items (
    operation_id uuid NOT NULL,
    item_id uuid NOT NULL,
    kind text NOT NULL COLLATE pg_catalog."C",
    lifecycle text NOT NULL COLLATE pg_catalog."C",
    outcome text COLLATE pg_catalog."C",
    note text,
    request_id uuid,
    run integer,
    visit integer,
    CONSTRAINT operation_items_have_a_mark CHECK ((((request_id IS NULL) = (visit IS NULL)) AND ((run IS NULL) = (visit IS NULL))))
);

CREATE TABLE pawl.operations (
    id uuid NOT NULL,
    decision text NOT NULL COLLATE pg_catalog."C",
    filter jsonb NOT NULL,
    restart boolean DEFAULT false NOT NULL,
    actor text,
    reason text,
    per_second double precision,
    status text NOT NULL COLLATE pg_catalog."C",
    items integer NOT NULL,
    created_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    aborted_by text,
    abort_reason text,
    next_at timestamp with time zone NOT NULL,
    token bigint DEFAULT 0 NOT NULL,
    leased_until timestamp with time zone,
    subject text DEFAULT 'dead_letters'::text NOT NULL COLLATE pg_catalog."C",
    settings jsonb,
    CONSTRAINT operations_decision_fits CHECK (
CASE subject
    WHEN 'dead_letters'::text THEN (decision = ANY (ARRAY['requeue'::text, 'discard'::text]))
    ELSE (decision = ANY (ARRAY['send'::text, 'recover'::text, 'restart'::text, 'discard'::text]))
END),
    CONSTRAINT operations_end_at_a_time CHECK (((status = 'running'::text) = (ended_at IS NULL))),
    CONSTRAINT operations_per_second_check CHECK ((per_second > (0)::double precision)),
    CONSTRAINT operations_status_check CHECK ((status = ANY (ARRAY['running'::text, 'done'::text, 'aborted'::text]))),
    CONSTRAINT operations_subject_check CHECK ((subject = ANY (ARRAY['dead_letters'::text, 'instances'::text])))
);

CREATE TABLE pawl.pauses (
    id bigint NOT NULL,
    lifecycle text NOT NULL COLLATE pg_catalog."C",
    part text NOT NULL COLLATE pg_catalog."C",
    paused_at timestamp with time zone NOT NULL,
    paused_by text,
    reason text NOT NULL,
    resumed_at timestamp with time zone,
    resumed_by text,
    resume_reason text,
    CONSTRAINT pauses_end_after_their_start CHECK ((resumed_at >= paused_at))
);

ALTER TABLE pawl.pauses ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME pawl.pauses_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE pawl.progress (
    instance_id uuid NOT NULL,
    task_id uuid NOT NULL,
    token bigint NOT NULL,
    fraction double precision NOT NULL,
    note text,
    at timestamp with time zone NOT NULL,
    CONSTRAINT progress_fraction_check CHECK (((fraction >= (0)::double precision) AND (fraction <= (1)::double precision)))
);

CREATE TABLE pawl.pruned (
    what text NOT NULL COLLATE pg_catalog."C",
    up_to timestamp with time zone NOT NULL
);

CREATE TABLE pawl.queues (
    name text NOT NULL COLLATE pg_catalog."C",
    source text NOT NULL COLLATE pg_catalog."C",
    active boolean DEFAULT true NOT NULL,
    settings jsonb NOT NULL,
    label_schema json NOT NULL,
    label_code boolean DEFAULT false NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    eligibility integer DEFAULT 1 NOT NULL,
    eligibility_checked integer DEFAULT 0 NOT NULL,
    given_up integer DEFAULT 0 NOT NULL,
    CONSTRAINT queues_source_check CHECK ((source = ANY (ARRAY['code'::text, 'run_time'::text])))
);

CREATE TABLE pawl.rejected_messages (
    fingerprint text NOT NULL COLLATE pg_catalog."C",
    queue text NOT NULL COLLATE pg_catalog."C",
    error jsonb NOT NULL,
    rejected_at timestamp with time zone NOT NULL
);

CREATE TABLE pawl.release_failures (
    instance_id uuid NOT NULL,
    lifecycle text NOT NULL COLLATE pg_catalog."C",
    state text NOT NULL COLLATE pg_catalog."C",
    visit integer NOT NULL,
    what text NOT NULL COLLATE pg_catalog."C",
    attempts integer NOT NULL,
    reason text NOT NULL,
    error jsonb,
    first_at timestamp with time zone NOT NULL,
    last_at timestamp with time zone NOT NULL,
    retry_at timestamp with time zone,
    CONSTRAINT release_failures_what_check CHECK ((what = ANY (ARRAY['refused'::text, 'failed'::text])))
);

CREATE TABLE pawl.releases (
    lifecycle text NOT NULL COLLATE pg_catalog."C",
    state text NOT NULL COLLATE pg_catalog."C",
    due_at timestamp with time zone NOT NULL
);

CREATE TABLE pawl.requests (
    instance_id uuid NOT NULL,
    key text NOT NULL COLLATE pg_catalog."C",
    hash text NOT NULL COLLATE pg_catalog."C",
    version integer NOT NULL,
    at timestamp with time zone NOT NULL
);

CREATE TABLE pawl.samples (
    id uuid NOT NULL,
    queue text NOT NULL COLLATE pg_catalog."C",
    open boolean DEFAULT true NOT NULL,
    needs integer NOT NULL,
    filled integer DEFAULT 0 NOT NULL,
    spent integer DEFAULT 0 NOT NULL,
    spare integer NOT NULL,
    gold jsonb,
    changes integer DEFAULT 0 NOT NULL,
    settled integer DEFAULT 0 NOT NULL,
    created_at timestamp with time zone NOT NULL,
    posted boolean DEFAULT false NOT NULL,
    CONSTRAINT samples_filled_check CHECK ((filled >= 0)),
    CONSTRAINT samples_have_their_slots CHECK (((filled + spent) <= needs)),
    CONSTRAINT samples_needs_check CHECK ((needs >= 1)),
    CONSTRAINT samples_spare_check CHECK ((spare >= 0)),
    CONSTRAINT samples_spent_check CHECK ((spent >= 0))
)
WITH (fillfactor='70', autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_threshold='2000');

CREATE TABLE pawl.schedules (
    name text NOT NULL COLLATE pg_catalog."C",
    lifecycle text NOT NULL COLLATE pg_catalog."C",
    timing text NOT NULL COLLATE pg_catalog."C",
    next_at timestamp with time zone,
    seen_at timestamp with time zone NOT NULL,
    paused_at timestamp with time zone,
    paused_by text,
    paused_reason text,
    last_at timestamp with time zone,
    last_run_at timestamp with time zone,
    last_result text COLLATE pg_catalog."C",
    last_instance uuid,
    last_error text,
    CONSTRAINT schedules_failure_has_error CHECK (((NOT (last_result IS DISTINCT FROM 'failed'::text)) = (last_error IS NOT NULL))),
    CONSTRAINT schedules_last_result_check CHECK ((last_result = ANY (ARRAY['started'::text, 'existed'::text, 'failed'::text]))),
    CONSTRAINT schedules_run_has_result CHECK ((num_nulls(last_at, last_run_at, last_result) = ANY (ARRAY[0, 3])))
);

CREATE TABLE pawl.shards (
    shard integer NOT NULL,
    relay text COLLATE pg_catalog."C",
    token bigint DEFAULT 0 NOT NULL,
    leased_until timestamp with time zone,
    CONSTRAINT shards_lease_has_end CHECK (((relay IS NULL) = (leased_until IS NULL))),
    CONSTRAINT shards_shard_check CHECK (((shard >= 0) AND (shard <= 63)))
)
WITH (fillfactor='20', autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='2000');

CREATE TABLE pawl.slots (
    sample_id uuid NOT NULL,
    no integer NOT NULL,
    queue text NOT NULL COLLATE pg_catalog."C",
    open_in text COLLATE pg_catalog."C",
    rank double precision NOT NULL,
    assignment_id uuid,
    filled boolean DEFAULT false NOT NULL,
    CONSTRAINT slots_are_filled_by_someone CHECK (((NOT filled) OR (assignment_id IS NOT NULL))),
    CONSTRAINT slots_are_open_in_their_queue CHECK ((open_in = queue)),
    CONSTRAINT slots_are_open_or_held CHECK (((open_in IS NULL) OR (assignment_id IS NULL))),
    CONSTRAINT slots_no_check CHECK ((no >= 1))
)
WITH (fillfactor='70', autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='1000', autovacuum_analyze_scale_factor='0.02', autovacuum_analyze_threshold='1000');

CREATE TABLE pawl.stuck_causes (
    cause text NOT NULL COLLATE pg_catalog."C",
    lifecycle text NOT NULL COLLATE pg_catalog."C",
    alerted_at timestamp with time zone NOT NULL,
    seen_at timestamp with time zone NOT NULL
);

CREATE TABLE pawl.sweeps (
    lifecycle text NOT NULL COLLATE pg_catalog."C",
    state text NOT NULL COLLATE pg_catalog."C",
    due_at timestamp with time zone NOT NULL,
    place uuid DEFAULT '00000000-0000-0000-0000-000000000000'::uuid NOT NULL
);

CREATE TABLE pawl.tasks (
    id uuid NOT NULL,
    instance_id uuid NOT NULL,
    kind text NOT NULL COLLATE pg_catalog."C",
    lane text NOT NULL COLLATE pg_catalog."C",
    priority integer DEFAULT 0 NOT NULL,
    queue text COLLATE pg_catalog."C",
    due_at timestamp with time zone,
    worker text COLLATE pg_catalog."C",
    leased_until timestamp with time zone,
    token bigint DEFAULT 0 NOT NULL,
    attempt integer DEFAULT 0 NOT NULL,
    visit integer NOT NULL,
    work jsonb,
    since timestamp with time zone NOT NULL,
    gate text COLLATE pg_catalog."C",
    begun boolean DEFAULT true NOT NULL,
    spared smallint DEFAULT 0 NOT NULL,
    lane_key text COLLATE pg_catalog."C",
    weight smallint,
    CONSTRAINT tasks_are_ready_scheduled_or_running CHECK (((num_nonnulls(queue, worker) = 1) AND (num_nonnulls(due_at, worker) < 2))),
    CONSTRAINT tasks_attempt_check CHECK ((attempt >= 0)),
    CONSTRAINT tasks_behind_gates_run CHECK (((gate IS NULL) OR (worker IS NOT NULL))),
    CONSTRAINT tasks_gate_is_the_lane CHECK ((gate = lane)),
    CONSTRAINT tasks_kind_check CHECK ((kind = ANY (ARRAY['step'::text, 'effect'::text]))),
    CONSTRAINT tasks_lease_has_end CHECK (((worker IS NULL) = (leased_until IS NULL))),
    CONSTRAINT tasks_queue_is_the_lane CHECK ((queue = lane)),
    CONSTRAINT tasks_step_has_its_instances_id CHECK (((kind = 'step'::text) = (id = instance_id)))
)
WITH (fillfactor='50', autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='1000', autovacuum_analyze_scale_factor='0.02', autovacuum_analyze_threshold='1000');

CREATE TABLE pawl.tickets (
    letter_id uuid NOT NULL,
    status text DEFAULT 'open'::text NOT NULL COLLATE pg_catalog."C",
    opened_at timestamp with time zone NOT NULL,
    taken_by text,
    taken_at timestamp with time zone,
    resolved_by text,
    resolved_at timestamp with time zone,
    resolution text,
    due_at timestamp with time zone,
    attempts integer DEFAULT 0 NOT NULL,
    CONSTRAINT tickets_resolved_at_a_time CHECK (((status = 'resolved'::text) = (resolved_at IS NOT NULL))),
    CONSTRAINT tickets_status_check CHECK ((status = ANY (ARRAY['open'::text, 'taken'::text, 'resolved'::text]))),
    CONSTRAINT tickets_taken_by_somebody CHECK (((status <> 'taken'::text) OR ((taken_by IS NOT NULL) AND (taken_at IS NOT NULL))))
);

CREATE TABLE pawl.timers (
    instance_id uuid NOT NULL,
    id uuid NOT NULL,
    kind text NOT NULL COLLATE pg_catalog."C",
    visit integer,
    due_at timestamp with time zone NOT NULL,
    event text NOT NULL COLLATE pg_catalog."C",
    payload jsonb,
    actor text,
    reason text,
    attempts integer DEFAULT 0 NOT NULL,
    request_id uuid,
    CONSTRAINT timers_kind_check CHECK ((kind = ANY (ARRAY['timeout'::text, 'deadline'::text, 'send'::text]))),
    CONSTRAINT timers_visit_check CHECK (
CASE kind
    WHEN 'timeout'::text THEN (visit IS NOT NULL)
    WHEN 'deadline'::text THEN (visit IS NULL)
    ELSE true
END)
)
WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_threshold='2000');

CREATE SEQUENCE pawl.tokens
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

CREATE TABLE pawl.workers (
    id text NOT NULL COLLATE pg_catalog."C",
    host text NOT NULL,
    pid integer NOT NULL,
    pawl text NOT NULL,
    started_at timestamp with time zone NOT NULL,
    heartbeat_at timestamp with time zone NOT NULL,
    loop text NOT NULL,
    stopping boolean NOT NULL,
    concurrency integer NOT NULL,
    slots jsonb NOT NULL,
    tasks jsonb NOT NULL,
    lanes text[] NOT NULL,
    stuck integer DEFAULT 0 NOT NULL
)
WITH (fillfactor='50');

ALTER TABLE ONLY pawl.attempts ALTER COLUMN "position" SET DEFAULT nextval('pawl.attempt_positions'::regclass);

ALTER TABLE ONLY pawl.access_tokens
    ADD CONSTRAINT access_tokens_hash_key UNIQUE (hash);

ALTER TABLE ONLY pawl.access_tokens
    ADD CONSTRAINT access_tokens_pkey PRIMARY KEY (id);

ALTER TABLE ONLY pawl.alert_sinks
    ADD CONSTRAINT alert_sinks_pkey PRIMARY KEY (name);

ALTER TABLE ONLY pawl.alerts
    ADD CONSTRAINT alerts_cause_key UNIQUE (cause);

ALTER TABLE ONLY pawl.alerts
    ADD CONSTRAINT alerts_pkey PRIMARY KEY (id);

ALTER TABLE ONLY pawl.archives
    ADD CONSTRAINT archives_pkey PRIMARY KEY (name);

ALTER TABLE ONLY pawl.assignments
    ADD CONSTRAINT assignments_pkey PRIMARY KEY (id);

ALTER TABLE ONLY pawl.attempts
    ADD CONSTRAINT attempts_pkey PRIMARY KEY (instance_id, task_id, token, what);

ALTER TABLE ONLY pawl.begun
    ADD CONSTRAINT begun_pkey PRIMARY KEY (gate, at);

ALTER TABLE ONLY pawl.breaker_counts
    ADD CONSTRAINT breaker_counts_pkey PRIMARY KEY (breaker, flip, at, process);

ALTER TABLE ONLY pawl.breaker_flips
    ADD CONSTRAINT breaker_flips_pkey PRIMARY KEY (breaker, flip);

ALTER TABLE ONLY pawl.breakers
    ADD CONSTRAINT breakers_pkey PRIMARY KEY (name);

ALTER TABLE ONLY pawl.callback_tokens
    ADD CONSTRAINT callback_tokens_pkey PRIMARY KEY (id);

ALTER TABLE ONLY pawl.callbacks
    ADD CONSTRAINT callbacks_once UNIQUE (instance_id, dedupe);

ALTER TABLE ONLY pawl.callbacks
    ADD CONSTRAINT callbacks_pkey PRIMARY KEY (id);

ALTER TABLE ONLY pawl.checks
    ADD CONSTRAINT checks_pkey PRIMARY KEY (id);

ALTER TABLE ONLY pawl.clock
    ADD CONSTRAINT clock_pkey PRIMARY KEY (one);

ALTER TABLE ONLY pawl.dead_letters
    ADD CONSTRAINT dead_letters_once UNIQUE (cause);

ALTER TABLE ONLY pawl.dead_letters
    ADD CONSTRAINT dead_letters_pkey PRIMARY KEY (id);

ALTER TABLE ONLY pawl.drafts
    ADD CONSTRAINT drafts_pkey PRIMARY KEY (assignment_id);

ALTER TABLE ONLY pawl.edges
    ADD CONSTRAINT edges_pkey PRIMARY KEY (lifecycle, version, from_state, event, to_state);

ALTER TABLE ONLY pawl.instances
    ADD CONSTRAINT instances_pkey PRIMARY KEY (id);

ALTER TABLE ONLY pawl.journal
    ADD CONSTRAINT journal_pkey PRIMARY KEY (instance_id, version);

ALTER TABLE pawl.journal
    ADD CONSTRAINT journal_source_check CHECK ((source = ANY (ARRAY['call'::text, 'worker'::text, 'timer'::text, 'callback'::text, 'pawl'::text]))) NOT VALID;

ALTER TABLE ONLY pawl.labeler_hours
    ADD CONSTRAINT labeler_hours_pkey PRIMARY KEY (queue, labeler, hour);

ALTER TABLE ONLY pawl.labelers
    ADD CONSTRAINT labelers_pkey PRIMARY KEY (id);

ALTER TABLE ONLY pawl.labels
    ADD CONSTRAINT labels_once UNIQUE (assignment_id);

ALTER TABLE ONLY pawl.labels
    ADD CONSTRAINT labels_pkey PRIMARY KEY (id);

ALTER TABLE ONLY pawl.lane_limits
    ADD CONSTRAINT lane_limits_pkey PRIMARY KEY (id);

ALTER TABLE ONLY pawl.lifecycles
    ADD CONSTRAINT lifecycles_pkey PRIMARY KEY (name, version);

ALTER TABLE ONLY pawl.memos
    ADD CONSTRAINT memos_pkey PRIMARY KEY (instance_id, owner, name);

ALTER TABLE ONLY pawl.messages
    ADD CONSTRAINT messages_pkey PRIMARY KEY (id);

ALTER TABLE ONLY pawl.migrations
    ADD CONSTRAINT migrations_pkey PRIMARY KEY (version);

ALTER TABLE ONLY pawl.operation_items
    ADD CONSTRAINT operation_letters_pkey PRIMARY KEY (operation_id, item_id);

ALTER TABLE ONLY pawl.operations
    ADD CONSTRAINT operations_pkey PRIMARY KEY (id);

ALTER TABLE ONLY pawl.pauses
    ADD CONSTRAINT pauses_pkey PRIMARY KEY (id);

ALTER TABLE ONLY pawl.progress
    ADD CONSTRAINT progress_pkey PRIMARY KEY (instance_id, task_id);

ALTER TABLE ONLY pawl.pruned
    ADD CONSTRAINT pruned_pkey PRIMARY KEY (what);

ALTER TABLE ONLY pawl.queues
    ADD CONSTRAINT queues_pkey PRIMARY KEY (name);

ALTER TABLE ONLY pawl.rejected_messages
    ADD CONSTRAINT rejected_messages_pkey PRIMARY KEY (fingerprint);

ALTER TABLE ONLY pawl.release_failures
    ADD CONSTRAINT release_failures_pkey PRIMARY KEY (instance_id);

ALTER TABLE ONLY pawl.releases
    ADD CONSTRAINT releases_pkey PRIMARY KEY (lifecycle, state);

ALTER TABLE ONLY pawl.requests
    ADD CONSTRAINT requests_pkey PRIMARY KEY (instance_id, key);

ALTER TABLE ONLY pawl.samples
    ADD CONSTRAINT samples_pkey PRIMARY KEY (id);

ALTER TABLE ONLY pawl.schedules
    ADD CONSTRAINT schedules_pkey PRIMARY KEY (name);

ALTER TABLE ONLY pawl.shards
    ADD CONSTRAINT shards_pkey PRIMARY KEY (shard);

ALTER TABLE ONLY pawl.slots
    ADD CONSTRAINT slots_pkey PRIMARY KEY (sample_id, no);

ALTER TABLE ONLY pawl.stuck_causes
    ADD CONSTRAINT stuck_causes_pkey PRIMARY KEY (cause);

ALTER TABLE ONLY pawl.sweeps
    ADD CONSTRAINT sweeps_pkey PRIMARY KEY (lifecycle, state);

ALTER TABLE pawl.tasks
    ADD CONSTRAINT tasks_keys_fit_the_index CHECK (((octet_length(lane_key) >= 1) AND (octet_length(lane_key) <= 1000))) NOT VALID;

ALTER TABLE ONLY pawl.tasks
    ADD CONSTRAINT tasks_pkey PRIMARY KEY (id);

ALTER TABLE pawl.tasks
    ADD CONSTRAINT tasks_weight_check CHECK (((weight >= 1) AND (weight <= 100))) NOT VALID;

ALTER TABLE ONLY pawl.tickets
    ADD CONSTRAINT tickets_pkey PRIMARY KEY (letter_id);

ALTER TABLE ONLY pawl.timers
    ADD CONSTRAINT timers_pkey PRIMARY KEY (instance_id, id);

ALTER TABLE ONLY pawl.workers
    ADD CONSTRAINT workers_pkey PRIMARY KEY (id);

CREATE INDEX access_tokens_expiring ON pawl.access_tokens USING btree (expires_at) WHERE (expires_at IS NOT NULL);

CREATE INDEX access_tokens_parent ON pawl.access_tokens USING btree (parent_id) WHERE (parent_id IS NOT NULL);

CREATE INDEX alerts_at ON pawl.alerts USING btree (at);

CREATE INDEX alerts_due ON pawl.alerts USING btree (due_at, id) WHERE (due_at IS NOT NULL);

CREATE INDEX alerts_of_instance ON pawl.alerts USING btree (instance_id) WHERE (instance_id IS NOT NULL);

CREATE UNIQUE INDEX assignments_desk ON pawl.assignments USING btree (queue, desk, place) WHERE (desk IS NOT NULL);

CREATE INDEX assignments_due ON pawl.assignments USING btree (queue, due_at, id) WHERE (due_at IS NOT NULL);

CREATE INDEX assignments_of_labeler ON pawl.assignments USING btree (queue, labeler, id);

CREATE INDEX assignments_of_queue ON pawl.assignments USING btree (queue, id);

CREATE INDEX assignments_of_sample ON pawl.assignments USING btree (sample_id, labeler);

CREATE UNIQUE INDEX assignments_once ON pawl.assignments USING btree (sample_id, labeler) WHERE (bars AND (revision_of IS NULL));

CREATE UNIQUE INDEX assignments_slot ON pawl.assignments USING btree (sample_id, slot) WHERE (desk IS NOT NULL);

CREATE INDEX attempts_faulty ON pawl.attempts USING btree (at) WHERE ((what = 'deferred'::text) AND ((detail ->> 'reason'::text) = 'definition'::text));

CREATE INDEX attempts_refused ON pawl.attempts USING btree (at) WHERE ((what = 'refused'::text) AND ((detail ->> 'visit'::text) IS NOT NULL));

CREATE INDEX callback_tokens_expiry ON pawl.callback_tokens USING btree (expires_at);

CREATE INDEX callback_tokens_of_instance ON pawl.callback_tokens USING btree (instance_id);

CREATE INDEX callbacks_due ON pawl.callbacks USING btree (COALESCE(retry_at, received_at), id) WHERE (NOT looked);

CREATE INDEX callbacks_late ON pawl.callbacks USING btree (id) WHERE (status = 'kept'::text);

CREATE INDEX callbacks_waiting ON pawl.callbacks USING btree (instance_id, received_at, id) WHERE (status = 'waiting'::text);

CREATE INDEX checks_instance ON pawl.checks USING btree (instance_id);

CREATE INDEX dead_letters_by_age ON pawl.dead_letters USING btree (COALESCE(restored_at, created_at), id);

CREATE INDEX dead_letters_of_instance ON pawl.dead_letters USING btree (instance_id);

CREATE INDEX dead_letters_of_kind ON pawl.dead_letters USING btree (fingerprint, id) WHERE (status = 'open'::text);

CREATE INDEX dead_letters_open ON pawl.dead_letters USING btree (lifecycle, id) WHERE (status = 'open'::text);

CREATE UNIQUE INDEX instances_children ON pawl.instances USING btree (parent_id, parent_run, lifecycle, child_name) WHERE (parent_id IS NOT NULL);

CREATE INDEX instances_children_standing ON pawl.instances USING btree (parent_id, parent_run, child_outcome) WHERE (parent_id IS NOT NULL);

CREATE INDEX instances_due ON pawl.instances USING btree (next_due_at, id) WHERE (next_due_at IS NOT NULL);

CREATE INDEX instances_failures ON pawl.instances USING btree (lifecycle, ((failure ->> 'reason'::text)), id) WHERE (failure IS NOT NULL);

CREATE UNIQUE INDEX instances_key ON pawl.instances USING btree (lifecycle, key) WHERE ((key IS NOT NULL) AND key_held);

CREATE INDEX instances_key_history ON pawl.instances USING btree (lifecycle, key, id) WHERE ((key IS NOT NULL) AND (NOT key_held) AND (parent_id IS NULL));

CREATE INDEX instances_shelf ON pawl.instances USING btree (lifecycle, shelf, id) WHERE (shelf IS NOT NULL);

CREATE INDEX journal_failures ON pawl.journal USING btree (instance_id, version) WHERE ((to_state = 'failed'::text) OR (event = 'restart'::text));

CREATE INDEX labels_late ON pawl.labels USING btree (queue, id) WHERE (late AND (review IS NULL));

CREATE INDEX labels_of_queue ON pawl.labels USING btree (queue, id);

CREATE INDEX labels_of_sample ON pawl.labels USING btree (sample_id);

CREATE UNIQUE INDEX lane_limits_current ON pawl.lane_limits USING btree (gate) WHERE (replaced_at IS NULL);

CREATE INDEX messages_aggregate ON pawl.messages USING btree (aggregate_id, aggregate_type);

CREATE INDEX messages_due ON pawl.messages USING btree (next_attempt_at) WHERE (next_attempt_at < 'infinity'::timestamp with time zone);

CREATE INDEX messages_held ON pawl.messages USING btree (aggregate_id, aggregate_type, "position") WHERE (next_attempt_at IS NOT NULL);

CREATE INDEX messages_ready ON pawl.messages USING btree (shard, "position") WHERE ((status = 'pending'::text) AND (next_attempt_at IS NULL));

CREATE INDEX messages_waiting ON pawl.messages USING btree (status, created_at);

CREATE INDEX operation_items_left ON pawl.operation_items USING btree (operation_id, item_id) WHERE (outcome IS NULL);

CREATE INDEX operations_ended ON pawl.operations USING btree (ended_at) WHERE (ended_at IS NOT NULL);

CREATE INDEX operations_running ON pawl.operations USING btree (next_at) WHERE (status = 'running'::text);

CREATE UNIQUE INDEX pauses_open ON pawl.pauses USING btree (lifecycle, part) WHERE (resumed_at IS NULL);

CREATE INDEX queues_unchecked ON pawl.queues USING btree (name) WHERE (eligibility > eligibility_checked);

CREATE INDEX rejected_messages_age ON pawl.rejected_messages USING btree (rejected_at);

CREATE INDEX release_failures_due ON pawl.release_failures USING btree (lifecycle, state, retry_at) WHERE (retry_at IS NOT NULL);

CREATE INDEX release_failures_refused ON pawl.release_failures USING btree (lifecycle, state, instance_id) WHERE ((what = 'refused'::text) AND (attempts >= 10));

CREATE INDEX samples_of_queue ON pawl.samples USING btree (queue, id);

CREATE INDEX samples_unsettled ON pawl.samples USING btree (id) WHERE (changes > settled);

CREATE INDEX slots_open ON pawl.slots USING btree (open_in, rank, sample_id, no) WHERE (open_in IS NOT NULL);

CREATE INDEX tasks_effects ON pawl.tasks USING btree (instance_id) WHERE (kind = 'effect'::text);

CREATE INDEX tasks_gated ON pawl.tasks USING btree (gate, lane_key) WHERE (gate IS NOT NULL);

CREATE INDEX tasks_ready ON pawl.tasks USING btree (queue, priority, id) WHERE ((queue IS NOT NULL) AND (due_at IS NULL));

CREATE INDEX tasks_running ON pawl.tasks USING btree (leased_until, id) WHERE (worker IS NOT NULL);

CREATE INDEX tasks_scheduled ON pawl.tasks USING btree (queue, due_at, id) WHERE (due_at IS NOT NULL);

CREATE INDEX tasks_turns ON pawl.tasks USING btree (queue, lane_key, priority, id) WHERE ((queue IS NOT NULL) AND (due_at IS NULL) AND (lane_key IS NOT NULL));

CREATE INDEX tickets_due ON pawl.tickets USING btree (due_at) WHERE (due_at IS NOT NULL);

CREATE INDEX tickets_unresolved ON pawl.tickets USING btree (letter_id) WHERE (status <> 'resolved'::text);

CREATE TRIGGER attempts_append_only BEFORE UPDATE OR TRUNCATE ON pawl.attempts FOR EACH STATEMENT EXECUTE FUNCTION pawl.refuse();

CREATE TRIGGER attempts_removed AFTER DELETE ON pawl.attempts REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION pawl.history_removed();

CREATE TRIGGER instances_change_by_moves BEFORE UPDATE ON pawl.instances FOR EACH ROW WHEN (((new.id IS DISTINCT FROM old.id) OR (new.version < old.version) OR (new.created_at IS DISTINCT FROM old.created_at) OR (new.lifecycle IS DISTINCT FROM old.lifecycle) OR (new.key IS DISTINCT FROM old.key) OR ((new.version = old.version) AND ((new.state IS DISTINCT FROM old.state) OR (new.visit IS DISTINCT FROM old.visit) OR (new.run IS DISTINCT FROM old.run) OR (new.definition IS DISTINCT FROM old.definition) OR (new.outcome IS DISTINCT FROM old.outcome) OR (new.data IS DISTINCT FROM old.data) OR (new.deadline_at IS DISTINCT FROM old.deadline_at) OR (new.failed_from IS DISTINCT FROM old.failed_from) OR (new.failed_visit IS DISTINCT FROM old.failed_visit) OR (new.closed_at IS DISTINCT FROM old.closed_at) OR (new.moved_at IS DISTINCT FROM old.moved_at) OR (new.timed_out_at IS DISTINCT FROM old.timed_out_at))))) EXECUTE FUNCTION pawl.refuse_change();

CREATE TRIGGER instances_keep_their_parent BEFORE UPDATE OF parent_lifecycle, parent_id, parent_run, child_name ON pawl.instances FOR EACH ROW WHEN (((((new.parent_lifecycle IS DISTINCT FROM old.parent_lifecycle) OR (new.parent_id IS DISTINCT FROM old.parent_id)) OR (new.parent_run IS DISTINCT FROM old.parent_run)) OR (new.child_name IS DISTINCT FROM old.child_name))) EXECUTE FUNCTION pawl.refuse_adoption();

CREATE TRIGGER instances_moved AFTER UPDATE ON pawl.instances REFERENCING NEW TABLE AS moved FOR EACH STATEMENT EXECUTE FUNCTION pawl.instances_moved();

CREATE TRIGGER instances_no_truncate BEFORE TRUNCATE ON pawl.instances FOR EACH STATEMENT EXECUTE FUNCTION pawl.refuse();

CREATE TRIGGER instances_removed AFTER DELETE ON pawl.instances REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION pawl.instances_removed();

CREATE TRIGGER instances_removed_alerts AFTER DELETE ON pawl.instances REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION pawl.instances_removed_alerts();

CREATE TRIGGER instances_removed_callbacks AFTER DELETE ON pawl.instances REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION pawl.instances_removed_callbacks();

CREATE TRIGGER instances_removed_children AFTER DELETE ON pawl.instances REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION pawl.instances_removed_children();

CREATE TRIGGER instances_removed_dead_letters AFTER DELETE ON pawl.instances REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION pawl.instances_removed_dead_letters();

CREATE TRIGGER instances_removed_memos AFTER DELETE ON pawl.instances REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION pawl.instances_removed_memos();

CREATE TRIGGER instances_removed_people AFTER DELETE ON pawl.instances REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION pawl.instances_removed_people();

CREATE TRIGGER instances_started AFTER INSERT ON pawl.instances REFERENCING NEW TABLE AS moved FOR EACH STATEMENT EXECUTE FUNCTION pawl.instances_moved();

CREATE TRIGGER journal_added AFTER INSERT ON pawl.journal REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION pawl.journal_added();

CREATE TRIGGER journal_append_only BEFORE UPDATE OR TRUNCATE ON pawl.journal FOR EACH STATEMENT EXECUTE FUNCTION pawl.refuse();

CREATE TRIGGER journal_removed AFTER DELETE ON pawl.journal REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION pawl.history_removed();

CREATE TRIGGER letter_opens_ticket AFTER INSERT ON pawl.dead_letters FOR EACH ROW WHEN ((new.status = 'open'::text)) EXECUTE FUNCTION pawl.letter_opens_ticket();

CREATE TRIGGER letter_resolves_ticket AFTER UPDATE OF status ON pawl.dead_letters FOR EACH ROW WHEN (((old.status = 'open'::text) AND (new.status <> 'open'::text))) EXECUTE FUNCTION pawl.letter_resolves_ticket();

ALTER TABLE ONLY pawl.access_tokens
    ADD CONSTRAINT access_tokens_parent_id_fkey FOREIGN KEY (parent_id) REFERENCES pawl.access_tokens(id) ON DELETE CASCADE;

ALTER TABLE ONLY pawl.edges
    ADD CONSTRAINT edges_lifecycle_version_fkey FOREIGN KEY (lifecycle, version) REFERENCES pawl.lifecycles(name, version);

ALTER TABLE ONLY pawl.operation_items
    ADD CONSTRAINT operation_letters_operation_id_fkey FOREIGN KEY (operation_id) REFERENCES pawl.operations(id) ON DELETE CASCADE;

ALTER TABLE ONLY pawl.release_failures
    ADD CONSTRAINT release_failures_instance_id_fkey FOREIGN KEY (instance_id) REFERENCES pawl.instances(id) ON DELETE CASCADE;

ALTER TABLE ONLY pawl.tickets
    ADD CONSTRAINT tickets_letter_id_fkey FOREIGN KEY (letter_id) REFERENCES pawl.dead_letters(id) ON DELETE CASCADE;
