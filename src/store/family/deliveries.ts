import { type Executor, sql, textArray } from "../port/db.ts";
import { type DeadLetterRow, insertTaskLetters } from "../recovery/dead-letters.ts";
import type { Lease } from "../tasks/tasks.ts";

/** A completed delivery, with what its sender's history records. */
export interface EndedDelivery extends Lease {
  readonly what: "failed" | "refused" | null;
  readonly detailText: string | null;
}

/** A letter that an instance refused, for its own history. */
export interface RefusedEvent {
  readonly taskId: string;
  readonly letterId: string;
  readonly instanceId: string;
  readonly detailText: string;
}

/**
 * Deletes completed deliveries; a refused one is recorded in both histories, and one that can never arrive becomes a
 * dead letter of the sender. Fenced by (task, token).
 */
export function endDeliveries(
  db: Executor,
  ends: readonly EndedDelivery[],
  refused: readonly RefusedEvent[],
  deadLetters: readonly DeadLetterRow[],
): Promise<{ task_id: string }[]> {
  return db.rows<{ task_id: string }>(sql`
    with clock as materialized (select pawl.now() as now),
    held as materialized (
      select task.id, task.token, ending.what, ending.detail, task.instance_id, task.lane, task.attempt, task.worker
      from unnest(
        (select ${textArray(ends.map((one) => one.taskId))}::text)::uuid[],
        (select ${textArray(ends.map((one) => one.token))}::text)::bigint[],
        (select ${textArray(ends.map((one) => one.what))}::text)::text[],
        (select ${textArray(ends.map((one) => one.detailText))}::text)::text[]
      ) as ending(id, token, what, detail)
      cross join lateral (
        select each.id, each.token, each.instance_id, each.lane, each.attempt, each.worker from pawl.tasks as each
        where each.id = ending.id and each.token = ending.token and each.kind = 'effect'
        for update skip locked
      ) as task
      limit (select ${ends.length}::int)
    ),
    ended as (delete from pawl.tasks as task using held where task.id = held.id returning task.id),
    noted as (
      insert into pawl.attempts (instance_id, task_id, token, what, at, lane, attempt, worker, detail)
      select held.instance_id, held.id, held.token, held.what, clock.now, held.lane, held.attempt, held.worker, held.detail::jsonb
      from held, clock where held.what is not null
    ),
    told as (
      insert into pawl.attempts (instance_id, task_id, token, what, at, detail)
      select letter.instance_id, letter.id, 0, 'refused', clock.now, letter.detail::jsonb
      from clock, unnest(
        (select ${textArray(refused.map((one) => one.taskId))}::text)::uuid[],
        (select ${textArray(refused.map((one) => one.letterId))}::text)::uuid[],
        (select ${textArray(refused.map((one) => one.instanceId))}::text)::uuid[],
        (select ${textArray(refused.map((one) => one.detailText))}::text)::text[]
      ) as letter(task_id, id, instance_id, detail)
      where (letter.task_id in (select ended.id from ended)) is true
      on conflict do nothing
    ),
    written as (select ended.id from ended),
    buried as (${insertTaskLetters(deadLetters)})
    select id::text as task_id from ended`);
}
