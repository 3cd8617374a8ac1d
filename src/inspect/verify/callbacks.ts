import { type Statement, sql } from "../../store/port/db.ts";
import type { Slice } from "./slice.ts";

/** An instance counts the callbacks that wait for it, and none waits for one that has ended. */
export function inconsistentInboxes(ids: Slice): Statement {
  return sql`
    with judged as (
      select instance.id, case
        when instance.inbox <> waiting.callbacks
          then format('Its row counts %s waiting callbacks, and %s wait.', instance.inbox, waiting.callbacks)
        -- One that was not matched since will be.
        when instance.closed_at is not null and waiting.seen > 0 then 'A callback waits for it, and it has ended.'
      end as message
      from pawl.instances as instance
      left join lateral (
        select count(*) as callbacks, count(*) filter (where each.looked) as seen
        from pawl.callbacks as each where each.instance_id = instance.id and each.status = 'waiting'
      ) as waiting on true
      where instance.id > ${ids.after}::uuid and instance.id <= ${ids.upTo}::uuid
    )
    select id::text as instance, message from judged where message is not null order by id`;
}

/** A callback that made a move is named by that move; and every move of a callback has one. */
export function callbacksWithoutMove(ids: Slice): Statement {
  return sql`
    select callback.instance_id::text as instance,
      format('Callback %s names its move %s, and the journal has no such move.', callback.id, callback.version) as message
    from pawl.callbacks as callback
    left join pawl.journal as move on move.instance_id = callback.instance_id and move.version = callback.version
    where callback.instance_id > ${ids.after}::uuid and callback.instance_id <= ${ids.upTo}::uuid
      and callback.version is not null and move.request_id is distinct from callback.id
    union all
    select move.instance_id::text as instance,
      format('Its move %s came by a callback, and there is none that made it.', move.version) as message
    from pawl.journal as move
    left join pawl.callbacks as callback on callback.id = move.request_id and callback.version = move.version
    where move.instance_id > ${ids.after}::uuid and move.instance_id <= ${ids.upTo}::uuid
      and move.source = 'callback' and callback.id is null`;
}

/**
 * A callback that came in time and was expected is never stored as late, and a late one never as if it were in time.
 */
export function callbacksMisjudged(ids: Slice): Statement {
  return sql`
    select callback.instance_id::text as instance,
      format('Callback %s came at %s and is %s, and the deadline was %s.', callback.id, callback.received_at,
        callback.status, coalesce(callback.deadline_at::text, 'none')) as message
    from pawl.callbacks as callback
    where callback.instance_id > ${ids.after}::uuid and callback.instance_id <= ${ids.upTo}::uuid
      and callback.status in ('kept', 'rejected', 'accepted') and not callback.is_late`;
}
