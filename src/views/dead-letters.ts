import { type Executor, part, sql } from "../store/port/db.ts";

export interface DeadLetterView {
  readonly id: string;
  /** Null for a message that no instance published. */
  readonly instance_id: string | null;
  /** The task or the message that failed last, if it was one. */
  readonly task_id: string | null;
  readonly key: string | null;
  readonly lifecycle: string;
  readonly kind: "instance" | "effect" | "message" | "broker";
  readonly origin: string;
  readonly reason: string;
  readonly error: { name: string; message: string; stack?: string } | null;
  readonly attempts: number;
  readonly payload: unknown;
  readonly details: unknown;
  /** Its error without what differs from case to case, and what letters of one group have in common. */
  readonly pattern: string;
  readonly fingerprint: string;
  readonly status: "open" | "requeued" | "discarded" | "archived";
  readonly created_ms: number;
  readonly decided_ms: number | null;
  readonly decided_by: string | null;
  readonly decision: string | null;
}

/** The columns of the row `letter`, and of its `instance`. A part of the statements that list dead letters. */
export const columns = part`
  letter.id::text as id, letter.instance_id::text as instance_id,
  letter.task_id::text as task_id, instance.key, letter.lifecycle, letter.kind, letter.origin,
  letter.reason, letter.error, letter.attempts, letter.payload, letter.details, letter.pattern,
  letter.fingerprint, letter.status,
  pawl.ms(letter.created_at) as created_ms, pawl.ms(letter.decided_at) as decided_ms, letter.decided_by, letter.decision`;

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
