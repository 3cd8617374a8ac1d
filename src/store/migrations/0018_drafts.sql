-- What a labeler has entered and not yet handed in, so that it survives a lost tab and is there in another browser. Goes with
-- the label or the skip; what was entered in vain stays with an expired assignment, for its labeler to read. A new table.
create table pawl.drafts (
  assignment_id uuid primary key,
  value         jsonb not null,
  at            timestamptz not null
) with (fillfactor = 70);

create or replace function pawl.instances_removed_people() returns trigger language plpgsql as $$
begin
  delete from pawl.slots as slot using gone where slot.sample_id = gone.id;
  delete from pawl.samples as sample using gone where sample.id = gone.id;
  delete from pawl.labels as label using gone where label.assignment_id = gone.id;
  delete from pawl.drafts as draft using gone where draft.assignment_id = gone.id;
  delete from pawl.assignments as assignment using gone where assignment.id = gone.id;
  return null;
end $$;
