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
      -- A child may have been left to its parent.
      and instance.parent_id is null
      and not exists (select from pawl.tasks as each where each.id = instance.id and each.kind = 'step')
      and not exists (
        select from pawl.dead_letters as letter
        where letter.instance_id = instance.id and letter.kind = 'instance' and letter.version >= failing.version
      )
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
