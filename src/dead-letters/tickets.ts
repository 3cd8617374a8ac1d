import { PawlError } from "../base/errors.ts";
import { checkedLimit, checkedOptions, textOrNull } from "../base/options.ts";
import { checkedText } from "../base/text.ts";
import { type Kernel, refuseInside } from "../kernel/kernel.ts";
import { assignTicket, resolveTicket } from "./decide-tickets.ts";
import { idOf } from "./options.ts";
import { type Ticket, ticketOf } from "./results.ts";
import { readTickets } from "./views/tickets.ts";

export interface TicketsOptions {
  /**
   * The status of the tickets.
   * @default "open"
   */
  readonly status?: Ticket["status"];
  /** Only those that are assigned to this person. */
  readonly assignee?: string;
  readonly limit?: number;
  /** Continues after the last item of the page before. */
  readonly after?: { readonly id: string };
}

export interface AssignTicketOptions {
  /** The person to assign it to. */
  readonly to: string;
}

const firstId = "00000000-0000-0000-0000-000000000000";

/** Tickets: dead letters that a person must handle. `pawl.deadLetters.tickets`. */
export class Tickets {
  readonly #kernel: Kernel;

  /** @internal */
  constructor(kernel: Kernel) {
    this.#kernel = kernel;
  }

  /** Lists tickets, oldest first. */
  async list(options: TicketsOptions = {}): Promise<Ticket[]> {
    refuseInside(this.#kernel, "deadLetters.tickets.list");
    const keys = ["status", "assignee", "limit", "after"];
    const { status = "open", assignee, limit = 100, after } = checkedOptions(options, keys, "deadLetters.tickets.list");
    if (!["open", "assigned", "resolved"].includes(status))
      throw new PawlError("option_invalid", "`status` must be open, assigned or resolved.");
    const rows = await readTickets(this.#kernel.db, {
      status,
      assignee: textOrNull(assignee, "`assignee`"),
      limit: checkedLimit(limit),
      afterId: after === undefined ? firstId : idOf(after.id, "a ticket"),
    });
    return rows.map(ticketOf);
  }

  /** Assigns a ticket to a person. One that is assigned to another is refused with `ticket_assigned`. */
  async assign(id: string, options: AssignTicketOptions): Promise<Ticket> {
    refuseInside(this.#kernel, "deadLetters.tickets.assign");
    const { to } = checkedOptions(options, ["to"], "deadLetters.tickets.assign");
    return ticketOf(await assignTicket(this.#kernel, idOf(id, "a ticket"), checkedText(to, "`to`")));
  }

  /** Resolves a ticket; its dead letter does not change. A decision about the letter resolves its ticket, too. */
  async resolve(id: string, options: { actor: string; reason: string }): Promise<Ticket> {
    refuseInside(this.#kernel, "deadLetters.tickets.resolve");
    const { actor, reason } = checkedOptions(options, ["actor", "reason"], "deadLetters.tickets.resolve");
    const by = { actor: checkedText(actor, "The actor"), reason: checkedText(reason, "The reason") };
    return ticketOf(await resolveTicket(this.#kernel, idOf(id, "a ticket"), by));
  }
}
