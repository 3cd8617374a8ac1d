-- Why Pawl rejected a message of a broker. A broker carries no reason along, so the reason waits here until the message comes
-- back from the dead-letter queue. Creates a table only.

create table pawl.rejected_messages (
  -- Of its id and its body: the broker adds headers to a message that dies.
  fingerprint text collate "C" primary key,
  queue       text collate "C" not null,
  error       jsonb not null,
  rejected_at timestamptz not null
);
create index rejected_messages_age on pawl.rejected_messages (rejected_at);
