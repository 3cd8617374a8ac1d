import { type Statement, sql } from "../../store/port/db.ts";
import type { Slice } from "./slice.ts";

/**
 * I11: every open instance is running, ready, scheduled, waiting with an end, waiting for ever by declaration, waiting
 * for a live counterpart, or known to be stuck. States that work, joins and failed instances are covered by the checks
 * of tasks, children and recovery; this one covers those that wait, ask and are parked.
 */
export function forgottenWaits(ids: Slice): Statement {
  return sql`
    with kinds as materialized (
      select lifecycle.name as lifecycle, lifecycle.version, state.name, state.kind,
        case when lifecycle.shape -> 'timed' ? state.name then (lifecycle.shape ->> 'timed_ms')::float8 end as timed_ms
      from pawl.lifecycles as lifecycle
      cross join lateral jsonb_to_recordset(lifecycle.shape -> 'states') as state(name text, kind text)
      where state.kind in ('wait', 'ask', 'park')
    ),
    judged as (
      select instance.id, case
        -- An instance that entered before the timeout was declared has none; a timeout that stays in the state has fired.
        when kind.kind = 'wait' and pawl.ms(entry.at) >= kind.timed_ms and not exists (
          select from pawl.journal as move
          where move.instance_id = instance.id and move.version > instance.visit and move.source = 'timer'
        ) then format('It waits in "%s", which has a timeout, and it has no timer.', instance.state)
        when kind.kind = 'ask' and question.id is null
          then format('It asks in "%s", its question does not exist, and it has no open check.', instance.state)
        when kind.kind = 'ask' and not question.is_live
          then format('It asks in "%s", its question has ended, and it has no open check.', instance.state)
        when kind.kind = 'park' and failure.is_over
          then format('It is parked in "%s", is not released any more, and there is no dead letter.', instance.state)
      end as message
      from pawl.instances as instance
      join kinds as kind
        on kind.lifecycle = instance.lifecycle and kind.version = instance.definition and kind.name = instance.state
      left join lateral (
        select move.at from pawl.journal as move where move.instance_id = instance.id and move.version = instance.visit
      ) as entry on true
      left join lateral (
        select child.id, child.outcome is null and coalesce(sample.open, true) as is_live
        from pawl.instances as child
        left join lateral (select each.open from pawl.samples as each where each.id = child.id offset 0) as sample on true
        where child.parent_id = instance.id and child.parent_run = instance.run and child.child_name = '?' || instance.visit
        limit 1
      ) as question on true
      left join lateral (
        select each.retry_at is null as is_over from pawl.release_failures as each
        where each.instance_id = instance.id and each.visit = instance.visit
      ) as failure on true
      where instance.id > ${ids.after}::uuid and instance.id <= ${ids.upTo}::uuid and instance.outcome is null
        and not exists (
          select from pawl.timers as timer
          where timer.instance_id = instance.id and (timer.kind <> 'send' or timer.visit is not null)
        )
        and not exists (
          select from pawl.dead_letters as letter
          where letter.instance_id = instance.id and letter.version >= instance.visit
        )
        -- What is that old may have gone into an archive.
        and (entry.at <= (select pruned.up_to from pawl.pruned as pruned where pruned.what = 'dead_letters')) is not true
        and not exists (
          select from pawl.attempts as attempt
          where attempt.instance_id = instance.id and attempt.what = 'refused'
            and (attempt.detail ->> 'visit')::int = instance.visit
        )
        and not exists (select from pawl.checks as look where look.instance_id = instance.id)
    )
    select id::text as instance, message from judged where message is not null order by id`;
}
