import { part } from "../../store/port/db.ts";

/** Instances that are stuck in one place, as a statement finds them. */
export interface FoundGroup {
  readonly lifecycle: string;
  /** A lane, a state or a queue. */
  readonly place: string;
  readonly count: number;
  readonly since_ms: number;
  readonly instances: readonly {
    readonly id: string;
    readonly lifecycle: string;
    readonly key: string | null;
    readonly state: string;
    readonly since_ms: number;
  }[];
}

/** How many are counted in one place, and how many of them are listed. */
export interface Bounds {
  readonly counted: number;
  readonly listed: number;
}

/** How many times the counted rows are read, where most of them may be about ended instances. */
export const readMore = 5;

/**
 * The end of a statement that has found stuck instances, as `found (lifecycle, place, instance_id, since)`: the groups,
 * each with those of its instances that have waited longest. Only those are read.
 */
export const grouped = ({ listed }: Bounds) => part`
  select ranked.lifecycle, ranked.place, count(*)::int as count, pawl.ms(min(ranked.since)) as since_ms,
    coalesce(jsonb_agg(jsonb_build_object(
      'id', instance.id::text, 'lifecycle', instance.lifecycle, 'key', instance.key, 'state', instance.state,
      'since_ms', pawl.ms(ranked.since)
    ) order by ranked.rank) filter (where instance.id is not null), '[]') as instances
  from (
    select found.*, row_number() over (
      partition by found.lifecycle, found.place order by found.since, found.instance_id
    ) as rank
    from found
  ) as ranked
  left join lateral (
    select each.id, each.lifecycle, each.key, each.state from pawl.instances as each
    where each.id = ranked.instance_id and ranked.rank <= ${listed}::int offset 0
  ) as instance on true
  group by ranked.lifecycle, ranked.place
  order by ranked.lifecycle, ranked.place`;
