import { type Executor, part, sql } from "../../store/port/db.ts";

export interface TicketView {
  /** The id of its dead letter. */
  readonly id: string;
  readonly status: "open" | "assigned" | "resolved";
  readonly opened_ms: number;
  readonly assignee: string | null;
  readonly assigned_ms: number | null;
  readonly resolved_by: string | null;
  readonly resolved_ms: number | null;
  readonly resolution: string | null;
  readonly lifecycle: string;
  readonly kind: "instance" | "effect" | "message" | "broker";
  readonly origin: string;
  readonly reason: string;
  readonly pattern: string;
  readonly fingerprint: string;
}

const columns = part`
  ticket.letter_id::text as id, case ticket.status when 'taken' then 'assigned' else ticket.status end as status,
  pawl.ms(ticket.opened_at) as opened_ms, ticket.taken_by as assignee, pawl.ms(ticket.taken_at) as assigned_ms,
  ticket.resolved_by, pawl.ms(ticket.resolved_at) as resolved_ms, ticket.resolution,
  letter.lifecycle, letter.kind, letter.origin, letter.reason, letter.pattern, letter.fingerprint`;

export interface TicketPage {
  readonly status: TicketView["status"];
  readonly assignee: string | null;
  readonly afterId: string;
  readonly limit: number;
}

/** Tickets, oldest first. */
export function readTickets(db: Executor, page: TicketPage): Promise<TicketView[]> {
  return db.rows<TicketView>(sql`
    select ${columns}
    from pawl.tickets as ticket
    join pawl.dead_letters as letter on letter.id = ticket.letter_id
    where ticket.status = case ${page.status}::text when 'assigned' then 'taken' else ${page.status}::text end
      and ticket.letter_id > ${page.afterId}::uuid
      and (${page.assignee}::text is null or ticket.taken_by = ${page.assignee}::text)
    order by ticket.letter_id limit ${page.limit}::int`);
}

export async function readTicket(db: Executor, id: string): Promise<TicketView | undefined> {
  const [ticket] = await db.rows<TicketView>(sql`
    select ${columns}
    from pawl.tickets as ticket
    join pawl.dead_letters as letter on letter.id = ticket.letter_id
    where ticket.letter_id = ${id}::uuid`);
  return ticket;
}
