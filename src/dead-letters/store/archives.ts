import { type Executor, sql, textArray } from "../../store/port/db.ts";

/** A dead letter as it is archived: all stored columns, as one line of JSON. */
export interface ArchivableLetter {
  readonly id: string;
  readonly line: string;
  /** The row as it was read: it is deleted only if it has not changed. */
  readonly status: string;
  readonly created_ms: number;
}

/** Counts dead letters, up to `most`. */
export async function countLetters(db: Executor, most: number): Promise<number> {
  const [counted] = await db.rows<{ letters: number }>(sql`
    select count(*)::int as letters from (select from pawl.dead_letters limit ${most}::int) as few`);
  return counted!.letters;
}

/**
 * The oldest dead letters that were written or restored before a moment, or the oldest of any age if there is none: up
 * to a number, and up to the size of one file.
 */
export function readOldestLetters(
  db: Executor,
  page: { olderThanMs: number | null; limit: number; maxBytes: number },
): Promise<ArchivableLetter[]> {
  return db.rows<ArchivableLetter>(sql`
    with oldest as materialized (
      select each.id, each.status, each.created_at, coalesce(each.restored_at, each.created_at) as kept_from,
        (to_jsonb(each) - 'pattern' - 'fingerprint' - 'restored_at')::text as line
      from pawl.dead_letters as each
      where ${page.olderThanMs}::float8 is null
        or coalesce(each.restored_at, each.created_at) < pawl.now() - ${page.olderThanMs}::float8 * interval '1 millisecond'
      order by coalesce(each.restored_at, each.created_at), each.id limit ${page.limit}::int
    ),
    sized as (
      select oldest.*, sum(octet_length(line)) over (order by kept_from, id) - octet_length(line) as before from oldest
    )
    select id::text as id, line, status, pawl.ms(created_at) as created_ms from sized
    where before <= ${page.maxBytes}::float8
    order by kept_from, id`);
}

/** An archived file. */
export interface ArchivedFile {
  readonly name: string;
  readonly store: string;
  readonly bytes: number;
  readonly sha256: string;
}

/**
 * Deletes archived letters that were not decided meanwhile, and records the file and the time up to which letters were
 * removed; returns how many.
 */
export async function removeArchived(
  db: Executor,
  file: ArchivedFile,
  letters: readonly ArchivableLetter[],
): Promise<number> {
  const ids = letters.map((letter) => letter.id).sort();
  const [removed] = await db.rows<{ letters: number }>(sql`
    with archived as materialized (
      select archived.id, archived.status
      from unnest(
        (select ${textArray(letters.map((letter) => letter.id))}::text)::uuid[],
        (select ${textArray(letters.map((letter) => letter.status))}::text)::text[]
      ) as archived(id, status)
    ),
    gone as (
      delete from pawl.dead_letters as letter using archived
      where letter.id = archived.id and letter.status = archived.status
      returning letter.created_at
    ),
    noted as (
      insert into pawl.archives (name, store, letters, bytes, sha256, first_id, last_id, created_at)
      select ${file.name}::text, ${file.store}::text, ${letters.length}::int, ${file.bytes}::int, ${file.sha256}::text,
        ${ids[0]!}::uuid, ${ids.at(-1)!}::uuid, pawl.now()
      where exists (select from gone)
      on conflict (name) do nothing
    ),
    reached as (
      insert into pawl.pruned as pruned (what, up_to)
      select 'dead_letters', max(gone.created_at) from gone having count(*) > 0
      on conflict (what) do update set up_to = greatest(pruned.up_to, excluded.up_to)
    )
    select count(*)::int as letters from gone`);
  return removed!.letters;
}

/** The outcome of a restore. */
export interface RestoredLetters {
  /** They are back. */
  readonly restored: number;
  /** They, or others with the same cause, were never removed or are restored already. */
  readonly there: number;
  /** The instances that they are about no longer exist. */
  readonly gone: number;
}

/** Restores letters unchanged. Idempotent. */
export async function restoreLetters(db: Executor, lines: readonly string[]): Promise<RestoredLetters> {
  const [answer] = await db.rows<RestoredLetters>(sql`
    with old as materialized (
      select letter.* from unnest((select ${textArray(lines)}::text)::text[]) as given(line)
      cross join lateral jsonb_populate_record(null::pawl.dead_letters, given.line::jsonb) as letter
    ),
    homeless as materialized (
      select old.id, old.kind in ('message', 'broker') as is_loose from old
      where old.instance_id is not null and not exists (select from pawl.instances as instance where instance.id = old.instance_id)
    ),
    back as (
      insert into pawl.dead_letters (
        id, instance_id, lifecycle, kind, origin, reason, error, attempts, payload, task_id, token, status, created_at,
        decided_at, cause, version, details, work, decided_by, decision, restored_at
      )
      select id, case when id not in (select id from homeless) then instance_id end, lifecycle, kind, origin, reason, error,
        attempts, payload, task_id, token, status, created_at, decided_at, cause, version, details, work, decided_by, decision,
        pawl.now()
      from old where old.id not in (select id from homeless where not is_loose)
      on conflict do nothing
      returning id
    )
    select (select count(*)::int from back) as restored, (select count(*)::int from homeless where not is_loose) as gone,
      ((select count(*) from old) - (select count(*) from back) - (select count(*) from homeless where not is_loose))::int as there`);
  return answer!;
}
