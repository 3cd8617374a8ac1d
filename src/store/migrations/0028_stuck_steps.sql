-- How many steps of a worker ignore their aborted signal: operators must see them, since only a restart ends them.
-- Adds a column with a constant default: locks pawl.workers for an instant, and processes of older versions go on.

alter table pawl.workers add column stuck integer not null default 0;
