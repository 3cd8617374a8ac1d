-- Since when a check of a parent waits, and an index by which it is found: a parent that no process checks is stuck.
-- Rewrites pawl.checks, which holds only what the next round of maintenance reads, and locks it meanwhile. Processes of the
-- version before go on.

alter table pawl.checks add column at timestamptz not null default pawl.now();
create index checks_instance on pawl.checks (instance_id);
