-- When parked states are released next, one row a state: whoever moves the moment on does the releasing. One new table.

create table pawl.releases (
  lifecycle text collate "C" not null,
  state     text collate "C" not null,
  due_at    timestamptz not null,
  primary key (lifecycle, state)
);
