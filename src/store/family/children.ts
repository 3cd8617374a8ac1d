import type { FailureColumn } from "../move/instances.ts";
import { type Executor, part, sql, textArray } from "../port/db.ts";

/** A child as its parent sees it. */
export interface ChildRow {
  readonly id: string;
  readonly lifecycle: string;
  readonly key: string | null;
  readonly state: string;
  readonly outcome: "success" | "failure" | "discarded" | null;
  readonly data: Record<string, unknown>;
}

/** One run of an instance: what children belong to. */
export interface Run {
  readonly id: string;
  readonly run: number;
}

export function readChildren(db: Executor, parent: Run): Promise<ChildRow[]> {
  return db.rows<ChildRow>(sql`
    select child.id::text as id, child.lifecycle, child.key, child.state, child.child_outcome as outcome, child.data
    from pawl.instances as child
    where child.parent_id = ${parent.id}::uuid and child.parent_run = ${parent.run}::int
    order by child.id`);
}

/** The children of one lifecycle. */
export function readChildrenOf(db: Executor, parent: Run, lifecycle: string): Promise<ChildRow[]> {
  return db.rows<ChildRow>(sql`
    select child.id::text as id, child.lifecycle, child.key, child.state, child.child_outcome as outcome, child.data
    from pawl.instances as child
    where child.parent_id = ${parent.id}::uuid and child.parent_run = ${parent.run}::int
      and child.lifecycle = ${lifecycle}::text
    order by child.id`);
}

/** A parent whose row is held to the end of the transaction. */
export interface LockedParent {
  readonly id: string;
  readonly run: number;
  readonly outcome: string | null;
}

/**
 * Marks free instances as having children, by other ways than their moves; a decision on an older row is made again.
 * Returns those that were marked.
 */
export function markParents(tx: Executor, parents: readonly Run[]): Promise<LockedParent[]> {
  return tx.rows<LockedParent>(sql`
    with free as materialized (
      select parent.id, wanted.run
      from unnest(
        (select ${textArray(parents.map((one) => one.id))}::text)::uuid[],
        (select ${textArray(parents.map((one) => one.run))}::text)::int[]
      ) as wanted(id, run)
      cross join lateral (
        select each.id from pawl.instances as each where each.id = wanted.id for no key update skip locked
      ) as parent
      limit (select ${parents.length}::int)
    )
    update pawl.instances as parent
    set has_children = parent.has_children or parent.run = free.run, alarms = parent.alarms + 1
    from free where parent.id = free.id
    returning parent.id::text as id, parent.run, parent.outcome`);
}

/** Counts of the children of a run. Complete only if none is open. */
export interface JoinStatus {
  readonly id: string;
  readonly open: boolean;
  /** An event that the parent has sent is not delivered yet, or effects of the move into its state are not complete. */
  readonly busy: boolean;
  /** One that has failed. */
  readonly failed_lifecycle: string | null;
  readonly failed_id: string | null;
  readonly failed_key: string | null;
  readonly failed_of: FailureColumn | null;
  readonly total: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly discarded: number;
}

/** Whether a `parent` has sent something that is still on its way, or has to do what its move into its state entails. */
export const isBusyParent = part`exists (
  select from pawl.tasks as task
  where task.instance_id = parent.id and task.kind = 'effect'
    and (task.work -> 'delivery' -> 'letters' is not null or (task.work ->> 'version')::int = parent.visit)
)`;

/**
 * One probe each finds whether a child is open and whether one has failed, for any number of children; only the last
 * check counts them. Questions to people, whose names begin with ?, are no part of a join.
 */
export function readJoinStatuses(
  db: Executor,
  parents: readonly (Run & { readonly visit: number })[],
): Promise<JoinStatus[]> {
  return db.rows<JoinStatus>(sql`
    select parent.id::text as id, still.open, still.busy, failure.lifecycle as failed_lifecycle, failure.id::text as failed_id,
      failure.key as failed_key, failure.failure as failed_of, counted.total, counted.succeeded, counted.failed, counted.discarded
    from unnest(
      (select ${textArray(parents.map((one) => one.id))}::text)::uuid[],
      (select ${textArray(parents.map((one) => one.run))}::text)::int[],
      (select ${textArray(parents.map((one) => one.visit))}::text)::int[]
    ) as parent(id, run, visit)
    cross join lateral (
      select exists (
        select from pawl.instances as child
        where child.parent_id = parent.id and child.parent_run = parent.run and child.child_outcome is null
          and child.child_name not like '?%'
      ) as open,
      ${isBusyParent} as busy
      offset 0
    ) as still
    left join lateral (
      select child.lifecycle, child.id, child.key, child.failure from pawl.instances as child
      where child.parent_id = parent.id and child.parent_run = parent.run and child.child_outcome = 'failure'
        and child.child_name not like '?%'
      limit 1
    ) as failure on true
    cross join lateral (
      select count(*)::int as total, (count(*) filter (where child.child_outcome = 'success'))::int as succeeded,
        (count(*) filter (where child.child_outcome = 'failure'))::int as failed,
        (count(*) filter (where child.child_outcome = 'discarded'))::int as discarded
      from pawl.instances as child
      where not still.open and child.parent_id = parent.id and child.parent_run = parent.run
        and child.child_name not like '?%'
      offset 0
    ) as counted`);
}

/** The parent of a child, with the data that decides who handles a failure of the child. */
export interface WaitingParent {
  readonly child_id: string;
  /** Its state, or where it failed. */
  readonly state: string;
  /** Its registered definition; null if unknown. */
  readonly shape: {
    readonly states: readonly { name: string; kind: never; final: string | null; join?: string }[];
    readonly edges: readonly { from: string; event: string; to: string }[];
  } | null;
}

/** The open parents of these children, of the run that the child belongs to. Questions, whose names begin with ?, are left out. */
export function readWaitingParents(db: Executor, children: readonly string[]): Promise<WaitingParent[]> {
  return db.rows<WaitingParent>(sql`
    select child.id::text as child_id, coalesce(parent.failed_from, parent.state) as state, definition.shape
    from unnest((select ${textArray(children)}::text)::uuid[]) as wanted(id)
    cross join lateral (
      select each.id, each.parent_id, each.parent_run from pawl.instances as each
      where each.id = wanted.id and each.child_name not like '?%'
      offset 0
    ) as child
    cross join lateral (
      select each.lifecycle, each.definition, each.state, each.failed_from from pawl.instances as each
      where each.id = child.parent_id and each.run = child.parent_run and each.outcome is null
      offset 0
    ) as parent
    left join lateral (
      select known.shape from pawl.lifecycles as known
      where known.name = parent.lifecycle and known.version = parent.definition
    ) as definition on true`);
}

/** A failed child that was not reported yet. */
export interface UnjoinedFailure {
  readonly id: string;
  readonly parent_id: string;
  readonly lifecycle: string;
  readonly attempts: number;
}

/**
 * Failed children of these runs without a dead letter for that failure, which no join has handled since: their parents
 * continued without the join.
 */
export function readUnjoinedFailures(db: Executor, parents: readonly Run[], limit: number): Promise<UnjoinedFailure[]> {
  return db.rows<UnjoinedFailure>(sql`
    select child.id::text as id, parent.id::text as parent_id, child.lifecycle, coalesce((move.payload ->> 'attempts')::int, 0) as attempts
    from unnest(
      (select ${textArray(parents.map((one) => one.id))}::text)::uuid[],
      (select ${textArray(parents.map((one) => one.run))}::text)::int[]
    ) as parent(id, run)
    cross join lateral (
      select each.id, each.lifecycle, each.version, each.failed_at from pawl.instances as each
      where each.parent_id = parent.id and each.parent_run = parent.run and each.child_outcome = 'failure'
        and each.failed_at is not null and each.child_name not like '?%'
      offset 0
    ) as child
    cross join lateral (
      select last.payload from pawl.journal as last
      where last.instance_id = child.id and last.version = child.version
        and (last.event = 'fail' or last.to_state = 'failed')
      offset 0
    ) as move
    where not exists (
      select from pawl.dead_letters as letter
      where letter.instance_id = child.id and letter.kind = 'instance' and letter.created_at >= child.failed_at
    ) and not exists (
      select from pawl.journal as dealt
      where dealt.instance_id = parent.id and dealt.at >= child.failed_at
        and (dealt.event = 'joined' or (dealt.event = 'fail' and dealt.reason = 'child_failed'))
    )
    limit ${limit}::int`);
}

/** A failed child that was left to its parent. */
export interface LeftChild {
  readonly id: string;
  readonly parent_id: string;
  readonly lifecycle: string;
  readonly version: number;
}

/** Failed children of these parents, of that run and those before it, about which no dead letter is open. */
export function readLeftFailures(db: Executor, parents: readonly Run[], limit: number): Promise<LeftChild[]> {
  return db.rows<LeftChild>(sql`
    select child.id::text as id, parent.id::text as parent_id, child.lifecycle, child.version
    from unnest(
      (select ${textArray(parents.map((one) => one.id))}::text)::uuid[],
      (select ${textArray(parents.map((one) => one.run))}::text)::int[]
    ) as parent(id, run)
    cross join lateral (
      select each.id, each.lifecycle, each.version from pawl.instances as each
      where each.parent_id = parent.id and each.parent_run <= parent.run and each.child_outcome = 'failure'
        and each.closed_at is null and each.child_name not like '?%'
      offset 0
    ) as child
    where not exists (
      select from pawl.dead_letters as letter
      where letter.instance_id = child.id and letter.kind = 'instance' and letter.status = 'open' offset 0
    )
    limit ${limit}::int`);
}

/** A child as a letter names it. */
export interface NamedChild extends Run {
  readonly letterId: string;
  readonly lifecycle: string;
  readonly name: string;
}

export function readChildIds(
  db: Executor,
  named: readonly NamedChild[],
): Promise<{ letter_id: string; child_id: string }[]> {
  return db.rows(sql`
    select named.letter_id::text as letter_id, child.id::text as child_id
    from unnest(
      (select ${textArray(named.map((one) => one.letterId))}::text)::uuid[],
      (select ${textArray(named.map((one) => one.id))}::text)::uuid[],
      (select ${textArray(named.map((one) => one.run))}::text)::int[],
      (select ${textArray(named.map((one) => one.lifecycle))}::text)::text[],
      (select ${textArray(named.map((one) => one.name))}::text)::text[]
    ) as named(letter_id, id, run, lifecycle, name)
    cross join lateral (
      select each.id from pawl.instances as each
      where each.parent_id = named.id and each.parent_run = named.run and each.lifecycle = named.lifecycle
        and each.child_name = named.name
      offset 0
    ) as child`);
}

/** The open children of a run, of one lifecycle, after the end of the last page. */
export function readOpenChildren(
  db: Executor,
  page: Run & { lifecycle: string; afterId: string; limit: number },
): Promise<{ id: string }[]> {
  return db.rows<{ id: string }>(sql`
    select child.id::text as id from pawl.instances as child
    where child.parent_id = ${page.id}::uuid and child.parent_run = ${page.run}::int and child.child_outcome is null
      and child.lifecycle = ${page.lifecycle}::text and child.id > ${page.afterId}::uuid
    order by child.id limit ${page.limit}::int`);
}

/** The lifecycles of the open children of these runs, each with the newest definition that moved one of them. */
export function readOpenKinds(
  tx: Executor,
  runs: readonly Run[],
): Promise<{ id: string; run: number; lifecycle: string; definition: number }[]> {
  return tx.rows(sql`
    select over.id::text as id, over.run, open.lifecycle, open.definition
    from unnest(
      (select ${textArray(runs.map((one) => one.id))}::text)::uuid[],
      (select ${textArray(runs.map((one) => one.run))}::text)::int[]
    ) as over(id, run)
    cross join lateral (
      select child.lifecycle, max(child.definition) as definition from pawl.instances as child
      where child.parent_id = over.id and child.parent_run = over.run and child.child_outcome is null
      group by child.lifecycle
      offset 0
    ) as open`);
}

/** The questions of an instance, which are its children. */
export interface QuestionRow {
  readonly parent_id: string;
  readonly id: string;
  readonly lifecycle: string;
  readonly name: string;
  readonly outcome: string | null;
}

/** The questions of these runs. */
export function readQuestions(
  db: Executor,
  runs: readonly Run[],
  lifecycles: readonly string[],
): Promise<QuestionRow[]> {
  return db.rows<QuestionRow>(sql`
    select asker.id::text as parent_id, question.id::text as id, question.lifecycle, question.child_name as name, question.outcome
    from unnest(
      (select ${textArray(runs.map((one) => one.id))}::text)::uuid[],
      (select ${textArray(runs.map((one) => one.run))}::text)::int[]
    ) as asker(id, run)
    cross join lateral (
      select child.id, child.lifecycle, child.child_name, child.outcome from pawl.instances as child
      where child.parent_id = asker.id and child.parent_run = asker.run and child.child_name like '?%'
        and child.lifecycle = any((select ${textArray(lifecycles)}::text)::text[])
      offset 0
    ) as question`);
}
