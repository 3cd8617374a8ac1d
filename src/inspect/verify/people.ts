import { isRestricted } from "../../people/store/queues.ts";
import { part, type Statement, sql } from "../../store/port/db.ts";
import type { Slice } from "./slice.ts";

/** Rows of assignments agree with their instances: their state, their slot, and their label. */
export function inconsistentAssignments(ids: Slice): Statement {
  return sql`
    with judged as (
      select instance.id, case
        when assignment.id is null then 'It is an assignment, and has no row as one.'
        when assignment.status <> instance.state
          then format('It is in "%s", and its row says "%s".', instance.state, assignment.status)
        when assignment.desk is not null and slot.assignment_id is distinct from instance.id
          then format('It is open, and slot %s of its sample is not its own.', assignment.slot)
        when assignment.desk is not null and assignment.due_at is distinct from instance.next_due_at
          then format('It is due at %s, and its timer fires at %s.', coalesce(assignment.due_at::text, 'no time'),
            coalesce(instance.next_due_at::text, 'no time'))
        when assignment.status = 'completed' and label.id is null then 'It is completed, and its label is not there.'
        when label.id is not null and exists (
          select from pawl.journal as move
          where move.instance_id = instance.id and move.event = 'submit' and move.payload -> 'label' is distinct from label.value
        ) then 'Its label is not the one that was submitted.'
      end as message
      from pawl.instances as instance
      left join lateral (select * from pawl.assignments as each where each.id = instance.id offset 0) as assignment on true
      left join lateral (
        select each.assignment_id from pawl.slots as each
        where each.sample_id = assignment.sample_id and each.no = assignment.slot
        offset 0
      ) as slot on true
      left join lateral (
        select each.id, each.value from pawl.labels as each
        where each.id = assignment.label_id and each.assignment_id = assignment.id
        offset 0
      ) as label on true
      where instance.id > ${ids.after}::uuid and instance.id <= ${ids.upTo}::uuid and instance.lifecycle = 'pawl_assignment'
    )
    select id::text as instance, message from judged where message is not null order by id`;
}

/** Whether no labeler who may work on a row called `queue` is left for an `instance`, which is a sample. */
const noneIsLeft = part`
  case when queue.settings -> 'labelers' = 'null'::jsonb then not exists (
    select from pawl.labelers as labeler
    where labeler.active and labeler.skills @> array(select jsonb_array_elements_text(queue.settings -> 'skills'))
      and not exists (
        select from pawl.assignments as each
        where each.sample_id = instance.id and each.labeler = labeler.id and each.bars
      )
  ) else not exists (
    select from jsonb_array_elements_text(queue.settings -> 'labelers') as named(id)
    left join pawl.labelers as labeler on labeler.id = named.id
    where labeler.active is not false
      and coalesce(labeler.skills, '{}') @> array(select jsonb_array_elements_text(queue.settings -> 'skills'))
      and not exists (
        select from pawl.assignments as each
        where each.sample_id = instance.id and each.labeler = named.id and each.bars
      )
  ) end`;

/**
 * A sample has the slots that it counts, none of them open if it is closed, no labeler's label twice, and is not
 * forgotten.
 */
export function inconsistentSamples(ids: Slice): Statement {
  return sql`
    with judged as (
      select instance.id, case
        when sample.id is null then 'It is a sample, and has no row as one.'
        when sample.open <> (instance.state = 'open')
          then format('It is in "%s", and its row says that it is %s.', instance.state, case when sample.open then 'open' else 'closed' end)
        when (sample.needs, sample.filled, sample.spent) is distinct from (slots.slots, slots.filled, slots.spent)
          then format('It counts %s of %s slots filled and %s spent, and %s of %s are filled and %s spent.',
            sample.filled, sample.needs, sample.spent, slots.filled, slots.slots, slots.spent)
        when not sample.open and slots.open > 0 then format('It has ended, and %s of its slots are open.', slots.open)
        when slots.stray is not null then format('Its slot %s is held by an assignment that does not hold it.', slots.stray)
        when slots.twice is not null then format('It has two labels by "%s" that count.', slots.twice)
        when sample.open and sample.filled + sample.spent >= sample.needs and sample.changes = sample.settled
          and not coalesce((instance.data ->> 'review')::boolean, false)
          then 'Its slots are all filled or spent, it is open, and no check is scheduled.'
        when sample.open and not sample.posted and sample.changes = sample.settled and slots.open > 0 and slots.held = 0
          and exists (
            select from pawl.queues as queue
            where queue.name = sample.queue and queue.eligibility = queue.eligibility_checked and ${isRestricted} and ${noneIsLeft}
          )
          then 'No eligible labeler is left for it, it is open, and no check is due.'
      end as message
      from pawl.instances as instance
      left join lateral (select * from pawl.samples as each where each.id = instance.id offset 0) as sample on true
      cross join lateral (
        select count(*)::int as slots, (count(*) filter (where slot.filled))::int as filled,
          (count(*) filter (where slot.open_in is null and slot.assignment_id is null))::int as spent,
          (count(*) filter (where slot.open_in is not null))::int as open,
          (count(*) filter (where slot.assignment_id is not null and not slot.filled))::int as held,
          min(slot.no) filter (where slot.assignment_id is not null and (
            holder.id is null or holder.sample_id <> slot.sample_id or holder.slot <> slot.no
            or slot.filled <> (holder.status = 'completed') or (not slot.filled and holder.desk is null)
          )) as stray,
          case when count(holder.labeler) filter (where slot.filled) > count(distinct holder.labeler) filter (where slot.filled)
            then min(holder.labeler) filter (where slot.filled) end as twice
        from pawl.slots as slot
        left join lateral (
          select * from pawl.assignments as each where each.id = slot.assignment_id offset 0
        ) as holder on true
        where slot.sample_id = instance.id
      ) as slots
      where instance.id > ${ids.after}::uuid and instance.id <= ${ids.upTo}::uuid and instance.lifecycle = 'pawl_sample'
    )
    select id::text as instance, message from judged where message is not null order by id`;
}

/** The sums that metrics are read from are those of the assignments and labels themselves, for each queue and labeler. */
export function inconsistentSums(): Statement {
  return sql`
    select null as instance,
      format('The metrics of labeler "%s" in queue "%s" count %s, and the assignments and labels are %s.', labeler, queue,
        coalesce(to_jsonb(kept), '{}') - '{queue,labeler,worked_ms}'::text[],
        coalesce(to_jsonb(real), '{}') - '{queue,labeler,worked_ms}'::text[]) as message
    from (
      select queue, labeler, sum(given) as given, sum(started) as started, sum(completed) as completed, sum(skipped) as skipped,
        sum(expired) as expired, sum(expired_unstarted) as expired_unstarted, sum(released) as released, sum(attempts) as attempts,
        sum(late) as late, sum(rejected) as rejected, sum(gold) as gold, sum(gold_right) as gold_right, sum(worked_ms) as worked_ms
      from pawl.labeler_hours group by queue, labeler
    ) as kept
    full join (
      select done.*, coalesce(labels.late, 0) as late, coalesce(labels.rejected, 0) as rejected, coalesce(labels.gold, 0) as gold,
        coalesce(labels.gold_right, 0) as gold_right
      from (
        select queue, labeler, count(*) as given, count(started_at) as started, count(completed_at) as completed,
          count(skipped_at) as skipped, count(expired_at) as expired,
          count(expired_at) filter (where started_at is null and not released) as expired_unstarted,
          count(expired_at) filter (where released) as released, sum(attempts) as attempts,
          coalesce(sum(pawl.ms(completed_at) - pawl.ms(started_at)), 0) as worked_ms
        from pawl.assignments group by queue, labeler
      ) as done
      left join (
        select queue, labeler, count(*) filter (where late) as late, count(*) filter (where review = 'rejected') as rejected,
          count(gold_right) as gold, count(*) filter (where gold_right) as gold_right
        from pawl.labels group by queue, labeler
      ) as labels using (queue, labeler)
    ) as real using (queue, labeler)
    where (kept.given, kept.started, kept.completed, kept.skipped, kept.expired, kept.expired_unstarted, kept.released, kept.attempts,
        kept.late, kept.rejected, kept.gold, kept.gold_right)
      is distinct from (real.given, real.started, real.completed, real.skipped, real.expired, real.expired_unstarted, real.released,
        real.attempts, real.late, real.rejected, real.gold, real.gold_right)
      -- Times are added up as floating-point numbers.
      or abs(kept.worked_ms - real.worked_ms) > 1 + kept.completed * 0.01
    order by queue, labeler`;
}
