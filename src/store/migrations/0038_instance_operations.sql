-- Bulk operations on instances run by the same mechanism as those on dead letters. Locks the two tables for a moment.
-- Breaking: processes of an earlier version would mistake the instances of an operation for dead letters.

alter table pawl.operations rename column letters to items;
alter table pawl.operations
  -- Whether its items are dead letters or instances.
  add column subject text collate "C" not null default 'dead_letters' check (subject in ('dead_letters', 'instances')),
  -- What is sent to instances: the event, its payload, changes of the data.
  add column settings jsonb,
  drop constraint operations_decision_check,
  add constraint operations_decision_fits check (
    case subject
      when 'dead_letters' then decision in ('requeue', 'discard')
      else decision in ('send', 'recover', 'restart', 'discard')
    end
  );

alter table pawl.operation_letters rename to operation_items;
alter table pawl.operation_items rename column letter_id to item_id;
alter table pawl.operation_items
  -- The mark of its move in the journal: a process that continues after a crash finds by it what was done.
  add column request_id uuid,
  -- The visit in which it was listed: after the end of that visit, it is left alone.
  add column run int,
  add column visit int,
  add constraint operation_items_have_a_mark check ((request_id is null) = (visit is null) and (run is null) = (visit is null));
alter index pawl.operation_letters_left rename to operation_items_left;
