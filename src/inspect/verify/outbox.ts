import { type Statement, sql } from "../../store/port/db.ts";

/** A range of instances' ids. */
interface Slice {
  readonly after: string;
  readonly upTo: string;
}

/** Every message of a move is one that the move counted. */
export function messagesWithoutMove(ids: Slice): Statement {
  return sql`
    select message.aggregate_id as instance,
      format('Message %s is number %s of its move %s, and the journal %s.', message.id, message.place + 1,
        message.version, case when move.version is null then 'has no such move' else 'counts ' || coalesce(move.messages, 0) end) as message
    from pawl.messages as message
    left join pawl.journal as move
      on move.instance_id = message.aggregate_id::uuid and move.version = message.version
    where message.aggregate_id > ${ids.after}::text and message.aggregate_id <= ${ids.upTo}::text
      and message.version is not null
      and (move.messages is null or message.place >= move.messages)
      -- What is to be sent outlives its instance.
      and exists (select from pawl.instances as instance where instance.id = message.aggregate_id::uuid)`;
}

/** Every message that a move counted is in the outbox, once; until it was sent and has been removed. */
export function messagesMissing(ids: Slice): Statement {
  return sql`
    select move.instance_id::text as instance,
      format('Its move %s published %s messages, and %s are in the outbox.', move.version, move.messages, there.messages) as message
    from pawl.journal as move
    cross join lateral (
      select count(*) as messages from pawl.messages as message
      where message.aggregate_id = move.instance_id::text and message.aggregate_type = move.lifecycle
        and message.version = move.version
    ) as there
    where move.instance_id > ${ids.after}::uuid and move.instance_id <= ${ids.upTo}::uuid
      and move.messages is not null and there.messages <> move.messages
      and (
        there.messages < move.messages
        and move.at < (select pruned.up_to from pawl.pruned as pruned where pruned.what = 'messages')
      ) is not true`;
}

/** No message of a move was sent before an earlier one of its instance. */
export function messagesOutOfOrder(ids: Slice): Statement {
  return sql`
    select waiting.aggregate_id as instance,
      format('Message %s of its move %s is %s, and message %s of its move %s was sent.', waiting.id, waiting.version,
        waiting.status, sent.id, sent.version) as message
    from pawl.messages as waiting
    cross join lateral (
      select each.id, each.version from pawl.messages as each
      where each.aggregate_id = waiting.aggregate_id and each.aggregate_type = waiting.aggregate_type
        and each.version is not null and each.position > waiting.position and each.status = 'published'
      order by each.position limit 1
    ) as sent
    where waiting.aggregate_id > ${ids.after}::text and waiting.aggregate_id <= ${ids.upTo}::text
      and waiting.status in ('pending', 'dead') and waiting.version is not null
      -- What no broker takes holds up nothing.
      and waiting.unrouted_at is null`;
}

/** A message waits only while there is one before it to wait for. */
export function messagesBehindNothing(): Statement {
  return sql`
    select null as instance,
      format('Message %s about %s %s waits behind another one, and there is none.', message.id, message.aggregate_type, message.aggregate_id) as message
    from pawl.messages as message
    where message.next_attempt_at is not null and message.next_attempt_at = 'infinity' and message.status = 'pending'
      and not exists (
        select from pawl.messages as earlier
        where earlier.aggregate_id = message.aggregate_id and earlier.aggregate_type = message.aggregate_type
          and earlier.position < message.position and earlier.status in ('pending', 'dead')
      )
    limit 1000`;
}
