import { type Executor, part, sql, textArray } from "../../store/port/db.ts";

/** Whether only some labelers may work on a row called `queue`. */
export const isRestricted = part`(queue.settings -> 'labelers' <> 'null'::jsonb or queue.settings -> 'skills' <> '[]'::jsonb)`;

/** A queue as it is stored. */
export interface QueueRow {
  readonly name: string;
  readonly source: "code" | "run_time";
  readonly active: boolean;
  readonly settings: Record<string, unknown>;
  readonly label_schema: Record<string, unknown>;
  readonly label_code: boolean;
  readonly created_ms: number;
  readonly updated_ms: number;
}

/** A queue to be stored. */
export interface NewQueue {
  readonly name: string;
  readonly source: QueueRow["source"];
  readonly settingsText: string;
  readonly labelSchemaText: string;
  readonly labelCode: boolean;
}

export function readQueues(db: Executor, names: readonly string[]): Promise<QueueRow[]> {
  return db.rows<QueueRow>(sql`
    select queue.name, queue.source, queue.active, queue.settings, queue.label_schema, queue.label_code, pawl.ms(queue.created_at) as created_ms,
      pawl.ms(queue.updated_at) as updated_ms
    from unnest((select ${textArray(names)}::text)::text[]) as wanted(name)
    cross join lateral (select * from pawl.queues as each where each.name = wanted.name offset 0) as queue`);
}

export function readAllQueues(db: Executor): Promise<QueueRow[]> {
  return db.rows<QueueRow>(sql`
    select name, source, active, settings, label_schema, label_code, pawl.ms(created_at) as created_ms, pawl.ms(updated_at) as updated_ms
    from pawl.queues order by name`);
}

/** Whether there is any queue at all. */
export async function hasQueues(db: Executor): Promise<boolean> {
  return (await db.rows(sql`select name from pawl.queues limit 1`)).length > 0;
}

/** Inserts a new queue; returns whether it was inserted. */
export async function insertQueue(db: Executor, queue: NewQueue): Promise<boolean> {
  const written = await db.rows(sql`
    insert into pawl.queues (name, source, settings, label_schema, label_code, created_at, updated_at)
    values (${queue.name}::text, ${queue.source}::text, ${queue.settingsText}::text::jsonb, ${queue.labelSchemaText}::text::json,
      ${queue.labelCode}::boolean, pawl.now(), pawl.now())
    on conflict do nothing
    returning name`);
  return written.length > 0;
}

/** Updates the definition of a queue, but not whether it is active. */
export async function putQueue(db: Executor, queue: NewQueue): Promise<void> {
  await db.rows(sql`
    insert into pawl.queues as known (name, source, settings, label_schema, label_code, created_at, updated_at)
    values (${queue.name}::text, ${queue.source}::text, ${queue.settingsText}::text::jsonb, ${queue.labelSchemaText}::text::json,
      ${queue.labelCode}::boolean, pawl.now(), pawl.now())
    on conflict (name) do update
    set source = excluded.source, settings = excluded.settings, label_schema = excluded.label_schema,
      label_code = excluded.label_code, updated_at = excluded.updated_at, eligibility = known.eligibility + 1
    where (known.source, known.settings, known.label_schema::text, known.label_code)
      is distinct from (excluded.source, excluded.settings, excluded.label_schema::text, excluded.label_code)`);
}

/** Activates or deactivates a queue; returns whether it exists. */
export async function markQueue(db: Executor, name: string, active: boolean): Promise<boolean> {
  const marked = await db.rows(sql`
    update pawl.queues set active = ${active}::boolean, updated_at = pawl.now() where name = ${name}::text returning name`);
  return marked.length > 0;
}

/** Queues whose samples must be checked for an eligible labeler, up to the change that was read. */
export function readUncheckedQueues(
  db: Executor,
): Promise<(Pick<QueueRow, "name" | "settings"> & { readonly eligibility: number })[]> {
  return db.rows(sql`
    select name, settings, eligibility from pawl.queues where eligibility > eligibility_checked order by name`);
}

/** Records that the samples of a queue were checked. A change made since then keeps it unchecked. */
export async function markQueueChecked(db: Executor, name: string, eligibility: number): Promise<void> {
  await db.rows(sql`
    update pawl.queues set eligibility_checked = greatest(eligibility_checked, ${eligibility}::int) where name = ${name}::text`);
}
