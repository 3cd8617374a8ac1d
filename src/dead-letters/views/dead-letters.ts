import { type Executor, sql, textArray } from "../../store/port/db.ts";
import { columns, type DeadLetterView } from "../../views/dead-letters.ts";
import { type LetterFilter, matchesFilter } from "../store/dead-letter-filter.ts";

const lastId = "ffffffff-ffff-ffff-ffff-ffffffffffff";

export interface LetterPage {
  /** Those of one lifecycle; null for all. */
  readonly lifecycle: string | null;
  readonly status: DeadLetterView["status"];
  readonly beforeId: string | null;
  readonly limit: number;
}

/** Dead letters, newest first. */
export function readDeadLetters(db: Executor, page: LetterPage): Promise<DeadLetterView[]> {
  return db.rows<DeadLetterView>(sql`
    select ${columns}
    from (
      select * from pawl.dead_letters as each
      where each.status = ${page.status}::text and each.id < ${page.beforeId ?? lastId}::uuid
        and (${page.lifecycle}::text is null or each.lifecycle = ${page.lifecycle}::text)
      order by each.id desc limit ${page.limit}::int
    ) as letter
    left join pawl.instances as instance on instance.id = letter.instance_id
    order by letter.id desc`);
}

/** Open ones of one kind, newest first. */
export function readLettersOfKind(
  db: Executor,
  page: Pick<LetterPage, "lifecycle" | "beforeId" | "limit"> & { readonly fingerprint: string },
): Promise<DeadLetterView[]> {
  return db.rows<DeadLetterView>(sql`
    select ${columns}
    from (
      select * from pawl.dead_letters as each
      where each.fingerprint = ${page.fingerprint}::text and each.status = 'open' and each.id < ${page.beforeId ?? lastId}::uuid
        and (${page.lifecycle}::text is null or each.lifecycle = ${page.lifecycle}::text)
      order by each.id desc limit ${page.limit}::int
    ) as letter
    left join pawl.instances as instance on instance.id = letter.instance_id
    order by letter.id desc`);
}

/** These, in the order of their ids. */
export function readLettersById(db: Executor, ids: readonly string[]): Promise<DeadLetterView[]> {
  return db.rows<DeadLetterView>(sql`
    select ${columns}
    from pawl.dead_letters as letter
    left join pawl.instances as instance on instance.id = letter.instance_id
    where letter.id = any((select ${textArray(ids)}::text)::uuid[])
    order by letter.id`);
}

/** Open letters that match, oldest first, after the end of the last page. */
export function readMatchingLetters(
  db: Executor,
  filter: LetterFilter,
  page: { afterId: string; limit: number },
): Promise<DeadLetterView[]> {
  return db.rows<DeadLetterView>(sql`
    select ${columns}
    from (
      select * from pawl.dead_letters as each
      where ${matchesFilter(filter)} and each.id > ${page.afterId}::uuid
      order by each.id limit ${page.limit}::int
    ) as letter
    left join pawl.instances as instance on instance.id = letter.instance_id
    order by letter.id`);
}

/** Open dead letters with the same place and error. */
export interface LetterGroupView {
  readonly fingerprint: string;
  readonly lifecycle: string;
  readonly kind: DeadLetterView["kind"];
  readonly origin: string;
  readonly pattern: string;
  readonly reasons: readonly string[];
  readonly letters: number;
  readonly first_ms: number;
  readonly last_ms: number;
  /** The newest of them, as an example. */
  readonly newest: string;
}

/** Groups of open dead letters, the largest first. */
export function readLetterGroups(db: Executor, filter: LetterFilter, limit: number): Promise<LetterGroupView[]> {
  return db.rows<LetterGroupView>(sql`
    select each.fingerprint, min(each.lifecycle) as lifecycle, min(each.kind) as kind, min(each.origin) as origin,
      min(each.pattern) as pattern, to_json(array_agg(distinct each.reason)) as reasons, count(*)::int as letters,
      pawl.ms(min(each.created_at)) as first_ms, pawl.ms(max(each.created_at)) as last_ms,
      max(each.id::text) as newest
    from pawl.dead_letters as each
    where ${matchesFilter(filter)}
    group by each.fingerprint
    order by count(*) desc, each.fingerprint limit ${limit}::int`);
}

/** Counts letters from the moment of an id on, up to `most`. */
export async function countLettersFrom(db: Executor, firstId: string, most: number): Promise<number> {
  const [counted] = await db.rows<{ letters: number }>(sql`
    select count(*)::int as letters from (
      select from pawl.dead_letters as letter
      where letter.id >= ${firstId}::uuid
        -- A callback that died and the instance that waited for it are one cause, and counted by the instance.
        and not (letter.kind = 'broker' and letter.instance_id is not null and exists (
          select from pawl.dead_letters as other
          where other.instance_id = letter.instance_id and other.kind <> 'broker' and other.id >= ${firstId}::uuid
        ))
      limit ${most}::int
    ) as few`);
  return counted!.letters;
}
