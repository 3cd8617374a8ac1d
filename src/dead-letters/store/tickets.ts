import { type Executor, sql } from "../../store/port/db.ts";

/** Assigns a ticket; false if it is resolved, or assigned to another person. */
export async function markAssigned(db: Executor, letterId: string, actor: string): Promise<boolean> {
  const rows = await db.rows(sql`
    update pawl.tickets
    set status = 'taken', taken_by = ${actor}::text, taken_at = pawl.now()
    where letter_id = ${letterId}::uuid and (status = 'open' or (status = 'taken' and taken_by = ${actor}::text))
    returning letter_id::text as id`);
  return rows.length > 0;
}

/** Resolves a ticket; false if it was resolved already. */
export async function markResolved(
  db: Executor,
  letterId: string,
  by: { readonly actor: string; readonly reason: string },
): Promise<boolean> {
  const rows = await db.rows(sql`
    update pawl.tickets
    set status = 'resolved', resolved_by = ${by.actor}::text, resolved_at = pawl.now(), resolution = ${by.reason}::text, due_at = null
    where letter_id = ${letterId}::uuid and status <> 'resolved'
    returning letter_id::text as id`);
  return rows.length > 0;
}

/** A ticket that a process is delivering. */
export interface DueTicket {
  readonly id: string;
  readonly attempts: number;
}

/** Claims tickets to deliver, each for a while: a process that dies loses them then. */
export function claimDueTickets(db: Executor, limit: number, heldMs: number): Promise<DueTicket[]> {
  return db.rows<DueTicket>(sql`
    with clock as materialized (select pawl.now() as now),
    due as materialized (
      select each.letter_id from clock, pawl.tickets as each
      where each.due_at is not null and each.due_at <= clock.now
      order by each.due_at limit ${limit}::int for update of each skip locked
    )
    update pawl.tickets as ticket
    set due_at = clock.now + ${heldMs}::float8 * interval '1 millisecond', attempts = ticket.attempts + 1
    from due, clock where ticket.letter_id = due.letter_id
    returning ticket.letter_id::text as id, ticket.attempts`);
}

/** Records the outcome of a delivery: null when it succeeded. */
export async function markTicketDelivered(
  db: Executor,
  { id, attempts }: DueTicket,
  retryAfterMs: number | null,
): Promise<void> {
  await db.rows(sql`
    update pawl.tickets set due_at = pawl.now() + ${retryAfterMs}::float8 * interval '1 millisecond'
    where letter_id = ${id}::uuid and attempts = ${attempts}::int and due_at is not null`);
}
