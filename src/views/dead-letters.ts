import { type Executor, sql, textArray } from "../store/db.ts";

export interface DeadLetterView {
  readonly id: string;
  readonly instance_id: string;
  readonly lifecycle: string;
  readonly kind: "instance" | "effect";
  readonly origin: string;
  readonly reason: string;
  readonly error: { name: string; message: string; stack?: string } | null;
  readonly attempts: number;
  readonly payload: unknown;
  readonly details: unknown;
  readonly created_ms: number;
}

const lastId = "ffffffff-ffff-ffff-ffff-ffffffffffff";

/** Open dead letters of these lifecycles, newest first. */
export function readDeadLetters(
  db: Executor,
  page: { lifecycles: readonly string[]; beforeId: string | null; limit: number },
): Promise<DeadLetterView[]> {
  return db.rows<DeadLetterView>(sql`
    select letter.id::text as id, letter.instance_id::text as instance_id, letter.lifecycle, letter.kind, letter.origin,
      letter.reason, letter.error, letter.attempts, letter.payload, letter.details, pawl.ms(letter.created_at) as created_ms
    from unnest((select ${textArray(page.lifecycles)}::text)::text[]) as lifecycle(name)
    cross join lateral (
      select * from pawl.dead_letters as each
      where each.lifecycle = lifecycle.name and each.status = 'open' and each.id < ${page.beforeId ?? lastId}::uuid
      order by each.id desc limit ${page.limit}::int
    ) as letter
    order by letter.id desc limit ${page.limit}::int`);
}
