import type { Pawl } from "../../api/pawl.ts";
import { checkedLimit } from "../../base/options.ts";
import type { AnyLifecycle } from "../../definition/language/public-types.ts";
import { routesOf } from "../api/route.ts";
import {
  about,
  anything,
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
import { lifecycleNamed } from "../api/targets.ts";
import { actor, cause, page } from "../api/usual-arguments.ts";
import type { OperationPreviewResponse, OperationResponse, TicketResponse } from "../contract.ts";
import { instanceFilter } from "./instances.ts";
import { instance } from "./responses/instance-response.ts";

/** A bulk operation, and its progress. */
export const operation = named(
  "Operation",
  shape<OperationResponse>({
    id,
    subject: oneOf("dead_letters", "instances"),
    decision: oneOf("requeue", "send", "recover", "restart", "discard"),
    filter: record,
    event: about(orNull(text), "The event that is sent to instances."),
    restart: flag,
    actor: orNull(text),
    reason: orNull(text),
    rate: about(orNull(number), "The maximum number of items per second."),
    status: oneOf("running", "done", "aborted"),
    items: about(whole, "The number of its items, at most 100,000."),
    done: about(whole, "The number of processed items."),
    outcomes: mapOf(whole),
    refusals: listOf(shape<OperationResponse["refusals"][number]>({ id, outcome: text, note: orNull(text) })),
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

/** Selects instances of a lifecycle. */
const filter = { id: listOf(id), ...instanceFilter, all: about(flag, "All instances; without any other field.") };
const rate = about(number, "The maximum number of instances per second.");
const data = about(record, "Keys of the data to change first.");

const preview = shape<OperationPreviewResponse>({
  instances: whole,
  outcomes: mapOf(whole),
  sample: listOf(
    shape<OperationPreviewResponse["sample"][number]>({
      id,
      key: orNull(text),
      state: text,
      outcome: text,
      note: orNull(text),
    }),
  ),
});

/** The calls without their types: what the compiler would check is checked at run time. */
interface Untyped {
  send(lifecycle: AnyLifecycle, filter: object, event: string, payload: unknown, options: object): Promise<unknown>;
  preview(lifecycle: AnyLifecycle, filter: object, operation: object): Promise<unknown>;
}

const { get, post } = routesOf("Operations");
const place = "/lifecycles/{lifecycle}/operations";

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
  post("previewOperation", `${place}/preview`, "read", {
    summary: "Preview a bulk operation on instances. Nothing is changed.",
    takes: {
      decision: oneOf("send", "recover", "restart", "discard"),
      event: about(text, "The event to send."),
      payload: anything,
      data,
      ...filter,
    },
    needs: ["decision"],
    answer: preview,
    call: (pawl, { lifecycle, decision, event, payload, data, ...filter }) => {
      const given = Object.entries({ decision, event, payload, data }).filter(([, value]) => value !== undefined);
      const operations = pawl.operations as unknown as Untyped;
      return operations.preview(lifecycleNamed(pawl, lifecycle), filterOf(filter), Object.fromEntries(given));
    },
  }),
  post("sendToInstances", `${place}/send`, "operate", {
    summary: "Send an event to many instances: starts a bulk operation, which the workers carry out.",
    takes: { event: text, payload: anything, ...filter, rate, ...cause },
    needs: ["event"],
    answer: operation,
    call: (pawl, { lifecycle, event, payload, rate, reason, actor, ...filter }) => {
      const operations = pawl.operations as unknown as Untyped;
      return operations.send(lifecycleNamed(pawl, lifecycle), filterOf(filter), event, payload, {
        rate,
        reason,
        actor,
      });
    },
  }),
  post("recoverInstances", `${place}/recover`, "operate", {
    summary: "Recover many failed instances: starts a bulk operation, which the workers carry out.",
    takes: { data, ...filter, rate, ...cause },
    answer: operation,
    call: (pawl, { lifecycle, data, rate, reason, actor, ...filter }) =>
      pawl.operations.recover(lifecycleNamed(pawl, lifecycle), filterOf(filter), { data, rate, reason, actor }),
  }),
  post("restartInstances", `${place}/restart`, "operate", {
    summary: "Restart many instances: starts a bulk operation, which the workers carry out.",
    takes: { data, ...filter, rate, ...cause },
    answer: operation,
    call: (pawl, { lifecycle, data, rate, reason, actor, ...filter }) =>
      pawl.operations.restart(lifecycleNamed(pawl, lifecycle), filterOf(filter), { data, rate, reason, actor }),
  }),
  post("discardInstances", `${place}/discard`, "operate", {
    summary: "Discard many instances: starts a bulk operation, which the workers carry out.",
    takes: { ...filter, rate, ...cause },
    answer: operation,
    call: (pawl, { lifecycle, rate, reason, actor, ...filter }) =>
      pawl.operations.discard(lifecycleNamed(pawl, lifecycle), filterOf(filter), { rate, reason, actor }),
  }),
  get("exportInstances", "/lifecycles/{lifecycle}/export", "read", {
    summary: "List the instances that match, oldest first, by page.",
    takes: { ...filter, ...page },
    answer: listOf(instance),
    call: async (pawl, { lifecycle, limit = 100, after: last, ...filter }) => {
      const options = last === undefined ? {} : { after: { id: last } };
      const found: unknown[] = [];
      const all = pawl.operations.export(lifecycleNamed(pawl, lifecycle), filterOf(filter), options);
      for await (const one of all) {
        found.push(one);
        if (found.length === checkedLimit(limit)) break;
      }
      return found;
    },
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

type Filter = Parameters<Pawl["operations"]["discard"]>[1];

/** `all: false` is the same as leaving it out. */
function filterOf({ all, parent, ...filter }: { readonly all?: boolean; readonly parent?: string }): Filter {
  return { ...filter, ...(parent !== undefined && { parent: { id: parent } }), ...(all === true && { all }) };
}
