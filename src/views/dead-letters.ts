import { type Executor, part, sql, textArray } from "../store/db.ts";

export interface DeadLetterView {
  readonly id: string;
  readonly instance_id: string;
  readonly key: string | null;
  readonly lifecycle: string;
  readonly kind: "instance" | "effect";
  readonly origin: string;
  readonly reason: string;
  readonly error: { name: string; message: string; stack?: string } | null;
  readonly attempts: number;
  readonly payload: unknown;
  readonly details: unknown;
  readonly status: "open" | "requeued" | "discarded" | "archived";
  readonly created_ms: number;
  readonly decided_ms: number | null;
  readonly decided_by: string | null;
  readonly decision: string | null;
}

const lastId = "ffffffff-ffff-ffff-ffff-ffffffffffff";

const columns = part`
  letter.id::text as id, letter.instance_id::text as instance_id, instance.key, letter.lifecycle, letter.kind, letter.origin,
  letter.reason, letter.error, letter.attempts, letter.payload, letter.details, letter.status,
  pawl.ms(letter.created_at) as created_ms, pawl.ms(letter.decided_at) as decided_ms, letter.decided_by, letter.decision`;

export interface LetterPage {
  readonly lifecycles: readonly string[];
  readonly beforeId: string | null;
  readonly limit: number;
}

/** Open dead letters of these lifecycles, newest first. */
export function readOpenLetters(db: Executor, page: LetterPage): Promise<DeadLetterView[]> {
  return db.rows<DeadLetterView>(sql`
    select ${columns}
    from unnest((select ${textArray(page.lifecycles)}::text)::text[]) as lifecycle(name)
    cross join lateral (
      select * from pawl.dead_letters as each
      where each.lifecycle = lifecycle.name and each.status = 'open' and each.id < ${page.beforeId ?? lastId}::uuid
      order by each.id desc limit ${page.limit}::int
    ) as letter
    left join pawl.instances as instance on instance.id = letter.instance_id
    order by letter.id desc limit ${page.limit}::int`);
}

/** Dead letters that were decided, newest first. */
export function readDecidedLetters(
  db: Executor,
  status: DeadLetterView["status"],
  page: LetterPage,
): Promise<DeadLetterView[]> {
  return db.rows<DeadLetterView>(sql`
    select ${columns}
    from (
      select * from pawl.dead_letters as each
      where each.lifecycle = any((select ${textArray(page.lifecycles)}::text)::text[]) and each.status = ${status}::text
        and each.id < ${page.beforeId ?? lastId}::uuid
      order by each.id desc limit ${page.limit}::int
    ) as letter
    left join pawl.instances as instance on instance.id = letter.instance_id
    order by letter.id desc`);
}

export async function readDeadLetter(db: Executor, id: string): Promise<DeadLetterView | undefined> {
  const [letter] = await db.rows<DeadLetterView>(sql`
    select ${columns}
    from pawl.dead_letters as letter
    left join pawl.instances as instance on instance.id = letter.instance_id
    where letter.id = ${id}::uuid`);
  return letter;
}

/** The newest open dead letter about an instance. */
export async function readLetterAbout(
  db: Executor,
  instanceId: string,
): Promise<{ id: string; reason: string } | undefined> {
  const [letter] = await db.rows<{ id: string; reason: string }>(sql`
    select id::text as id, reason from pawl.dead_letters
    where instance_id = ${instanceId}::uuid and status = 'open' and kind = 'instance'
    order by id desc limit 1`);
  return letter;
}
