import { type Executor, sql, textArray } from "./port/db.ts";

/** A registered definition. */
export interface DefinitionRow {
  readonly name: string;
  readonly version: number;
  readonly hash: string;
  readonly shapeText: string;
  readonly retentionMs: number | null;
  readonly edges: readonly { from: string; event: string; to: string }[];
}

export interface KnownDefinition {
  readonly name: string;
  readonly version: number;
  readonly shapes: string[];
  readonly keep_closed_ms: number | null;
  readonly shape: {
    edges: { from: string; event: string; to: string }[];
    states: { name: string; kind: string }[];
    /** Its failed instances recover by themselves. */
    recovers?: boolean;
    /** The waiting states that surely have a timer. */
    timed?: string[];
  };
}

/**
 * Everything registered under these names, read under the lock of registrations: no other process registers meanwhile.
 */
export async function lockDefinitions(tx: Executor, names: readonly string[]): Promise<KnownDefinition[]> {
  await tx.rows(sql`select pg_advisory_xact_lock(7296)`);
  return readDefinitions(tx, names);
}

export function readDefinitions(db: Executor, names: readonly string[]): Promise<KnownDefinition[]> {
  return db.rows<KnownDefinition>(sql`
    select name, version, shapes, shape, (extract(epoch from keep_closed) * 1000)::float8 as keep_closed_ms
    from pawl.lifecycles
    where name = any((select ${textArray(names)}::text)::text[])
    order by name, version`);
}

/** The retention of ended instances is no part of a definition's shape: the process that started last sets it. */
export async function markRetention(
  tx: Executor,
  definition: { name: string; version: number },
  retentionMs: number | null,
): Promise<void> {
  await tx.rows(sql`
    update pawl.lifecycles set keep_closed = ${retentionMs}::float8 * interval '1 millisecond'
    where name = ${definition.name}::text and version = ${definition.version}::int`);
}

/** Which waiting states have a timer, and since when: no part of the shape, either. */
export async function markTimed(
  tx: Executor,
  definition: { name: string; version: number },
  timed: readonly string[],
): Promise<void> {
  await tx.rows(sql`
    update pawl.lifecycles
    set shape = shape || jsonb_build_object(
      'timed', to_jsonb((select ${textArray(timed)}::text)::text[]), 'timed_ms', pawl.ms(pawl.now()))
    where name = ${definition.name}::text and version = ${definition.version}::int`);
}

/** Registers a definition, new or extended, with its edges. */
export async function putDefinition(tx: Executor, row: DefinitionRow): Promise<void> {
  await tx.rows(sql`
    insert into pawl.lifecycles as known (name, version, shapes, shape, keep_closed)
    values (${row.name}::text, ${row.version}::int, array[${row.hash}::text], ${row.shapeText}::text::jsonb,
      ${row.retentionMs}::float8 * interval '1 millisecond')
    on conflict (name, version) do update
    set shapes = known.shapes || excluded.shapes, shape = excluded.shape, keep_closed = excluded.keep_closed`);
  await tx.rows(sql`
    insert into pawl.edges (lifecycle, version, from_state, event, to_state)
    select ${row.name}::text, ${row.version}::int, edge.from_state, edge.event, edge.to_state
    from unnest(
      (select ${textArray(row.edges.map((edge) => edge.from))}::text)::text[],
      (select ${textArray(row.edges.map((edge) => edge.event))}::text)::text[],
      (select ${textArray(row.edges.map((edge) => edge.to))}::text)::text[]
    ) as edge(from_state, event, to_state)
    on conflict do nothing`);
}
