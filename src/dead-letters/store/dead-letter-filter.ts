import { type Part, part, textArray } from "../../store/port/db.ts";

/** Selects open dead letters that match all fields; null matches anything. */
export interface LetterFilter {
  readonly ids: readonly string[] | null;
  readonly lifecycle: string | null;
  readonly kind: string | null;
  /** The state of a failed instance, the event of an after-effect, the type of a message, or a broker's queue. */
  readonly origin: string | null;
  readonly reason: string | null;
  readonly fingerprint: string | null;
  readonly fromMs: number | null;
  readonly toMs: number | null;
}

/** Whether the dead letter `each` is open and matches. A part of the statements that list and decide letters. */
export function matchesFilter(filter: LetterFilter): Part {
  return part`
    each.status = 'open'
    and (${filter.ids === null}::boolean or each.id = any((select ${textArray(filter.ids ?? [])}::text)::uuid[]))
    and (${filter.lifecycle}::text is null or each.lifecycle = ${filter.lifecycle}::text)
    and (${filter.kind}::text is null or each.kind = ${filter.kind}::text)
    and (${filter.origin}::text is null or each.origin = ${filter.origin}::text)
    and (${filter.reason}::text is null or each.reason = ${filter.reason}::text)
    and (${filter.fingerprint}::text is null or each.fingerprint = ${filter.fingerprint}::text)
    and (${filter.fromMs}::float8 is null or each.created_at >= pawl.at(${filter.fromMs}::float8))
    and (${filter.toMs}::float8 is null or each.created_at < pawl.at(${filter.toMs}::float8))`;
}

/** The open dead letters that match, oldest first, as the items of an operation. */
export function lettersMeant(filter: LetterFilter, most: number): Part {
  return part`
      select each.id, each.kind, each.lifecycle, null::uuid as request_id, null::int as run, null::int as visit
      from pawl.dead_letters as each
      where ${matchesFilter(filter)}
      order by each.id limit ${most}::int`;
}
