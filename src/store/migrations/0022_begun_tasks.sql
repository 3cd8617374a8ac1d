-- A task that its worker holds and has not begun spends no attempt when that worker dies. `begun` says whether a leased task
-- has begun; `spared` how often in this visit a lease lapsed before it had, so that a step which kills its worker at once
-- still comes to an end. Adds columns with constant defaults: the table is locked for a moment and not rewritten. Older
-- processes write neither column, and claim tasks as begun.
alter table pawl.tasks
  add column begun boolean not null default true,
  add column spared smallint not null default 0;
