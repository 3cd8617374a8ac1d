import { type Db, sql } from "../../../src/store/port/db.ts";
import { ratePerMinute } from "../code/names.ts";
import type { LifecyclePlan, Plan } from "../plan/plan.ts";
import type { Finding } from "./finding.ts";

/** A state of a plan with a limit or a rate. */
interface Gate {
  readonly lifecycle: string;
  readonly state: string;
  readonly limit: number | undefined;
  readonly rate: number | undefined;
}

function gatesOf(lifecycles: readonly LifecyclePlan[]): Gate[] {
  return lifecycles.flatMap(({ name, stages }) =>
    stages
      .filter(({ kind }) => kind === "work")
      .map(({ name: state, limit, rate }) => ({
        lifecycle: name,
        state,
        limit,
        rate: rate ? ratePerMinute : undefined,
      })),
  );
}

/** Looks for more running steps than a limit allows, between two acts. */
export async function limitsExceeded(db: Db, { lifecycles }: Plan): Promise<string[]> {
  const limited = gatesOf(lifecycles).filter(({ limit }) => limit !== undefined);
  if (limited.length === 0) return [];
  const rows = await db.rows<{ lane: string; running: number }>(sql`
    select regexp_replace(lane, '@[0-9]+', '') as lane, count(*)::int as running
    from pawl.tasks where worker is not null group by 1`);
  return limited.flatMap(({ lifecycle, state, limit }) => {
    const running = rows.find(({ lane }) => lane === `${lifecycle}/${state}`)?.running ?? 0;
    return running > limit! ? [`${running} steps of ${lifecycle}/${state} run, and its limit is ${limit}`] : [];
  });
}

/** More steps than a rate allows have begun within a minute. */
export async function ratesExceeded(db: Db, { lifecycles }: Plan): Promise<Finding[]> {
  const rated = gatesOf(lifecycles).filter(({ rate }) => rate !== undefined);
  if (rated.length === 0) return [];
  const rows = await db.rows<{ lane: string; at: string; begun: number }>(sql`
    select lane, at::text as at, begun from (
      select lane, at, count(*) over (partition by lane order by at range between interval '59999 milliseconds' preceding and current row)::int as begun
      from (select regexp_replace(lane, '@[0-9]+', '') as lane, at from pawl.attempts where what = 'claimed') as claim
    ) as claims
    order by lane, at`);
  return rated.flatMap(({ lifecycle, state, rate }) => {
    const over = rows.find(({ lane, begun }) => lane === `${lifecycle}/${state}` && begun > rate!);
    return over === undefined
      ? []
      : [
          {
            invariant: "gates",
            message: `${over.begun} steps of ${over.lane} began in the minute before ${over.at}, and its rate is ${rate}`,
          },
        ];
  });
}

/** While lanes were closed by a pause or a forced breaker, something was claimed in them. */
export async function claimedWhileClosed(db: Db, plan: Plan, closures: readonly LaneClosure[]): Promise<Finding[]> {
  const found: Finding[] = [];
  for (const closure of closures) {
    const lanes = plan.lifecycles.flatMap(({ name, stages }) =>
      name === closure.lifecycle || (closure.lifecycle === undefined && stages.some(({ breaker }) => breaker))
        ? stages
            .filter(({ kind, breaker }) => kind === "work" && (closure.lifecycle !== undefined || breaker))
            .map((stage) => `${name}/${stage.name}`)
        : [],
    );
    const rows = await db.rows<{ lane: string; at: string }>(sql`
      select lane, at::text as at from pawl.attempts
      where what = 'claimed' and at > pawl.at(${closure.fromMs}::float8) and at < pawl.at(${closure.untilMs}::float8)`);
    for (const { lane, at } of rows)
      if (lanes.includes(lane.replace(/@\d+/, "")))
        found.push({
          invariant: "gates",
          message: `${lane} was claimed at ${at}, while it was closed by ${closure.by}`,
        });
  }
  return found;
}

/** Lanes that were closed for a while, by the database's clock. */
export interface LaneClosure {
  readonly by: "a pause" | "its breaker";
  /** The lifecycle that was paused; undefined for all states that use the breaker. */
  readonly lifecycle: string | undefined;
  fromMs: number;
  untilMs: number;
}
