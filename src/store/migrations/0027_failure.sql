-- What an instance failed of, in its own row, so that lists can show it and filter by it.
-- Adds two columns that are null, under an exclusive lock for a moment, and an index over failed instances, of which there is
-- none with such a column yet. Instances that failed before keep null; their journal tells. Processes of the version before
-- go on, and write null.

alter table pawl.instances
  -- { reason, error, state } of its last failure, while it is failed or has ended in a failure.
  add column failure jsonb,
  add column failed_at timestamptz,
  add constraint instances_failure_at_a_time check ((failure is null) = (failed_at is null));

create index instances_failures on pawl.instances (lifecycle, (failure ->> 'reason'), id) where failure is not null;
