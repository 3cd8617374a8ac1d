import { routesOf } from "../api/route.ts";
import {
  about,
  flag,
  id,
  listOf,
  mapOf,
  moment,
  named,
  number,
  oneOf,
  orNull,
  record,
  shape,
  text,
  whole,
} from "../api/schema.ts";
import { actor, cause, page } from "../api/usual-arguments.ts";
import type { OperationAnswer, TicketAnswer } from "../contract.ts";

/** A decision about many dead letters, and how far it is. */
export const operation = named(
  "Operation",
  shape<OperationAnswer>({
    id,
    decision: oneOf("requeue", "discard"),
    filter: record,
    restart: flag,
    actor: orNull(text),
    reason: orNull(text),
    rate: about(orNull(number), "So many letters a second at the most."),
    status: oneOf("running", "done", "aborted"),
    letters: about(whole, "How many it is about."),
    done: about(whole, "Of how many it is known what became of them."),
    outcomes: mapOf(whole),
    refusals: listOf(shape<OperationAnswer["refusals"][number]>({ letter: id, outcome: text, note: orNull(text) })),
    createdAt: moment,
    endedAt: orNull(moment),
    abortedBy: orNull(text),
    abortReason: orNull(text),
  }),
);

const ticket = named(
  "Ticket",
  shape<TicketAnswer>({
    id: about(id, "That of its dead letter."),
    status: oneOf("open", "taken", "resolved"),
    lifecycle: text,
    kind: oneOf("instance", "effect", "message", "broker"),
    origin: text,
    reason: text,
    pattern: text,
    fingerprint: text,
    openedAt: moment,
    takenBy: orNull(text),
    takenAt: orNull(moment),
    resolvedBy: orNull(text),
    resolvedAt: orNull(moment),
    resolution: orNull(text),
  }),
);

const { get, post } = routesOf("Operations");

export const operationRoutes = [
  get("operations", "/operations", "look", {
    summary: "Decisions about many dead letters, newest first, and how far they are.",
    takes: { limit: whole },
    answer: listOf(operation),
    call: (pawl, options) => pawl.operations.list(options),
  }),
  get("operation", "/operations/{id}", "look", {
    summary: "One operation.",
    answer: operation,
    call: (pawl, { id }) => pawl.operations.get(id),
  }),
  post("abortOperation", "/operations/{id}/abort", "operate", {
    summary: "Begin nothing more of an operation. What it has done stays done.",
    takes: cause,
    answer: operation,
    call: (pawl, { id, ...cause }) => pawl.operations.abort(id, cause),
  }),
  post("carryOnOperation", "/operations/{id}/carry-on", "operate", {
    summary: "Do the next batch of an operation now, if its pace allows.",
    answer: operation,
    call: (pawl, { id }) => pawl.operations.runBatch(id),
  }),
  get("tickets", "/tickets", "look", {
    summary: "Dead letters that want somebody, the oldest first.",
    takes: { status: oneOf("open", "taken", "resolved"), takenBy: text, ...page },
    answer: listOf(ticket),
    call: (pawl, { after: last, ...filter }) =>
      pawl.deadLetters.tickets.list(last === undefined ? filter : { ...filter, after: { id: last } }),
  }),
  post("takeTicket", "/tickets/{id}/take", "operate", {
    summary: "Look after a ticket. One that another has taken is refused.",
    takes: actor,
    needs: ["actor"],
    answer: ticket,
    call: (pawl, { id, actor }) => pawl.deadLetters.tickets.assign(id, { to: actor }),
  }),
  post("resolveTicket", "/tickets/{id}/resolve", "operate", {
    summary: "Nothing is left to be looked at; the dead letter itself stays as it is.",
    takes: cause,
    needs: ["reason", "actor"],
    answer: ticket,
    call: (pawl, { id, ...decision }) => pawl.deadLetters.tickets.resolve(id, decision),
  }),
];
