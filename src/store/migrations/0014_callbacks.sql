-- Results that come in from outside: stored when they arrive, each once, and matched afterwards. Two new tables; columns of
-- `instances` without a rewrite. The journal may name one more source: its old rows need not be read for that.

alter table pawl.instances
  -- How many callbacks wait for it, so that the locked row tells whether there are any.
  add column inbox        int not null default 0,
  -- When its deadline struck; null again once it is taken up.
  add column timed_out_at timestamptz;

alter table pawl.journal
  drop constraint journal_source_check,
  add constraint journal_source_check check (source in ('call', 'worker', 'timer', 'callback', 'pawl')) not valid;

create table pawl.callbacks (
  id          uuid primary key,
  instance_id uuid not null,
  lifecycle   text collate "C" not null,
  -- The run of the instance that it came in.
  run         int not null,
  event       text collate "C" not null,
  -- What tells it from every other one of its instance, and what was in it: its sender may send it again.
  dedupe      text collate "C" not null,
  hash        text collate "C" not null,
  source      text collate "C" not null check (source in ('call', 'token', 'step')),
  actor       text,
  payload     jsonb,
  -- What a step set beside its result.
  patch       jsonb,
  error       jsonb,
  -- Taken under the instance's lock, so that it cannot be before a deadline that has struck.
  received_at timestamptz not null,
  status      text collate "C" not null default 'waiting'
              check (status in ('waiting', 'applied', 'kept', 'rejected', 'refused', 'accepted')),
  -- Whether somebody has looked where it belongs, and the first answer that was given.
  looked      boolean not null default false,
  accepted    boolean,
  is_late     boolean not null default false,
  reason      text,
  -- The move that it made, and the deadline as it was then.
  version     int,
  deadline_at timestamptz,
  settled_at  timestamptz,
  constraint callbacks_once unique (instance_id, dedupe),
  constraint callbacks_settled check ((status = 'waiting') = (settled_at is null)),
  constraint callbacks_move check ((status in ('applied', 'accepted')) = (version is not null)),
  constraint callbacks_late_is_past_the_deadline check (not is_late or received_at >= deadline_at),
  constraint callbacks_error_never_completes check (error is null or status <> 'accepted')
);
create index callbacks_waiting on pawl.callbacks (instance_id, received_at, id) where status = 'waiting';
-- Whoever stored them was gone before they were looked at.
create index callbacks_unseen on pawl.callbacks (received_at, id) where not looked;
create index callbacks_late on pawl.callbacks (id) where status = 'kept';

-- What lets an outside service answer for one event of one instance. Only a hash is kept.
create table pawl.callback_tokens (
  id          uuid primary key,
  hash        text collate "C" not null,
  instance_id uuid not null,
  run         int not null,
  event       text collate "C" not null,
  created_at  timestamptz not null,
  expires_at  timestamptz not null
);
create index callback_tokens_of_instance on pawl.callback_tokens (instance_id);
create index callback_tokens_expiry on pawl.callback_tokens (expires_at);

create function pawl.instances_removed_callbacks() returns trigger language plpgsql as $$
begin
  delete from pawl.callbacks as callback using gone where callback.instance_id = gone.id;
  delete from pawl.callback_tokens as token using gone where token.instance_id = gone.id;
  return null;
end $$;

create trigger instances_removed_callbacks after delete on pawl.instances referencing old table as gone
  for each statement execute function pawl.instances_removed_callbacks();

-- As before; and a deadline strikes by a move, too.
drop trigger instances_change_by_moves on pawl.instances;
create trigger instances_change_by_moves before update on pawl.instances
  for each row when (
    new.id is distinct from old.id or new.version < old.version or new.created_at is distinct from old.created_at
    or new.lifecycle is distinct from old.lifecycle or new.key is distinct from old.key
    or (new.version = old.version and (
      new.state is distinct from old.state or new.visit is distinct from old.visit or new.run is distinct from old.run
      or new.definition is distinct from old.definition or new.outcome is distinct from old.outcome
      or new.data is distinct from old.data or new.deadline_at is distinct from old.deadline_at
      or new.failed_from is distinct from old.failed_from or new.failed_visit is distinct from old.failed_visit
      or new.closed_at is distinct from old.closed_at or new.moved_at is distinct from old.moved_at
      or new.timed_out_at is distinct from old.timed_out_at
    ))
  ) execute function pawl.refuse_change();
