-- Messages that no broker takes are marked, so that they neither count as lag nor hold up others; and a statement of one's own
-- can put a message into the outbox without an id or a time. One nullable column and two defaults: no rewrite, a short
-- exclusive lock of pawl.messages.

alter table pawl.messages
  -- When a relay found that none of its brokers takes messages of this type; null again once one was sent.
  add column unrouted_at timestamptz,
  alter column id set default gen_random_uuid(),
  alter column created_at set default pawl.now();
