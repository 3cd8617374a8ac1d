import { type Executor, sql, type Tx } from "./port/db.ts";

/** How far the stored time may lag behind the clock: it is not written on every round. */
const staleSeconds = 10;

/** The latest time that was seen by the database's clock, and the time now. */
export interface SeenTime {
  readonly high_ms: number;
  readonly now_ms: number;
}

/** Stores the time, at most once in ten seconds over all processes, and never an earlier one than the latest. */
export async function noteTime(db: Executor): Promise<SeenTime> {
  const [seen] = await db.rows<SeenTime>(sql`
    with clock as materialized (select pawl.now() as now),
    noted as (
      insert into pawl.clock as known (one, high) select true, clock.now from clock
      where not exists (select from pawl.clock as each where each.one and each.high > clock.now - ${staleSeconds}::int * interval '1 second')
      on conflict (one) do update set high = excluded.high where excluded.high > known.high
    )
    select pawl.ms(coalesce(before.high, clock.now)) as high_ms, pawl.ms(clock.now) as now_ms
    from clock left join pawl.clock as before on before.one`);
  return seen!;
}

/**
 * Locks the stored time if the clock is more than `toleranceMs` behind it, and sets it to the time now; undefined when it
 * is not. Of several processes one gets an answer.
 */
export async function recordTime(tx: Tx, toleranceMs: number): Promise<SeenTime | undefined> {
  const [taken] = await tx.rows<SeenTime>(sql`
    with behind as materialized (
      select known.high from pawl.clock as known
      where known.one and known.high > pawl.now() + ${toleranceMs}::float8 * interval '1 millisecond'
      for update
    )
    update pawl.clock as known set high = pawl.now() from behind where known.one
    returning pawl.ms(behind.high) as high_ms, pawl.ms(known.high) as now_ms`);
  return taken;
}

/**
 * Steps that wait for a retry and were put back at a time in the future: they keep their delay, counted from now. The
 * first attempt of a job may have a time that a user chose, and is not changed.
 */
export async function restartRetries(tx: Tx): Promise<number> {
  const [restarted] = await tx.rows<{ tasks: number }>(sql`
    with clock as materialized (select pawl.now() as now),
    restarted as (
      update pawl.tasks as task
      set due_at = clock.now + (task.due_at - task.since), since = clock.now
      from clock
      where task.due_at is not null and task.since > clock.now and task.due_at > task.since
        and (task.visit > 1 or task.kind = 'effect' or exists (
          select from pawl.attempts as attempt
          where attempt.instance_id = task.instance_id and attempt.task_id = task.id and attempt.at = task.since
            and attempt.what <> 'claimed'
        ))
      returning 1
    )
    select count(*)::int as tasks from restarted`);
  return restarted!.tasks;
}

/** Leases that end after the latest time that was seen: they end as much sooner as the clock was set back. */
export async function shortenLeases(tx: Tx, { high_ms, now_ms }: SeenTime): Promise<number> {
  const [shortened] = await tx.rows<{ leases: number }>(sql`
    with back as materialized (
      select pawl.at(${high_ms}::float8) as high, (${high_ms}::float8 - ${now_ms}::float8) * interval '1 millisecond' as by
    ),
    tasks as (
      update pawl.tasks as task set leased_until = task.leased_until - back.by from back
      where task.worker is not null and task.leased_until > back.high
      returning 1
    ),
    shards as (
      update pawl.shards as shard set leased_until = shard.leased_until - back.by from back
      where shard.relay is not null and shard.leased_until > back.high
      returning 1
    ),
    operations as (
      update pawl.operations as operation set leased_until = operation.leased_until - back.by from back
      where operation.status = 'running' and operation.leased_until > back.high
      returning 1
    )
    select (select count(*)::int from tasks) + (select count(*)::int from shards) + (select count(*)::int from operations)
      as leases`);
  return shortened!.leases;
}

/** Ends the pauses before Pawl's own retries: an early attempt does no harm. */
export async function endPauses(tx: Tx): Promise<number> {
  const [ended] = await tx.rows<{ pauses: number }>(sql`
    with clock as materialized (select pawl.now() as now),
    messages as (
      update pawl.messages as message set next_attempt_at = clock.now from clock
      where message.status = 'pending' and message.next_attempt_at > clock.now and message.next_attempt_at < 'infinity'
      returning 1
    ),
    callbacks as (
      update pawl.callbacks as callback set retry_at = clock.now from clock
      where callback.status = 'waiting' and callback.retry_at > clock.now
      returning 1
    ),
    alerts as (
      update pawl.alerts as alert set due_at = clock.now from clock where alert.due_at > clock.now returning 1
    ),
    tickets as (
      update pawl.tickets as ticket set due_at = clock.now from clock where ticket.due_at > clock.now returning 1
    ),
    releases as (
      update pawl.releases as release set due_at = clock.now from clock where release.due_at > clock.now returning 1
    ),
    refused as (
      update pawl.release_failures as failure set retry_at = clock.now from clock where failure.retry_at > clock.now
      returning 1
    ),
    sweeps as (
      update pawl.sweeps as sweep set due_at = clock.now from clock where sweep.due_at > clock.now returning 1
    ),
    operations as (
      update pawl.operations as operation set next_at = clock.now from clock
      where operation.status = 'running' and operation.next_at > clock.now
      returning 1
    ),
    breakers as (
      update pawl.breakers as breaker set open_until = clock.now + (breaker.open_until - breaker.since), since = clock.now
      from clock where breaker.open_until > breaker.since and breaker.since > clock.now
      returning 1
    )
    select (select count(*)::int from messages) + (select count(*)::int from callbacks) + (select count(*)::int from alerts)
      + (select count(*)::int from tickets) + (select count(*)::int from releases) + (select count(*)::int from refused)
      + (select count(*)::int from sweeps) + (select count(*)::int from operations) + (select count(*)::int from breakers)
      as pauses`);
  return ended!.pauses;
}

/**
 * Instances that moved at a time in the future and wait for a timeout, a deadline or a delayed event, up to a hundred
 * thousand; and when the last of those is due.
 */
export async function countWaiting(tx: Tx): Promise<{ readonly instances: number; readonly until_ms: number | null }> {
  const [waiting] = await tx.rows<{ instances: number; until_ms: number | null }>(sql`
    with clock as materialized (select pawl.now() as now),
    waiting as materialized (
      select instance.next_due_at, instance.moved_at from pawl.instances as instance, clock
      where instance.next_due_at is not null and instance.next_due_at > clock.now
      order by instance.next_due_at limit 100000
    )
    select count(*)::int as instances, pawl.ms(max(waiting.next_due_at)) as until_ms
    from waiting, clock where waiting.moved_at > clock.now`);
  return waiting!;
}
