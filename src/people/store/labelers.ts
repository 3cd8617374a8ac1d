import { type Executor, sql, textArray } from "../../store/port/db.ts";
import { isRestricted } from "./queues.ts";

/** A labeler. */
export interface LabelerRow {
  readonly id: string;
  readonly name: string | null;
  readonly skills: string[];
  readonly active: boolean;
  readonly created_ms: number;
}

export function readAllLabelers(db: Executor): Promise<LabelerRow[]> {
  return db.rows<LabelerRow>(sql`
    select id, name, to_json(skills) as skills, active, pawl.ms(created_at) as created_ms from pawl.labelers order by id`);
}

/**
 * Writes a labeler; null keeps the stored value. If the change affects what the labeler may work on, it marks the
 * samples of restricted queues to be checked again. The earlier row is locked first, so that of two concurrent changes
 * the second sees the first; queues are locked in the order of their names.
 */
export async function upsertLabeler(
  db: Executor,
  labeler: { id: string; name: string | null; skills: readonly string[] | null; active: boolean | null },
): Promise<LabelerRow> {
  const skills = labeler.skills === null ? null : textArray(labeler.skills);
  const [row] = await db.rows<LabelerRow>(sql`
    with earlier as materialized (
      select each.active, each.skills from pawl.labelers as each where each.id = ${labeler.id}::text for update
    ),
    written as (
      insert into pawl.labelers as known (id, name, skills, active, created_at)
      select ${labeler.id}::text, ${labeler.name}::text, coalesce(${skills}::text::text[], '{}'),
        coalesce(${labeler.active}::boolean, true), pawl.now()
      from (select count(*) from earlier) as locked
      on conflict (id) do update
      set name = coalesce(${labeler.name}::text, known.name), skills = coalesce(${skills}::text::text[], known.skills),
        active = coalesce(${labeler.active}::boolean, known.active)
      returning id, name, skills, active, created_at
    ),
    affected as materialized (
      select queue.name
      from pawl.queues as queue
      where ${isRestricted}
        and exists (
          select from written left join earlier on true
          where (earlier.active, earlier.skills) is distinct from (written.active, written.skills)
            and (queue.settings -> 'labelers' = 'null'::jsonb or queue.settings -> 'labelers' @> to_jsonb(written.id))
        )
      order by queue.name
      for no key update of queue
    ),
    unchecked as (
      update pawl.queues as queue set eligibility = queue.eligibility + 1
      from affected where queue.name = affected.name
    )
    select id, name, to_json(skills) as skills, active, pawl.ms(created_at) as created_ms from written`);
  return row!;
}

/**
 * Eligible labelers, up to a limit: those of a list, or else all known labelers, that are active and have all the
 * skills. A listed labeler need not be known if no skill is required.
 */
export async function readEligible(
  db: Executor,
  wanted: { readonly among: readonly string[] | null; readonly skills: readonly string[] },
  most: number,
): Promise<string[]> {
  const { among, skills } = wanted;
  const found =
    among === null
      ? await db.rows<{ id: string }>(sql`
          select id from pawl.labelers
          where active and skills @> (select ${textArray(skills)}::text)::text[]
          limit ${most}::int`)
      : await db.rows<{ id: string }>(sql`
          select wanted.id
          from unnest((select ${textArray(among)}::text)::text[]) as wanted(id)
          left join lateral (
            select each.active, each.skills from pawl.labelers as each where each.id = wanted.id offset 0
          ) as known on true
          where known.active is not false and coalesce(known.skills, '{}') @> (select ${textArray(skills)}::text)::text[]
          limit ${most}::int`);
  return found.map((one) => one.id);
}
