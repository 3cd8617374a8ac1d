import { type Statement, sql } from "../../store/port/db.ts";
import type { Slice } from "./slice.ts";

/** A child has a parent, is there once under its key, and has ended for its parent as it has ended. */
export function inconsistentChildren(ids: Slice): Statement {
  return sql`
    with judged as (
      select child.id, case
        when parent.id is null then format('It is a child of %s, which does not exist.', child.parent_id)
        when parent.lifecycle <> child.parent_lifecycle
          then format('It is a child of a "%s", and its parent is a "%s".', child.parent_lifecycle, parent.lifecycle)
        when parent.run < child.parent_run
          then format('It is a child of run %s, and its parent is at run %s.', child.parent_run, parent.run)
        -- A question to people has its asker's key, and may be put again.
        when twin.id is not null and child.child_name not like '?%' then format('It is a child under the key "%s", and so is %s.', child.key, twin.id)
        when child.outcome is not null and child.child_outcome is distinct from child.outcome
          or child.outcome is null and child.state <> 'failed' and child.child_outcome is not null
          then format('It is in "%s", and counts as "%s" for its parent.', child.state, coalesce(child.child_outcome, 'open'))
      end as message
      from pawl.instances as child
      left join lateral (
        select each.id, each.lifecycle, each.run from pawl.instances as each where each.id = child.parent_id offset 0
      ) as parent on true
      left join lateral (
        select each.id from pawl.instances as each
        where each.parent_id = child.parent_id and each.parent_run = child.parent_run
          and each.lifecycle = child.lifecycle and each.key = child.key and each.id <> child.id
        limit 1
      ) as twin on true
      where child.id > ${ids.after}::uuid and child.id <= ${ids.upTo}::uuid and child.parent_id is not null
    )
    select id::text as instance, message from judged where message is not null order by id`;
}

/** An instance in a join with a pending notification has a check that waits, or has refused the notification. */
export function forgottenJoins(ids: Slice): Statement {
  return sql`
    with joins as materialized (
      select lifecycle.name as lifecycle, lifecycle.version, state.name, state."join" as policy
      from pawl.lifecycles as lifecycle
      cross join lateral jsonb_to_recordset(
        jsonb_path_query_array(lifecycle.shape, '$.states[*] ? (exists (@.join))')
      ) as state(name text, "join" text)
    )
    select instance.id::text as instance,
      format('Its children have ended, it is in "%s", and it has no open check.', instance.state) as message
    from pawl.instances as instance
    join joins on joins.lifecycle = instance.lifecycle and joins.version = instance.definition and joins.name = instance.state
    cross join lateral (
      select
        exists (
          select from pawl.instances as child
          where child.parent_id = instance.id and child.parent_run = instance.run
            and child.child_outcome is null and child.child_name not like '?%'
        ) as open,
        exists (
          select from pawl.instances as child
          where child.parent_id = instance.id and child.parent_run = instance.run
            and child.child_outcome = 'failure' and child.child_name not like '?%'
        ) as failed
    ) as children
    where instance.id > ${ids.after}::uuid and instance.id <= ${ids.upTo}::uuid and instance.outcome is null
      and case joins.policy
        when 'fail' then children.failed or not children.open
        when 'wait' then not children.failed and not children.open
        else not children.open
      end
      and not exists (select from pawl.checks as look where look.instance_id = instance.id)
      and not exists (
        select from pawl.attempts as attempt
        where attempt.instance_id = instance.id and attempt.what in ('refused', 'failed')
          and (attempt.detail ->> 'visit')::int = instance.visit
      )`;
}
