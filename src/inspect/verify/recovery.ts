import { type Statement, sql } from "../../store/port/db.ts";
import type { Slice } from "./slice.ts";

/** A failure is recovered or has a dead letter: nothing stays failed unnoticed. */
export function forgottenFailures(ids: Slice): Statement {
  return sql`
    select instance.id::text as instance,
      format('It failed in "%s" with its move %s, and there is neither a recovery to come nor a dead letter.',
        instance.failed_from, failing.version) as message
    from pawl.instances as instance
    cross join lateral (
      select each.version, each.at from pawl.journal as each
      where each.instance_id = instance.id and each.to_state = 'failed' and each.from_state <> 'failed'
      order by each.version desc limit 1
    ) as failing
    where instance.id > ${ids.after}::uuid and instance.id <= ${ids.upTo}::uuid
      -- Not a state that only has this name.
      and instance.state = 'failed' and instance.failed_from is not null
      -- A child may have been left to its parent; see below.
      and instance.parent_id is null
      and not exists (select from pawl.tasks as each where each.id = instance.id and each.kind = 'step')
      and not exists (
        select from pawl.dead_letters as letter
        where letter.instance_id = instance.id and letter.kind = 'instance' and letter.version >= failing.version
      )
      -- What is that old may have gone into an archive.
      and (failing.at <= (select pruned.up_to from pawl.pruned as pruned where pruned.what = 'dead_letters')) is not true`;
}

/**
 * I11: a failed child has a dead letter, or its failure was left to its parent. That parent is still in the same run with
 * a join ahead, or a join has handled the failure, or maintenance has yet to check the parent.
 */
export function forgottenChildFailures(ids: Slice): Statement {
  return sql`
    with recursive ahead (lifecycle, version, state) as (
      select lifecycle.name, lifecycle.version, state.name collate "C"
      from pawl.lifecycles as lifecycle
      cross join lateral jsonb_to_recordset(
        jsonb_path_query_array(lifecycle.shape, '$.states[*] ? (@.join == "fail" || @.join == "count")')
      ) as state(name text)
      union
      select edge.lifecycle, edge.version, edge.from_state
      from ahead
      join pawl.edges as edge
        on edge.lifecycle = ahead.lifecycle and edge.version = ahead.version and edge.to_state = ahead.state
      where edge.event not in ('restart', 'discard', 'fail', 'recover', 'accept_late')
    )
    select instance.id::text as instance,
      format('It failed in "%s" and was left to its parent %s, which has no join ahead for it, and there is no dead letter.',
        instance.failed_from, instance.parent_id) as message
    from pawl.instances as instance
    cross join lateral (
      select each.version, each.at from pawl.journal as each
      where each.instance_id = instance.id and each.to_state = 'failed' and each.from_state <> 'failed'
      order by each.version desc limit 1
    ) as failing
    left join lateral (
      select each.id, each.lifecycle, each.definition, coalesce(each.failed_from, each.state) as state
      from pawl.instances as each
      where each.id = instance.parent_id and each.run = instance.parent_run and each.outcome is null
      offset 0
    ) as parent on true
    where instance.id > ${ids.after}::uuid and instance.id <= ${ids.upTo}::uuid and instance.parent_id is not null
      and instance.state = 'failed' and instance.failed_from is not null and instance.child_outcome = 'failure'
      and not exists (
        select from ahead
        where ahead.lifecycle = parent.lifecycle and ahead.version = parent.definition and ahead.state = parent.state
      )
      and not exists (
        select from pawl.dead_letters as letter
        where letter.instance_id = instance.id and letter.kind = 'instance' and letter.version >= failing.version
      )
      and not exists (
        select from pawl.journal as dealt
        where dealt.instance_id = instance.parent_id and dealt.at >= failing.at
          and (dealt.event = 'joined' or (dealt.event = 'fail' and dealt.reason = 'child_failed'))
      )
      and not exists (select from pawl.checks as look where look.instance_id = instance.parent_id)
      -- What is that old may have gone into an archive.
      and (failing.at <= (select pruned.up_to from pawl.pruned as pruned where pruned.what = 'dead_letters')) is not true`;
}

/** An instance has one open dead letter at most: for its last failure. */
export function surplusDeadLetters(): Statement {
  return sql`
    select letter.instance_id::text as instance,
      format('It has %s open dead letters.', count(*)) as message
    from pawl.dead_letters as letter
    where letter.status = 'open' and letter.kind = 'instance'
    group by letter.instance_id having count(*) > 1
    limit 1000`;
}

/** Every open dead letter has an open ticket, and no other one has. */
export function inconsistentTickets(): Statement {
  return sql`
    select letter.instance_id::text as instance,
      format('Dead letter %s is %s, and its ticket %s.', letter.id, letter.status,
        case when ticket.letter_id is null then 'is missing' else 'is ' || ticket.status end) as message
    from pawl.dead_letters as letter
    left join pawl.tickets as ticket on ticket.letter_id = letter.id
    where (letter.status = 'open' and ticket.letter_id is null)
      or (letter.status <> 'open' and ticket.status <> 'resolved')
    limit 1000`;
}
