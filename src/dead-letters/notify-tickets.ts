import { messageOf } from "../base/errors.ts";
import { PermanentError } from "../base/step-errors.ts";
import type { Kernel } from "../kernel/kernel.ts";
import { settleWithin } from "../kernel/time-limit.ts";
import { exponential } from "../policy/retry.ts";
import { type Ticket, ticketOf } from "./results.ts";
import { claimDueTickets, markTicketDelivered } from "./store/tickets.ts";
import { readTicket } from "./views/tickets.ts";

const pauses = exponential({ first: "5s", factor: 2, cap: "1h", jitter: 0.2 });
/** About a day and a half. */
const maxAttempts = 40;
const batchSize = 20;
/** Longer than a notification may take. */
const heldMs = 120_000;
/** Shorter than the lease of the ticket. */
const limitMs = 60_000;

/** Calls `onTicket` for due tickets, each until the call succeeds; returns how many were delivered. */
export async function notifyTickets(kernel: Kernel, onTicket: (ticket: Ticket) => unknown): Promise<number> {
  const due = await claimDueTickets(kernel.db, batchSize, heldMs);
  await Promise.all(
    due.map(async (one) => {
      try {
        const ticket = await readTicket(kernel.db, one.id);
        if (ticket === undefined) return;
        await settleWithin(limitMs, "`onTicket`", () => onTicket(ticketOf(ticket)));
        await markTicketDelivered(kernel.db, one, null);
      } catch (error) {
        const isOver = error instanceof PermanentError || one.attempts >= maxAttempts;
        kernel.telemetry.log.warn(
          { ticket: one.id, attempts: one.attempts },
          `Ticket notification failed: ${messageOf(error)}`,
        );
        await markTicketDelivered(kernel.db, one, isOver ? null : pauses(one.attempts, Math.random()));
      }
    }),
  );
  return due.length;
}
