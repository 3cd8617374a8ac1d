-- The alert sinks of all processes. An alert is settled once every sink that is alive has settled it, and not already when
-- those of the process that delivered it first have. A process that does not know this table goes on as before. Creates a
-- table, and locks nothing.
create table pawl.alert_sinks (
  name    text collate "C" primary key,
  -- When a process last said that it has it.
  seen_at timestamptz not null
);
