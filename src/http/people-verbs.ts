import { PawlError } from "../base/errors.ts";
import type { Pawl } from "../pawl.ts";
import { causeOf, type Verb } from "./named.ts";
import type { Arguments } from "./request.ts";

type People = Pawl["people"];

/** The verbs about people who label. */
export const peopleVerbs: readonly (readonly [string, Verb])[] = [
  ["queues", { takes: [], answer: ({ people }) => people.queues() }],
  ["queueLoads", { takes: [], answer: ({ people }) => people.loads() }],
  ["queue", { takes: ["queue"], answer: ({ people }, args) => people.queue(args.text("queue")) }],
  ["createQueue", { takes: ["queue", "definition"], answer: createQueue }],
  ["activateQueue", { takes: ["queue"], answer: ({ people }, args) => people.activateQueue(args.text("queue")) }],
  ["deactivateQueue", { takes: ["queue"], answer: ({ people }, args) => people.deactivateQueue(args.text("queue")) }],
  ["labelers", { takes: [], answer: ({ people }) => people.labelers() }],
  ["putLabeler", { takes: ["id", "name", "skills", "active"], answer: putLabeler }],
  ["addSamples", { takes: ["queue", "samples", "actor", "reason"], answer: addSamples }],
  ["sample", { takes: ["queue", "key", "id"], answer: ({ people }, args) => people.sample(sampleOf(args)) }],
  ["samples", { takes: ["queue", "state", "limit", "after"], answer: samples }],
  ["reopenSample", { takes: ["queue", "key", "id", "attempts", "actor", "reason"], answer: reopenSample }],
  ["assignSample", { takes: ["queue", "key", "id", "to", "actor", "reason"], answer: assignSample }],
  ["closeSample", { takes: ["queue", "key", "id", "actor", "reason"], answer: closeSample }],
  ["next", { takes: ["queue", "labeler"], answer: next }],
  ["startAssignment", { takes: ["id", "labeler", "idempotencyKey"], answer: startAssignment }],
  ["submitLabel", { takes: ["id", "labeler", "label", "idempotencyKey"], answer: submitLabel }],
  ["skipAssignment", { takes: ["id", "labeler", "reason", "idempotencyKey"], answer: skipAssignment }],
  ["extendAssignment", { takes: ["id", "labeler", "idempotencyKey"], answer: extendAssignment }],
  ["releaseAssignment", { takes: ["id", "actor", "reason", "idempotencyKey"], answer: releaseAssignment }],
  ["checkExpired", { takes: ["queue"], answer: ({ people }, args) => people.checkExpired(args.text("queue")) }],
  ["assignment", { takes: ["id", "labeler"], answer: assignment }],
  ["assignments", { takes: ["queue", "labeler", "status", "limit", "after"], answer: assignments }],
  ["labels", { takes: ["queue", "late", "limit", "after"], answer: labels }],
  ["acceptLabel", { takes: ["id", "actor", "comment"], answer: acceptLabel }],
  ["rejectLabel", { takes: ["id", "actor", "comment"], answer: rejectLabel }],
  ["exportLabels", { takes: ["queue", "late", "skipped", "limit", "after"], answer: exportLabels }],
  ["quality", { takes: ["queue"], answer: ({ people }, args) => people.quality(args.text("queue")) }],
  ["queueMetrics", { takes: ["queue", "labeler", "from", "to", "by"], answer: metrics }],
];

function createQueue({ people }: Pawl, args: Arguments): unknown {
  return people.createQueue(args.text("queue"), args.value("definition") as Parameters<People["createQueue"]>[1]);
}

function putLabeler({ people }: Pawl, args: Arguments): unknown {
  const [name, skills] = [args.optionalText("name"), args.texts("skills")];
  const active = args.has("active") ? args.flag("active") : undefined;
  return people.putLabeler({ id: args.text("id"), name, skills, active });
}

function addSamples({ people }: Pawl, args: Arguments): unknown {
  const samples = args.value("samples") as Parameters<People["addMany"]>[1];
  return people.addMany(args.text("queue"), samples, causeOf(args));
}

function samples({ people }: Pawl, args: Arguments): unknown {
  const state = args.optionalText("state") as NonNullable<Parameters<People["samples"]>[1]>["state"];
  return people.samples(args.text("queue"), { state, ...pageOf(args) });
}

function reopenSample({ people }: Pawl, args: Arguments): unknown {
  const attempts = args.number("attempts");
  return people.reopen(sampleOf(args), { ...leadOf(args), attempts });
}

function assignSample({ people }: Pawl, args: Arguments): unknown {
  return people.assign(sampleOf(args), { ...leadOf(args), to: args.text("to") });
}

function closeSample({ people }: Pawl, args: Arguments): unknown {
  return people.close(sampleOf(args), leadOf(args));
}

function next({ people }: Pawl, args: Arguments): unknown {
  return people.next(args.text("queue"), args.text("labeler"));
}

function startAssignment({ people }: Pawl, args: Arguments): unknown {
  return people.start(args.text("id"), args.text("labeler"), repeatOf(args));
}

function submitLabel({ people }: Pawl, args: Arguments): unknown {
  return people.submit(args.text("id"), args.text("labeler"), args.value("label"), repeatOf(args));
}

function skipAssignment({ people }: Pawl, args: Arguments): unknown {
  const reason = args.optionalText("reason");
  return people.skip(args.text("id"), args.text("labeler"), { ...repeatOf(args), reason });
}

function extendAssignment({ people }: Pawl, args: Arguments): unknown {
  return people.extend(args.text("id"), args.text("labeler"), repeatOf(args));
}

function releaseAssignment({ people }: Pawl, args: Arguments): unknown {
  return people.release(args.text("id"), { ...leadOf(args), ...repeatOf(args) });
}

/** With a labeler it is his, or unknown: he hears nothing of the work of others. */
async function assignment({ people }: Pawl, args: Arguments): Promise<unknown> {
  const [id, labeler] = [args.text("id"), args.optionalText("labeler")];
  const found = await people.assignment(id);
  if (labeler === undefined || found.labelerId === labeler) return found;
  throw new PawlError("assignment_unknown", `There is no assignment ${id}.`, { id });
}

function assignments({ people }: Pawl, args: Arguments): unknown {
  const status = args.optionalText("status") as NonNullable<Parameters<People["assignments"]>[1]>["status"];
  const labeler = args.optionalText("labeler");
  return people.assignments(args.text("queue"), { labeler, status, ...pageOf(args) });
}

function labels({ people }: Pawl, args: Arguments): unknown {
  return people.labels(args.text("queue"), { late: args.flag("late"), ...pageOf(args) });
}

/** A page of what a file is made of; the next one begins after its last. */
async function exportLabels({ people }: Pawl, args: Arguments): Promise<unknown[]> {
  const { limit = 100, after } = pageOf(args);
  const rows: unknown[] = [];
  const wanted = { late: args.flag("late"), skipped: args.flag("skipped"), after };
  for await (const row of people.exportLabels(args.text("queue"), wanted)) {
    rows.push(row);
    if (rows.length === limit) break;
  }
  return rows;
}

function acceptLabel({ people }: Pawl, args: Arguments): unknown {
  return people.accept(args.text("id"), reviewOf(args));
}

function rejectLabel({ people }: Pawl, args: Arguments): unknown {
  return people.reject(args.text("id"), reviewOf(args));
}

function metrics({ people }: Pawl, args: Arguments): unknown {
  const span = { labeler: args.optionalText("labeler"), from: args.moment("from"), to: args.moment("to") };
  const [queue, by] = [args.text("queue"), args.optionalText("by")];
  if (by === undefined) return people.metrics(queue, span);
  if (by === "labeler") return people.metricsByLabeler(queue, span);
  if (by === "hour") return people.metricsByHour(queue, span);
  throw new PawlError("option_invalid", "`by` of `queueMetrics` must be labeler or hour.");
}

function sampleOf(args: Arguments): Parameters<People["sample"]>[0] {
  if (args.has("id")) return args.text("id");
  return { queue: args.text("queue"), key: args.text("key") };
}

function leadOf(args: Arguments): { actor: string; reason?: string | undefined } {
  return { actor: args.text("actor"), reason: args.optionalText("reason") };
}

function reviewOf(args: Arguments): { actor: string; comment?: string } {
  return { actor: args.text("actor"), comment: args.optionalText("comment") };
}

function repeatOf(args: Arguments): { idempotencyKey?: string } {
  return { idempotencyKey: args.optionalText("idempotencyKey") };
}

function pageOf(args: Arguments): { limit?: number; after?: { id: string } } {
  const after = args.optionalText("after");
  return { limit: args.number("limit"), after: after === undefined ? undefined : { id: after } };
}
