import { PawlError } from "../base/errors.ts";
import type { Kernel } from "../kernel/kernel.ts";
import { letterUnknown } from "../kernel/recovery/requeue.ts";
import { markAssigned, markResolved } from "./store/tickets.ts";
import { readTicket, type TicketView } from "./views/tickets.ts";

/** Assigns a ticket to a person. Idempotent; refused if another person has it. */
export async function assignTicket(kernel: Kernel, id: string, actor: string): Promise<TicketView> {
  const isAssigned = await markAssigned(kernel.db, id, actor);
  const ticket = await knownTicket(kernel, id);
  if (!isAssigned) throw ticketConflict(ticket);
  return ticket;
}

/** Resolves a ticket. The dead letter itself does not change. */
export async function resolveTicket(
  kernel: Kernel,
  id: string,
  by: { actor: string; reason: string },
): Promise<TicketView> {
  const isDone = await markResolved(kernel.db, id, by);
  const ticket = await knownTicket(kernel, id);
  if (!isDone) throw ticketConflict(ticket);
  return ticket;
}

async function knownTicket(kernel: Kernel, id: string): Promise<TicketView> {
  const ticket = await readTicket(kernel.db, id);
  if (ticket === undefined) throw letterUnknown(id);
  return ticket;
}

function ticketConflict({ id, status, assignee, resolved_by }: TicketView): PawlError {
  const how =
    status === "resolved" ? `resolved${resolved_by === null ? "" : ` by ${resolved_by}`}` : `assigned to ${assignee}`;
  return new PawlError("ticket_assigned", `Ticket ${id} is already ${how}; nothing was changed.`, {
    ticket: id,
    status,
  });
}
