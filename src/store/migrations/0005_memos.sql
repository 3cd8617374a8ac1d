-- What a step has done and must not do again: results that outlive an attempt. One new table.

create table pawl.memos (
  instance_id uuid not null,
  -- What it belongs to: one visit of a state, or one after-effect.
  owner       text collate "C" not null,
  name        text collate "C" not null,
  value       jsonb,
  at          timestamptz not null,
  primary key (instance_id, owner, name)
);

create function pawl.instances_removed_memos() returns trigger language plpgsql as $$
begin
  delete from pawl.memos as memo using gone where memo.instance_id = gone.id;
  return null;
end $$;

create trigger instances_removed_memos after delete on pawl.instances referencing old table as gone
  for each statement execute function pawl.instances_removed_memos();
