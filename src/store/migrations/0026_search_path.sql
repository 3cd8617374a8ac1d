-- Every function finds names in pg_catalog and where it says so, whatever search path its caller has: on a path with a schema
-- in which another role may create, an overload that fits better than a built-in function would run with Pawl's rights. The
-- clock is written so that its names are bound now: a function with settings of its own cannot be inlined, and it is in every
-- statement. Replaces functions; locks no table.
select pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);

create or replace function pawl.now() returns timestamptz language sql stable
return date_trunc('milliseconds', clock_timestamp());

create or replace function pawl.ms(at timestamptz) returns float8 language sql stable
return round(date_part('epoch', at) * 1000);

create or replace function pawl.at(ms float8) returns timestamptz language sql stable
return to_timestamp(ms / 1000.0);

alter function pawl.error_pattern(jsonb, text) set search_path = pg_catalog, pg_temp;
alter function pawl.gate_left(text, text, text[], int, int, timestamptz, timestamptz) set search_path = pg_catalog, pg_temp;
alter function pawl.gate_take(text, text, text[], int, int, timestamptz, timestamptz) set search_path = pg_catalog, pg_temp;
alter function pawl.history_removed() set search_path = pg_catalog, pg_temp;
alter function pawl.instances_moved() set search_path = pg_catalog, pg_temp;
alter function pawl.instances_removed() set search_path = pg_catalog, pg_temp;
alter function pawl.instances_removed_alerts() set search_path = pg_catalog, pg_temp;
alter function pawl.instances_removed_callbacks() set search_path = pg_catalog, pg_temp;
alter function pawl.instances_removed_children() set search_path = pg_catalog, pg_temp;
alter function pawl.instances_removed_dead_letters() set search_path = pg_catalog, pg_temp;
alter function pawl.instances_removed_memos() set search_path = pg_catalog, pg_temp;
alter function pawl.instances_removed_people() set search_path = pg_catalog, pg_temp;
alter function pawl.journal_added() set search_path = pg_catalog, pg_temp;
alter function pawl.letter_opens_ticket() set search_path = pg_catalog, pg_temp;
alter function pawl.letter_resolves_ticket() set search_path = pg_catalog, pg_temp;
alter function pawl.refuse() set search_path = pg_catalog, pg_temp;
alter function pawl.refuse_adoption() set search_path = pg_catalog, pg_temp;
alter function pawl.refuse_change() set search_path = pg_catalog, pg_temp;
