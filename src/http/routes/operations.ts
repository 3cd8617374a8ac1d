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
import type { OperationResponse, TicketResponse } from "../contract.ts";

/** A decision about many dead letters, and its progress. */
export const operation = named(
  "Operation",
  shape<OperationResponse>({
    id,
    decision: oneOf("requeue", "discard"),
    filter: record,
    restart: flag,
    actor: orNull(text),
    reason: orNull(text),
    rate: about(orNull(number), "The maximum number of dead letters per second."),
    status: oneOf("running", "done", "aborted"),
    letters: about(whole, "The number of its dead letters."),
    done: about(whole, "The number of processed dead letters."),
    outcomes: mapOf(whole),
    refusals: listOf(shape<OperationResponse["refusals"][number]>({ letter: id, outcome: text, note: orNull(text) })),
    createdAt: moment,
    endedAt: orNull(moment),
    abortedBy: orNull(text),
    abortReason: orNull(text),
  }),
);

const ticket = named(
  "Ticket",
  shape<TicketResponse>({
    id: about(id, "The id of the dead letter."),
    status: oneOf("open", "assigned", "resolved"),
    lifecycle: text,
    kind: oneOf("instance", "effect", "message", "broker"),
    origin: text,
    reason: text,
    pattern: text,
    fingerprint: text,
    openedAt: moment,
    assignee: orNull(text),
    assignedAt: orNull(moment),
    resolvedBy: orNull(text),
    resolvedAt: orNull(moment),
    resolution: orNull(text),
  }),
);

const { get, post } = routesOf("Operations");

export const operationRoutes = [
  get("operations", "/operations", "read", {
    summary: "List bulk operations with their progress, newest first.",
    takes: { limit: whole },
    answer: listOf(operation),
    call: (pawl, options) => pawl.operations.list(options),
  }),
  get("operation", "/operations/{id}", "read", {
    summary: "Get a bulk operation.",
    answer: operation,
    call: (pawl, { id }) => pawl.operations.get(id),
  }),
  post("abortOperation", "/operations/{id}/abort", "operate", {
    summary: "Abort a bulk operation. Completed changes are kept.",
    takes: cause,
    answer: operation,
    call: (pawl, { id, ...cause }) => pawl.operations.abort(id, cause),
  }),
  post("runOperationBatch", "/operations/{id}/run-batch", "operate", {
    summary: "Run the next batch of a bulk operation now, if its rate allows it.",
    answer: operation,
    call: (pawl, { id }) => pawl.operations.runBatch(id),
  }),
  get("tickets", "/tickets", "read", {
    summary: "List tickets of dead letters that need a person, oldest first.",
    takes: { status: oneOf("open", "assigned", "resolved"), assignee: text, ...page },
    answer: listOf(ticket),
    call: (pawl, { after: last, ...filter }) =>
      pawl.deadLetters.tickets.list(last === undefined ? filter : { ...filter, after: { id: last } }),
  }),
  post("assignTicket", "/tickets/{id}/assign", "operate", {
    summary: "Assign a ticket. Fails if it is assigned to another person.",
    takes: actor,
    needs: ["actor"],
    answer: ticket,
    call: (pawl, { id, actor }) => pawl.deadLetters.tickets.assign(id, { to: actor }),
  }),
  post("resolveTicket", "/tickets/{id}/resolve", "operate", {
    summary: "Resolve a ticket. Its dead letter is left as it is.",
    takes: cause,
    needs: ["reason", "actor"],
    answer: ticket,
    call: (pawl, { id, ...decision }) => pawl.deadLetters.tickets.resolve(id, decision),
  }),
];
