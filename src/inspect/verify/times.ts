import { type Statement, sql } from "../../store/port/db.ts";
import type { Slice } from "./slice.ts";

/**
 * Timers that are due come first: no instance moves past an overdue timer. Less than an hour is allowed, since a move
 * that was decided in time may take that long to be written if it has a hook.
 */
export function timersPassedOver(ids: Slice): Statement {
  return sql`
    select timer.instance_id::text as instance,
      format('Its timer for "%s" was due at %s, and it moved at %s without it.', timer.event, timer.due_at, move.at) as message
    from pawl.timers as timer
    cross join lateral (
      select max(each.at) as at from pawl.journal as each where each.instance_id = timer.instance_id
    ) as move
    where timer.instance_id > ${ids.after}::uuid and timer.instance_id <= ${ids.upTo}::uuid
      and move.at > timer.due_at + interval '1 hour'`;
}

/** A deadline fires at its time, once. */
export function deadlinesEarly(ids: Slice): Statement {
  return sql`
    select instance.id::text as instance,
      format('Its deadline is %s, and its move %s passed it at %s.', instance.deadline_at, move.version, move.at) as message
    from pawl.instances as instance
    cross join lateral (
      select * from pawl.journal as each
      where each.instance_id = instance.id and each.to_state is distinct from each.from_state
      order by each.version desc limit 1
    ) as move
    where instance.id > ${ids.after}::uuid and instance.id <= ${ids.upTo}::uuid
      and move.source = 'timer' and move.reason = 'deadline' and move.at < instance.deadline_at`;
}

/** I11: a deadline that has not passed has a timer. What failed may have failed by it. */
export function deadlinesWithoutTimer(ids: Slice): Statement {
  return sql`
    select instance.id::text as instance,
      format('It is in "%s" with a deadline at %s, and it has no timer for it.', instance.state, instance.deadline_at) as message
    from pawl.instances as instance
    where instance.id > ${ids.after}::uuid and instance.id <= ${ids.upTo}::uuid and instance.outcome is null
      and instance.deadline_at is not null and instance.failed_from is null
      and not exists (
        select from pawl.timers as timer where timer.instance_id = instance.id and timer.kind = 'deadline'
      )`;
}
