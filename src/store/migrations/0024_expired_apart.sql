-- Expired assignments are counted by how they expired: never started, released by a lead, or started and not finished (the rest).
-- Adds two columns with defaults and fills them for the hours so far: locks the rows of labeler_hours, and reads assignments once.
-- Processes of an earlier version count into `expired` alone until they are replaced.
alter table pawl.labeler_hours
  add column expired_unstarted int not null default 0,
  add column released          int not null default 0;

update pawl.labeler_hours as hours
set expired_unstarted = past.unstarted, released = past.released
from (
  select queue, labeler, date_trunc('hour', expired_at, 'UTC') as hour,
    count(*) filter (where started_at is null and not released) as unstarted, count(*) filter (where released) as released
  from pawl.assignments where status = 'expired'
  group by queue, labeler, date_trunc('hour', expired_at, 'UTC')
) as past
where hours.queue = past.queue and hours.labeler = past.labeler and hours.hour = past.hour;
