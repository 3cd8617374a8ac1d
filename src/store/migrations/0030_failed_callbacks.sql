-- Callbacks whose guard, `set` or `before` hook throws: how often they have failed, and when they are tried again.
-- Adds columns with defaults to pawl.callbacks and replaces its index of callbacks that are to be matched, which locks the
-- table against writes while it is read once. Processes of the version before go on.

alter table pawl.callbacks
  -- Failed tries so far.
  add column attempts int not null default 0,
  -- Null: it is due as soon as it is there.
  add column retry_at timestamptz;

drop index pawl.callbacks_unseen;
create index callbacks_due on pawl.callbacks ((coalesce(retry_at, received_at)), id) where not looked;
