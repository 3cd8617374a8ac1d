import { type Executor, part, sql } from "../../store/port/db.ts";
import type { OperationDecision, OperationSubject } from "../store/operations.ts";

export interface OperationView {
  readonly id: string;
  readonly subject: OperationSubject;
  readonly decision: OperationDecision;
  /** The event that is sent. */
  readonly event: string | null;
  readonly filter: Readonly<Record<string, unknown>>;
  readonly restart: boolean;
  readonly actor: string | null;
  readonly reason: string | null;
  readonly per_second: number | null;
  readonly status: "running" | "done" | "aborted";
  readonly items: number;
  readonly created_ms: number;
  readonly ended_ms: number | null;
  readonly aborted_by: string | null;
  readonly abort_reason: string | null;
  /** Counts by outcome, without the remaining items. */
  readonly outcomes: Readonly<Record<string, number>>;
  /** The first few that did not go as they were to. */
  readonly refusals: readonly { readonly id: string; readonly outcome: string; readonly note: string | null }[];
}

const columns = part`
  operation.id::text as id, operation.subject, operation.decision, operation.settings ->> 'event' as event,
  operation.filter, operation.restart, operation.actor, operation.reason,
  operation.per_second, operation.status, operation.items, pawl.ms(operation.created_at) as created_ms,
  pawl.ms(operation.ended_at) as ended_ms, operation.aborted_by, operation.abort_reason,
  coalesce((
    select jsonb_object_agg(counted.outcome, counted.items)
    from (
      select each.outcome, count(*)::int as items from pawl.operation_items as each
      where each.operation_id = operation.id and each.outcome is not null group by each.outcome
    ) as counted
  ), '{}') as outcomes,
  coalesce((
    select jsonb_agg(jsonb_build_object('id', few.item_id, 'outcome', few.outcome, 'note', few.note))
    from (
      select each.item_id, each.outcome, each.note from pawl.operation_items as each
      where each.operation_id = operation.id and each.note is not null order by each.item_id limit 10
    ) as few
  ), '[]') as refusals`;

export async function readOperation(db: Executor, id: string): Promise<OperationView | undefined> {
  const [operation] = await db.rows<OperationView>(sql`
    select ${columns} from pawl.operations as operation where operation.id = ${id}::uuid`);
  return operation;
}

/** Operations, newest first. */
export function readOperations(db: Executor, limit: number): Promise<OperationView[]> {
  return db.rows<OperationView>(sql`
    select ${columns} from pawl.operations as operation order by operation.id desc limit ${limit}::int`);
}
