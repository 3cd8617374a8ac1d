-- The fields of a form stand in the order in which their schema was written, which jsonb forgets. Rewrites a table of few rows
-- under a lock; queues that are declared in code get their order back when a process that declares them starts.
alter table pawl.queues alter column label_schema type json using label_schema::json;
