import { type Executor, part, sql } from "../../store/port/db.ts";

/** Sums over what labelers did. */
export interface Sums {
  readonly given: number;
  readonly started: number;
  readonly completed: number;
  readonly skipped: number;
  readonly expired: number;
  /** Of the expired ones: never started and not released; released by a lead. */
  readonly expired_unstarted: number;
  readonly released: number;
  /** Those closed without having been started. */
  readonly unstarted: number;
  readonly attempts: number;
  readonly worked_ms: number;
  readonly late: number;
  readonly rejected: number;
  readonly gold: number;
  readonly gold_right: number;
}

const sums = part`
  coalesce(sum(given), 0)::float8 as given, coalesce(sum(started), 0)::float8 as started,
  coalesce(sum(completed), 0)::float8 as completed, coalesce(sum(skipped), 0)::float8 as skipped,
  coalesce(sum(expired), 0)::float8 as expired, coalesce(sum(expired_unstarted), 0)::float8 as expired_unstarted,
  coalesce(sum(released), 0)::float8 as released, coalesce(sum(unstarted), 0)::float8 as unstarted,
  coalesce(sum(attempts), 0)::float8 as attempts, coalesce(sum(worked_ms), 0) as worked_ms, coalesce(sum(late), 0)::float8 as late,
  coalesce(sum(rejected), 0)::float8 as rejected, coalesce(sum(gold), 0)::float8 as gold,
  coalesce(sum(gold_right), 0)::float8 as gold_right`;

/** The labelers and hours to sum; null for all of them. */
export interface Span {
  readonly queue: string;
  readonly labeler: string | null;
  readonly fromMs: number | null;
  readonly toMs: number | null;
}

/** What was assigned, started and closed before a time, and so what was open at that time. */
export type Earlier = Pick<Sums, "given" | "started" | "unstarted" | "completed" | "skipped" | "expired">;

export async function sumOfQueue(db: Executor, span: Span): Promise<Sums> {
  const [row] = await db.rows<Sums>(sql`
    select ${sums} from pawl.labeler_hours ${within(span)}`);
  return row!;
}

export function sumsByLabeler(db: Executor, span: Span): Promise<(Sums & { readonly labeler: string })[]> {
  return db.rows(sql`
    select labeler, ${sums} from pawl.labeler_hours ${within(span)} group by labeler order by labeler`);
}

export function sumsByHour(db: Executor, span: Span): Promise<(Sums & { readonly hour_ms: number })[]> {
  return db.rows(sql`
    select pawl.ms(hour) as hour_ms, ${sums} from pawl.labeler_hours ${within(span)} group by hour order by hour`);
}

function within(span: Span) {
  return part`
    where queue = ${span.queue}::text and (${span.labeler}::text is null or labeler = ${span.labeler}::text)
      and hour >= coalesce(date_trunc('hour', pawl.at(${span.fromMs}::float8), 'UTC'), '-infinity')
      and hour < coalesce(pawl.at(${span.toMs}::float8), 'infinity')`;
}

/** The sums before the time of a span, by labeler; none where it has no beginning. */
export async function sumsBefore(db: Executor, span: Span): Promise<(Sums & { readonly labeler: string })[]> {
  return span.fromMs === null ? [] : sumsByLabeler(db, { ...span, fromMs: null, toMs: hourOf(span.fromMs) });
}

const hourMs = 3_600_000;

/** The hour in which a span begins: it consists of whole hours. */
function hourOf(fromMs: number): number {
  return Math.floor(fromMs / hourMs) * hourMs;
}
