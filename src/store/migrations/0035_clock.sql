-- The latest time that maintenance has seen by the database's clock: a clock that is behind it was set back, and what was
-- written while it was ahead would wait for the time in between. Creates a new table only; safe while workers run.

create table pawl.clock (
  -- There is one row at most.
  one    boolean primary key default true check (one),
  high   timestamptz not null
) with (fillfactor = 50);
