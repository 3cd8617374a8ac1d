-- How many samples of a queue are exhausted or unassignable, so that one alert is raised when the first one is, and no other
-- until a lead has dealt with all of them.
-- Adds a column with a default to pawl.queues and counts once, which reads the samples that are given up. Processes of the
-- version before go on, and do not count.

alter table pawl.queues add column given_up int not null default 0;

update pawl.queues as queue
set given_up = counted.samples
from (
  select sample.queue, count(*)::int as samples
  from pawl.instances as instance
  join pawl.samples as sample on sample.id = instance.id
  where instance.lifecycle = 'pawl_sample' and instance.shelf in ('exhausted', 'unassignable')
  group by sample.queue
) as counted
where queue.name = counted.queue;
