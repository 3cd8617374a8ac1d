import { isBusyParent } from "../../store/family/children.ts";
import { type Executor, sql } from "../../store/port/db.ts";

/** A task of an instance: its step, or one of its after-effects and deliveries. */
export interface WaitingTask {
  readonly id: string;
  readonly lane: string;
  readonly attempt: number;
  readonly since_ms: number;
  readonly due_ms: number | null;
  readonly worker: string | null;
  readonly leased_until_ms: number | null;
  /** Of a step in a lane whose tasks have keys. */
  readonly lane_key?: string | null;
}

interface WaitingEffect extends WaitingTask {
  /** The event whose `after` it is; null for a delivery. */
  readonly event: string | null;
  readonly last_attempt: LastAttempt | null;
  readonly progress: TaskProgress | null;
}

export interface TaskProgress {
  readonly fraction: number;
  readonly note: string | null;
}

/** How the last attempt of a task ended that did not succeed. */
export interface LastAttempt {
  readonly what: "failed" | "lapsed" | "released" | "deferred";
  readonly at_ms: number;
  readonly lane: string | null;
  readonly reason: string | null;
  readonly error: { readonly name: string; readonly message: string } | null;
}

interface WaitingTimer {
  readonly kind: "timeout" | "deadline" | "send";
  readonly visit: number | null;
  readonly due_ms: number;
  readonly event: string;
  readonly actor: string | null;
  readonly attempts: number;
}

interface WaitingRelease {
  readonly what: "refused" | "failed";
  readonly attempts: number;
  readonly reason: string;
  readonly retry_ms: number | null;
}

export interface WaitingLetter {
  readonly id: string;
  readonly kind: "instance" | "effect" | "message" | "broker";
  readonly status: "open" | "requeued" | "discarded" | "archived";
  readonly origin: string;
  readonly reason: string;
  /** The event that could not be delivered, where that is what failed. */
  readonly event: string | null;
  readonly created_ms: number;
  readonly decided_by: string | null;
}

/** A child, or a question to people or to a crowd. */
interface WaitingChild {
  readonly id: string;
  readonly lifecycle: string;
  readonly key: string | null;
  readonly state: string;
  readonly outcome: "success" | "failure" | "discarded" | null;
}

/** A result that arrived and that no state has accepted yet. */
interface WaitingResult {
  readonly id: string;
  readonly event: string;
  readonly received_ms: number;
  /** When it is processed, or tried again; null once no state accepted it. */
  readonly due_ms: number | null;
  readonly reason: string | null;
}

/** Callback tokens that are valid, of one event. */
interface WaitingToken {
  readonly event: string;
  readonly tokens: number;
  readonly issued_ms: number;
  readonly expires_ms: number;
}

/** Everything that an instance can wait for, as the tables have it. Lists hold the first ten. */
export interface WaitsRow {
  readonly now_ms: number;
  readonly entered_ms: number | null;
  /** The event of its timeout or of its children that it refused in its present visit. */
  readonly refused_event: string | null;
  readonly refused_ms: number | null;
  /** Since when maintenance has to check whether its children or its question have ended; null when it has not. */
  readonly check_ms: number | null;
  /** Whether maintenance has to check that, now or once what it sent has arrived. */
  readonly has_check: boolean;
  readonly step: WaitingTask | null;
  readonly last_attempt: LastAttempt | null;
  readonly progress: TaskProgress | null;
  readonly effects: readonly WaitingEffect[];
  readonly timers: readonly WaitingTimer[];
  readonly release_failure: WaitingRelease | null;
  /** When parked instances of its state are released next; null if that has never been done. */
  readonly release_ms: number | null;
  readonly letters: readonly WaitingLetter[];
  readonly question: WaitingChild | null;
  readonly children_open: number;
  readonly children_failed: number;
  readonly children: readonly WaitingChild[];
  readonly results: readonly WaitingResult[];
  readonly tokens: readonly WaitingToken[];
}

/** More open children than these are not counted. */
export const maxChildren = 10_000;

/** The waits of an instance, in one statement: probes of indexes by its id, in any state. */
export async function readWaits(db: Executor, id: string): Promise<WaitsRow | undefined> {
  const [row] = await db.rows<WaitsRow>(sql`
    with clock as materialized (select pawl.now() as now),
    instance as materialized (select * from pawl.instances as each where each.id = ${id}::uuid)
    select pawl.ms(clock.now) as now_ms, pawl.ms(entry.at) as entered_ms, refused.event as refused_event,
      pawl.ms(refused.at) as refused_ms, pawl.ms(look.at) as check_ms,
      exists (select from pawl.checks as each where each.instance_id = instance.id) as has_check, step.step, attempt.last_attempt, word.progress, effects.effects,
      timers.timers, failure.release_failure, pawl.ms(release.due_at) as release_ms, letters.letters,
      question.question, open.children_open, failed.children_failed, children.children, results.results, tokens.tokens
    from clock, instance
    left join lateral (
      select move.at from pawl.journal as move where move.instance_id = instance.id and move.version = instance.visit
    ) as entry on true
    left join lateral (
      select each.at, each.detail ->> 'event' as event from pawl.attempts as each
      where each.instance_id = instance.id and each.what = 'refused' and (each.detail ->> 'visit')::int = instance.visit
      limit 1
    ) as refused on true
    left join lateral (
      select min(each.at) as at from pawl.checks as each, (select instance.id, instance.visit) as parent
      where each.instance_id = parent.id and not ${isBusyParent}
    ) as look on true
    left join lateral (
      select jsonb_build_object(
        'id', task.id::text, 'lane', task.lane, 'attempt', task.attempt, 'since_ms', pawl.ms(task.since),
        'due_ms', pawl.ms(task.due_at), 'worker', task.worker, 'leased_until_ms', pawl.ms(task.leased_until),
        'lane_key', task.lane_key
      ) as step
      from pawl.tasks as task where task.id = instance.id and task.kind = 'step' and task.visit = instance.visit
    ) as step on true
    left join lateral (
      select jsonb_build_object(
        'what', each.what, 'at_ms', pawl.ms(each.at), 'lane', each.lane, 'reason', each.detail ->> 'reason', 'error', each.detail -> 'error'
      ) as last_attempt
      from pawl.attempts as each
      where each.instance_id = instance.id and each.task_id = instance.id and each.at >= entry.at
        and each.what in ('failed', 'lapsed', 'released', 'deferred')
      order by coalesce(each.position, each.token) desc, each.token desc limit 1
    ) as attempt on true
    left join lateral (
      select jsonb_build_object('fraction', each.fraction, 'note', each.note) as progress
      from pawl.progress as each
      join pawl.tasks as task on task.id = each.task_id and task.token = each.token and task.worker is not null
      where each.instance_id = instance.id and each.task_id = instance.id
    ) as word on true
    cross join lateral (
      select coalesce(jsonb_agg(jsonb_build_object(
        'id', few.id::text, 'lane', few.lane, 'attempt', few.attempt, 'since_ms', pawl.ms(few.since),
        'due_ms', pawl.ms(few.due_at), 'worker', few.worker, 'leased_until_ms', pawl.ms(few.leased_until),
        'event', few.work ->> 'event', 'last_attempt', past.last_attempt, 'progress', newest.progress
      ) order by few.id), '[]') as effects
      from (
        select task.*
        from (
          select * from pawl.tasks as each where each.instance_id = instance.id and each.kind = 'effect' limit 1000
        ) as task
        order by task.id limit 10
      ) as few
      left join lateral (
        select jsonb_build_object(
          'what', each.what, 'at_ms', pawl.ms(each.at), 'lane', each.lane, 'reason', each.detail ->> 'reason', 'error', each.detail -> 'error'
        ) as last_attempt
        from pawl.attempts as each
        where each.instance_id = instance.id and each.task_id = few.id
          and each.what in ('failed', 'lapsed', 'released', 'deferred')
        order by coalesce(each.position, each.token) desc, each.token desc limit 1
      ) as past on true
      left join lateral (
        select jsonb_build_object('fraction', each.fraction, 'note', each.note) as progress
        from pawl.progress as each
        where each.instance_id = instance.id and each.task_id = few.id and each.token = few.token and few.worker is not null
      ) as newest on true
    ) as effects
    cross join lateral (
      select coalesce(jsonb_agg(jsonb_build_object(
        'kind', few.kind, 'visit', few.visit, 'due_ms', pawl.ms(few.due_at), 'event', few.event, 'actor', few.actor,
        'attempts', few.attempts
      ) order by few.due_at), '[]') as timers
      from (
        select * from pawl.timers as each
        where each.instance_id = instance.id and (each.visit is null or each.visit = instance.visit)
        order by each.due_at limit 10
      ) as few
    ) as timers
    left join lateral (
      select jsonb_build_object(
        'what', each.what, 'attempts', each.attempts, 'reason', each.reason, 'retry_ms', pawl.ms(each.retry_at)
      ) as release_failure
      from pawl.release_failures as each where each.instance_id = instance.id and each.visit = instance.visit
    ) as failure on true
    left join lateral (
      select each.due_at from pawl.releases as each
      where each.lifecycle = instance.lifecycle and each.state = instance.state
    ) as release on true
    cross join lateral (
      select coalesce(jsonb_agg(jsonb_build_object(
        'id', few.id::text, 'kind', few.kind, 'status', few.status, 'origin', few.origin, 'reason', few.reason,
        'event', case when few.reason = 'event_failed' then few.details ->> 'event' end, 'created_ms', pawl.ms(few.created_at), 'decided_by', few.decided_by
      ) order by few.id desc), '[]') as letters
      from (
        select * from pawl.dead_letters as each
        where each.instance_id = instance.id and (each.status = 'open' or each.version >= instance.visit)
        order by each.status = 'open' desc, each.id desc limit 10
      ) as few
    ) as letters
    left join lateral (
      select jsonb_build_object(
        'id', child.id::text, 'lifecycle', child.lifecycle, 'key', child.key, 'state', child.state, 'outcome', child.outcome
      ) as question
      from pawl.instances as child
      where child.parent_id = instance.id and child.parent_run = instance.run and child.child_name = '?' || instance.visit
      limit 1
    ) as question on true
    cross join lateral (
      select count(*)::int as children_open from (
        select from pawl.instances as child
        where child.parent_id = instance.id and child.parent_run = instance.run
          and child.child_outcome is null and child.child_name not like '?%'
        limit ${maxChildren}::int
      ) as few
    ) as open
    cross join lateral (
      select count(*)::int as children_failed from (
        select from pawl.instances as child
        where child.parent_id = instance.id and child.parent_run = instance.run
          and child.child_outcome = 'failure' and child.child_name not like '?%'
        limit ${maxChildren}::int
      ) as few
    ) as failed
    cross join lateral (
      select coalesce(jsonb_agg(jsonb_build_object(
        'id', few.id::text, 'lifecycle', few.lifecycle, 'key', few.key, 'state', few.state, 'outcome', few.child_outcome
      )), '[]') as children
      from (
        select * from (
          (select * from pawl.instances as child
           where child.parent_id = instance.id and child.parent_run = instance.run
             and child.child_outcome is null and child.child_name not like '?%'
           limit 10)
          union all
          (select * from pawl.instances as child
           where child.parent_id = instance.id and child.parent_run = instance.run
             and child.child_outcome = 'failure' and child.child_name not like '?%'
           limit 10)
        ) as both_kinds limit 10
      ) as few
    ) as children
    cross join lateral (
      select coalesce(jsonb_agg(jsonb_build_object(
        'id', few.id::text, 'event', few.event, 'received_ms', pawl.ms(few.received_at), 'reason', few.reason,
        'due_ms', case when not few.looked then pawl.ms(coalesce(few.retry_at, few.received_at)) end
      ) order by few.received_at), '[]') as results
      from (
        select * from pawl.callbacks as each where each.instance_id = instance.id and each.status = 'waiting'
        order by each.received_at, each.id limit 10
      ) as few
    ) as results
    cross join lateral (
      select coalesce(jsonb_agg(jsonb_build_object(
        'event', few.event, 'tokens', few.tokens, 'issued_ms', pawl.ms(few.issued), 'expires_ms', pawl.ms(few.expires)
      ) order by few.event), '[]') as tokens
      from (
        select each.event, count(*)::int as tokens, max(each.created_at) as issued, max(each.expires_at) as expires
        from (select * from pawl.callback_tokens as token where token.instance_id = instance.id limit 1000) as each
        where each.run = instance.run and each.expires_at > clock.now
        group by each.event order by each.event limit 10
      ) as few
    ) as tokens`);
  return row;
}
