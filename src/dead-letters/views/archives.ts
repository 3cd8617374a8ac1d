import { type Executor, sql, textArray } from "../../store/port/db.ts";

export interface ArchiveView {
  readonly name: string;
  readonly store: string;
  readonly letters: number;
  readonly bytes: number;
  readonly sha256: string;
  readonly created_ms: number;
}

/** The archived files, newest first; for letters in several files, the newer file counts. */
export function readArchives(db: Executor, limit: number): Promise<ArchiveView[]> {
  return db.rows<ArchiveView>(sql`
    select name, store, letters, bytes, sha256, pawl.ms(created_at) as created_ms
    from pawl.archives order by name desc limit ${limit}::int`);
}

/** The files in which these letters can be, by the range of their ids. */
export function readArchivesAround(db: Executor, ids: readonly string[]): Promise<ArchiveView[]> {
  return db.rows<ArchiveView>(sql`
    select archive.name, archive.store, archive.letters, archive.bytes, archive.sha256, pawl.ms(archive.created_at) as created_ms
    from pawl.archives as archive
    where exists (
      select from unnest((select ${textArray(ids)}::text)::uuid[]) as wanted(id)
      where wanted.id between archive.first_id and archive.last_id
    )
    order by archive.name desc`);
}
