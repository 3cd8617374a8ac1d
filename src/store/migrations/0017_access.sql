-- Who may use the HTTP API, the console and the desk. Only the hash of a secret is kept: whoever reads this table learns none.
-- `token`: given to a program or a person. `session`: a browser that has signed in. `code`: signs in once.
create table pawl.access_tokens (
  id         uuid primary key,
  kind       text collate "C" not null check (kind in ('token', 'session', 'code')),
  hash       text collate "C" not null unique,
  name       text collate "C" not null,
  role       text collate "C" not null check (role in ('viewer', 'operator', 'admin', 'labeler', 'service')),
  labeler    text collate "C",
  parent_id  uuid references pawl.access_tokens (id) on delete cascade,
  created_at timestamptz not null,
  expires_at timestamptz,
  used_at    timestamptz,
  constraint access_tokens_labeler_is_somebody check ((role = 'labeler') = (labeler is not null)),
  constraint access_tokens_visit_ends check (kind = 'token' or expires_at is not null)
);
create index access_tokens_parent on pawl.access_tokens (parent_id) where parent_id is not null;
create index access_tokens_expiring on pawl.access_tokens (expires_at) where expires_at is not null;
