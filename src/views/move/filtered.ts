import { type InstanceRow, instanceColumns } from "../../store/move/instances.ts";
import { type Executor, noPart, type Part, part, sql, textArray } from "../../store/port/db.ts";

/** Which instances of a lifecycle are wanted. */
export interface InstanceFilter {
  readonly lifecycle: string;
  /** In one of these states; null for any state. */
  readonly states: readonly string[] | null;
  /** Whether none of these states has a step, so that the index by state has all of their instances. */
  readonly resting: boolean;
  /** Keys that begin with this text; null for any key, and for instances without one. */
  readonly key: string | null;
  readonly failure: string | null;
  readonly parentId: string | null;
  /** Started at least this long ago. */
  readonly olderThanMs: number | null;
  /** Not moved for at least this long. */
  readonly idleMs: number | null;
}

/** The last row of the page before. */
export interface LastRow {
  readonly id: string;
  readonly key: string | null;
}

/** Rows called `instance` in the order of one index: those after a row that fit, up to a limit. */
interface Walk {
  readonly rows: (fits: Part, after: LastRow | null, limit: number) => Part;
  readonly order: Part;
}

const lastId = "ffffffff-ffff-ffff-ffff-ffffffffffff";
const firstId = "00000000-0000-0000-0000-000000000000";
/** Sorts after every text that begins with the text before it. */
const end = "\u{10FFFF}";

/**
 * A page: in the order of the keys where a key is wanted, else the newest first. `few` says that the states have so few
 * instances that they are all read, and sorted, sooner than the keys.
 */
export function findFiltered(
  db: Executor,
  filter: InstanceFilter,
  page: { readonly after: LastRow | null; readonly limit: number; readonly few: boolean },
): Promise<InstanceRow[]> {
  const { rows, order } = walkFor(filter, page.few);
  return db.rows<InstanceRow>(sql`
    with clock as materialized (select pawl.now() as now)
    select ${instanceColumns}
    from clock, lateral (
      select instance.* from (${rows(fitting(filter), page.after, page.limit)}) as instance ${order} limit ${page.limit}::int
    ) as instance
    ${order}`);
}

/** How many fit of the first `most` that an index leads to, and whether it leads to more. */
export async function countFiltered(
  db: Executor,
  filter: InstanceFilter,
  { most, few }: { readonly most: number; readonly few: boolean },
): Promise<{ readonly count: number; readonly more: boolean }> {
  const { rows } = walkFor(filter, few);
  const [found] = await db.rows<{ count: number; seen: number }>(sql`
    with clock as materialized (select pawl.now() as now)
    select (count(*) filter (where true ${fitting(filter)}))::int as count, count(*)::int as seen
    from clock, lateral (select * from (${rows(noPart, null, most + 1)}) as found limit ${most + 1}::int) as instance`);
  return { count: Math.min(found!.count, most), more: found!.seen > most };
}

function walkFor(filter: InstanceFilter, few: boolean): Walk {
  if (filter.parentId !== null) return childrenOf(filter, filter.parentId);
  if (filter.key !== null) return few ? inStatesByKey(filter, filter.key) : withKey(filter, filter.key);
  if (filter.failure !== null) return failed(filter, filter.failure);
  if (filter.states !== null && filter.resting) return atRest(filter, filter.states);
  return all(filter);
}

/** All conditions, for those that a walk does not ensure by itself. */
export function fitting({ states, key, failure, olderThanMs, idleMs }: InstanceFilter): Part {
  const ago = (ms: number) => part`clock.now - ${ms}::float8 * interval '1 millisecond'`;
  return part`
    ${states === null ? noPart : part`and instance.state = any((select ${textArray(states)}::text)::text[])`}
    ${key === null ? noPart : part`and instance.key >= ${key}::text and instance.key < ${key + end}::text`}
    ${failure === null ? noPart : part`and instance.failure is not null and instance.failure ->> 'reason' = ${failure}::text`}
    ${olderThanMs === null ? noPart : part`and instance.created_at <= ${ago(olderThanMs)}`}
    ${idleMs === null ? noPart : part`and instance.moved_at <= ${ago(idleMs)}`}`;
}

const newestFirst = part`order by instance.id desc`;

/** Also in a state that only an earlier definition knew. */
function all({ lifecycle }: InstanceFilter): Walk {
  return {
    rows: (fits, after, limit) => part`
      select instance.* from pawl.instances as instance
      where instance.lifecycle = ${lifecycle}::text and instance.id < ${after?.id ?? lastId}::uuid ${fits}
      order by instance.id desc limit ${limit}::int`,
    order: newestFirst,
  };
}

/** One probe a state. */
function atRest({ lifecycle }: InstanceFilter, states: readonly string[]): Walk {
  return {
    rows: (fits, after, limit) => part`
      select found.*
      from unnest((select ${textArray(states)}::text)::text[]) as state(name)
      cross join lateral (
        select instance.* from pawl.instances as instance
        where instance.lifecycle = ${lifecycle}::text and instance.shelf = state.name and instance.id < ${after?.id ?? lastId}::uuid ${fits}
        order by instance.id desc limit ${limit}::int
      ) as found`,
    order: newestFirst,
  };
}

function failed({ lifecycle }: InstanceFilter, reason: string): Walk {
  return {
    rows: (fits, after, limit) => part`
      select instance.* from pawl.instances as instance
      where instance.lifecycle = ${lifecycle}::text and instance.failure is not null and instance.failure ->> 'reason' = ${reason}::text
        and instance.id < ${after?.id ?? lastId}::uuid ${fits}
      order by instance.id desc limit ${limit}::int`,
    order: newestFirst,
  };
}

function childrenOf({ lifecycle }: InstanceFilter, parentId: string): Walk {
  return {
    rows: (fits, after, limit) => part`
      select instance.* from pawl.instances as instance
      where instance.parent_id = ${parentId}::uuid and instance.lifecycle = ${lifecycle}::text
        and instance.id < ${after?.id ?? lastId}::uuid ${fits}
      order by instance.id desc limit ${limit}::int`,
    order: newestFirst,
  };
}

const inOrderOfKeys = part`order by instance.key, instance.id`;

/** Those that hold their key, and those that held it; children are found through their parents. */
function withKey({ lifecycle }: InstanceFilter, key: string): Walk {
  return {
    rows: (fits, after, limit) => {
      const beyond = part`
        instance.lifecycle = ${lifecycle}::text and instance.key is not null and instance.key < ${key + end}::text
        and instance.key >= ${after?.key ?? key}::text
        and (instance.key > ${after?.key ?? ""}::text or instance.id > ${after?.id ?? firstId}::uuid)`;
      return part`
        (select instance.* from pawl.instances as instance where ${beyond} and instance.key_held ${fits}
         order by instance.key limit ${limit}::int)
        union all
        (select instance.* from pawl.instances as instance where ${beyond} and not instance.key_held and instance.parent_id is null ${fits}
         order by instance.key, instance.id limit ${limit}::int)`;
    },
    order: inOrderOfKeys,
  };
}

/** The same for states with few instances. */
function inStatesByKey({ lifecycle, states }: InstanceFilter, key: string): Walk {
  return {
    rows: (fits, after, limit) => part`
      select found.*
      from unnest((select ${textArray(states ?? [])}::text)::text[]) as state(name)
      cross join lateral (
        select instance.* from pawl.instances as instance
        where instance.lifecycle = ${lifecycle}::text and instance.shelf = state.name and instance.parent_id is null
          and instance.key >= ${key}::text and instance.key < ${key + end}::text
          and (instance.key, instance.id) > (${after?.key ?? ""}::text, ${after?.id ?? firstId}::uuid) ${fits}
        order by instance.key, instance.id limit ${limit}::int
      ) as found`,
    order: inOrderOfKeys,
  };
}
