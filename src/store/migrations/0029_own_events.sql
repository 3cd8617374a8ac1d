-- Events that Pawl itself sends to an instance, such as `joined` and `answered`, and that threw: they are retried by a timer
-- of the visit they belong to. So far only a timeout could have a visit.
-- Replaces a check constraint by a weaker one: locks pawl.timers while its rows are read once. Processes of the version
-- before go on.

alter table pawl.timers
  drop constraint timers_timeout_has_visit,
  add constraint timers_visit_check check (
    case kind when 'timeout' then visit is not null when 'deadline' then visit is null else true end
  );
