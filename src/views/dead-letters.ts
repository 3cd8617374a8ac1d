import { type Executor, part, sql } from "../store/db.ts";

export interface DeadLetterView {
  readonly id: string;
  /** Null for a message that no instance published. */
  readonly instance_id: string | null;
  /** The task or the message that was given up last, if it was one. */
  readonly task_id: string | null;
  readonly key: string | null;
  readonly lifecycle: string;
  readonly kind: "instance" | "effect" | "message";
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
  letter.id::text as id, letter.instance_id::text as instance_id,
  letter.task_id::text as task_id, instance.key, letter.lifecycle, letter.kind, letter.origin,
  letter.reason, letter.error, letter.attempts, letter.payload, letter.details, letter.status,
  pawl.ms(letter.created_at) as created_ms, pawl.ms(letter.decided_at) as decided_ms, letter.decided_by, letter.decision`;

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
