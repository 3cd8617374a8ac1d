import { part } from "../../store/port/db.ts";

/** The kinds of all states, as `kinds (lifecycle, version, state, kind)`. */
export const stateKinds = part`
  kinds as materialized (
    select lifecycle.name as lifecycle, lifecycle.version, state.name as state, state.kind
    from pawl.lifecycles as lifecycle
    cross join lateral jsonb_to_recordset(lifecycle.shape -> 'states') as state(name text, kind text)
  )`;

/** The kind of the state of an `instance`. */
export const withKind = part`
  left join kinds as kind
    on kind.lifecycle = instance.lifecycle and kind.version = instance.definition and kind.state = instance.state`;

/**
 * Whether nothing will move an `instance` of this `kind`: no step, no timer, no release, no result that is tried again, no
 * open child or question. The same rules as `movesByItself` for one instance. With `offset 0` each is a probe of an index,
 * never a hash of a complete table.
 */
export const isResting = part`
  instance.outcome is null
  and not exists (
    select from pawl.tasks as step where step.id = instance.id and step.kind = 'step' and step.visit = instance.visit
    offset 0
  )
  and not exists (
    select from pawl.timers as timer
    where timer.instance_id = instance.id and (timer.visit is null or timer.visit = instance.visit)
    offset 0
  )
  and not exists (
    select from pawl.callbacks as result
    where result.instance_id = instance.id and result.status = 'waiting' and not result.looked
    offset 0
  )
  and case kind.kind
    when 'park' then exists (
      select from pawl.release_failures as failure
      where failure.instance_id = instance.id and failure.visit = instance.visit and failure.retry_at is null
      offset 0
    )
    when 'join' then not exists (
      select from pawl.instances as child
      where child.parent_id = instance.id and child.parent_run = instance.run
        and child.child_outcome is null and child.child_name not like '?%'
      offset 0
    ) and (
      exists (
        select from pawl.instances as child
        where child.parent_id = instance.id and child.parent_run = instance.run
          and child.child_outcome = 'failure' and child.child_name not like '?%'
        offset 0
      )
      or exists (
        select from pawl.attempts as each
        where each.instance_id = instance.id and each.what = 'refused'
          and (each.detail ->> 'visit')::int = instance.visit
        offset 0
      )
      or not exists (select from pawl.checks as look where look.instance_id = instance.id offset 0)
    )
    when 'ask' then exists (
      select from pawl.instances as question
      where question.parent_id = instance.id and question.parent_run = instance.run
        and question.child_name = '?' || instance.visit and question.outcome is not null
      offset 0
    )
    else not (instance.lifecycle = 'pawl_sample' and instance.state = 'open')
  end`;
