-- People: queues, labelers, samples with their slots, assignments and labels. The states of samples and assignments are
-- those of their instances; what is here is what labelers are served from and what is counted, written in the statement
-- that moves the instance. Creates new tables, and one more trigger for instances that are deleted.

create table pawl.queues (
  name         text collate "C" primary key,
  -- Declared in code, where the process that started last says what it is, or made at run time.
  source       text collate "C" not null check (source in ('code', 'run_time')),
  -- An inactive queue hands out nothing new; what is in hand can be finished.
  active       boolean not null default true,
  settings     jsonb not null,
  -- What a label is, as JSON Schema; and whether that is all, or code has a say.
  label_schema jsonb not null,
  label_code   boolean not null default false,
  created_at   timestamptz not null,
  updated_at   timestamptz not null
);

create table pawl.labelers (
  id         text collate "C" primary key,
  name       text,
  skills     text[] not null default '{}',
  active     boolean not null default true,
  created_at timestamptz not null
);

create table pawl.samples (
  -- Its instance's.
  id         uuid primary key,
  queue      text collate "C" not null,
  -- Whether slots may be handed out.
  open       boolean not null default true,
  -- How many slots it has; how many of them hold a label, and how many nobody will get any more.
  needs      int not null check (needs >= 1),
  filled     int not null default 0 check (filled >= 0),
  spent      int not null default 0 check (spent >= 0),
  -- How often a slot may be handed out once more.
  spare      int not null check (spare >= 0),
  -- The answer that is known beforehand.
  gold       jsonb,
  -- Counts what may have ended it; settled says up to which of them it was looked at.
  changes    int not null default 0,
  settled    int not null default 0,
  created_at timestamptz not null,
  constraint samples_have_their_slots check (filled + spent <= needs)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000);

create index samples_of_queue on pawl.samples (queue, id);
create index samples_unsettled on pawl.samples (id) where changes > settled;

-- A place for one label. A sample with overlap three has three of them, so that it gets three labels and never four.
create table pawl.slots (
  sample_id     uuid not null,
  no            int not null check (no >= 1),
  queue         text collate "C" not null,
  -- The queue again while it can be handed out: only then is it in the index that labelers are served from.
  open_in       text collate "C",
  rank          float8 not null,
  -- Whose label is awaited or, once filled, kept here.
  assignment_id uuid,
  filled        boolean not null default false,
  primary key (sample_id, no),
  constraint slots_are_open_in_their_queue check (open_in = queue),
  constraint slots_are_open_or_held check (open_in is null or assignment_id is null),
  constraint slots_are_filled_by_someone check (not filled or assignment_id is not null)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000,
        autovacuum_analyze_scale_factor = 0.02, autovacuum_analyze_threshold = 1000);

create index slots_open on pawl.slots (open_in, rank, sample_id, no) where open_in is not null;

create table pawl.assignments (
  -- Its instance's.
  id           uuid primary key,
  queue        text collate "C" not null,
  sample_id    uuid not null,
  slot         int not null,
  labeler      text collate "C" not null,
  status       text collate "C" not null check (status in ('pending', 'in_progress', 'completed', 'expired', 'skipped')),
  -- The labeler again while it is open, and which of the places on his desk it takes.
  desk         text collate "C",
  place        int,
  -- How often its labeler has been given the sample, this time included; and begun it.
  try          int not null check (try >= 1),
  attempts     int not null default 0 check (attempts >= 0),
  -- Whether it keeps its labeler from being given the sample once more.
  bars         boolean not null default true,
  -- The assignment that it corrects.
  revision_of  uuid,
  released     boolean not null default false,
  start_by     timestamptz,
  deadline     timestamptz,
  -- When its timer goes off.
  due_at       timestamptz,
  label_id     uuid,
  skip_reason  text,
  created_at   timestamptz not null,
  started_at   timestamptz,
  completed_at timestamptz,
  expired_at   timestamptz,
  skipped_at   timestamptz,
  constraint assignments_open_lie_on_a_desk check ((desk is not null) = (status in ('pending', 'in_progress'))),
  constraint assignments_desk_is_the_labelers check (desk = labeler),
  constraint assignments_closed_wait_for_nothing check (desk is not null or due_at is null),
  constraint assignments_are_closed_once check (
    (status = 'completed') = (completed_at is not null) and (status = 'expired') = (expired_at is not null)
    and (status = 'skipped') = (skipped_at is not null) and (status = 'completed') = (label_id is not null))
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000);

-- One at a time in a slot; once a labeler and sample, unless it was his to repeat; no more on a desk than have a place.
create unique index assignments_slot on pawl.assignments (sample_id, slot) where desk is not null;
create unique index assignments_once on pawl.assignments (sample_id, labeler) where bars and revision_of is null;
create unique index assignments_desk on pawl.assignments (queue, desk, place) where desk is not null;
create index assignments_of_sample on pawl.assignments (sample_id, labeler);
create index assignments_of_labeler on pawl.assignments (queue, labeler, id);
create index assignments_of_queue on pawl.assignments (queue, id);
create index assignments_due on pawl.assignments (queue, due_at, id) where due_at is not null;

create table pawl.labels (
  id            uuid primary key,
  assignment_id uuid not null,
  sample_id     uuid not null,
  slot          int not null,
  queue         text collate "C" not null,
  labeler       text collate "C" not null,
  value         jsonb not null,
  at            timestamptz not null,
  -- It came after its assignment had expired, and counts only if a lead accepts it.
  late          boolean not null default false,
  review        text collate "C" check (review in ('accepted', 'rejected')),
  reviewed_by   text,
  comment       text,
  reviewed_at   timestamptz,
  -- Whether it is the answer that was known beforehand.
  gold_right    boolean,
  constraint labels_once unique (assignment_id),
  constraint labels_reviewed check ((review is null) = (reviewed_at is null))
);

create index labels_of_sample on pawl.labels (sample_id);
create index labels_of_queue on pawl.labels (queue, id);
create index labels_late on pawl.labels (queue, id) where late and review is null;

-- What each labeler did in each hour, summed as it happens: metrics of a million assignments are sums of few rows.
create table pawl.labeler_hours (
  queue      text collate "C" not null,
  labeler    text collate "C" not null,
  hour       timestamptz not null,
  given      int not null default 0,
  started    int not null default 0,
  completed  int not null default 0,
  skipped    int not null default 0,
  expired    int not null default 0,
  -- Those closed without having been started.
  unstarted  int not null default 0,
  -- The sum of `attempts` of the assignments, and of the time from start to label.
  attempts   int not null default 0,
  worked_ms  float8 not null default 0,
  late       int not null default 0,
  rejected   int not null default 0,
  gold       int not null default 0,
  gold_right int not null default 0,
  primary key (queue, labeler, hour)
) with (fillfactor = 50);

create function pawl.instances_removed_people() returns trigger language plpgsql as $$
begin
  delete from pawl.slots as slot using gone where slot.sample_id = gone.id;
  delete from pawl.samples as sample using gone where sample.id = gone.id;
  delete from pawl.labels as label using gone where label.assignment_id = gone.id;
  delete from pawl.assignments as assignment using gone where assignment.id = gone.id;
  return null;
end $$;

create trigger instances_removed_people after delete on pawl.instances referencing old table as gone
  for each statement execute function pawl.instances_removed_people();
