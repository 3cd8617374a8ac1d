-- Children: instances that another one starts, and looks after in a `join`. Columns without a rewrite and two new tables;
-- the two indexes hold nothing yet, but to build them reads `instances` once, and nothing is written to it meanwhile.

alter table pawl.instances
  add column parent_lifecycle text collate "C",
  add column parent_id        uuid,
  -- Which run of its parent started it: a restarted parent gets new children.
  add column parent_run       int,
  -- Its name among the children of that run: '=' and its key, or, without a key, the move that started it and its place.
  add column child_name       text collate "C",
  -- How it ended as its parent counts it, also in `failed` when nothing will recover it by itself; null while it is open.
  add column child_outcome    text collate "C",
  -- Its present run has started some.
  add column has_children     boolean not null default false,
  add constraint instances_child_is_whole check (num_nonnulls(parent_lifecycle, parent_id, parent_run, child_name) in (0, 4)),
  add constraint instances_child_outcome check (child_outcome in ('success', 'failure', 'discarded')),
  -- A child's key is its own among its siblings only.
  add constraint instances_child_holds_no_key check (parent_id is null or not key_held);

-- A step that runs again finds its children again, and never has one twice.
create unique index instances_children on pawl.instances (parent_id, parent_run, lifecycle, child_name)
  where parent_id is not null;
-- Whether one is still open is one probe, however many there are.
create index instances_children_standing on pawl.instances (parent_id, parent_run, child_outcome)
  where parent_id is not null;

-- By key, children are found through their parents only.
drop index pawl.instances_key_history;
create index instances_key_history on pawl.instances (lifecycle, key, id)
  where key is not null and not key_held and parent_id is null;

-- Parents to be looked at: a child has ended, or a join was entered. Rows are only ever added and taken away, so that the
-- ends of siblings never wait for each other.
create table pawl.checks (
  id          bigint generated always as identity primary key,
  instance_id uuid not null,
  lifecycle   text collate "C" not null
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);

-- How far a running task is: the newest word of each, and only while the task runs under the same token.
create table pawl.progress (
  instance_id uuid not null,
  task_id     uuid not null,
  token       bigint not null,
  fraction    float8 not null check (fraction between 0 and 1),
  note        text,
  at          timestamptz not null,
  primary key (instance_id, task_id)
);

-- Whose child an instance is stays as it was at its start. Asked only when a statement names these columns.
create function pawl.refuse_adoption() returns trigger language plpgsql as $$
begin
  if new.parent_id is null and not exists (select from pawl.instances as parent where parent.id = old.parent_id) then
    return new;
  end if;
  raise exception 'Instance % cannot become the child of another one.', old.id using errcode = 'PW003';
end $$;

create trigger instances_keep_their_parent
  before update of parent_lifecycle, parent_id, parent_run, child_name on pawl.instances
  for each row when (
    (new.parent_lifecycle, new.parent_id, new.parent_run, new.child_name)
      is distinct from (old.parent_lifecycle, old.parent_id, old.parent_run, old.child_name)
  ) execute function pawl.refuse_adoption();

-- Children may be kept for longer than their parent: then they have none any more.
create function pawl.instances_removed_children() returns trigger language plpgsql as $$
begin
  update pawl.instances as child
  set parent_lifecycle = null, parent_id = null, parent_run = null, child_name = null, child_outcome = null
  from gone where child.parent_id = gone.id;
  delete from pawl.progress as word using gone where word.instance_id = gone.id;
  return null;
end $$;

create trigger instances_removed_children after delete on pawl.instances referencing old table as gone
  for each statement execute function pawl.instances_removed_children();
