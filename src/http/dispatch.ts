import type { Duration } from "../base/duration.ts";
import { broken, messageOf, PawlError } from "../base/errors.ts";
import type { Json } from "../base/json.ts";
import { diagram, diagramSvg } from "../definition/diagram.ts";
import type { AnyLifecycle } from "../definition/face.ts";
import { suggest } from "../definition/fault.ts";
import type { InstanceRef, StartCallOptions } from "../given.ts";
import type { Pawl } from "../pawl.ts";
import type { Instance, StartedInstance } from "../shown.ts";
import { callbackVerbs } from "./callback-verbs.ts";
import { crowdVerbs } from "./crowd-verbs.ts";
import { deadVerbs } from "./dead-verbs.ts";
import { causeOf, type DispatchOptions, lifecycleOf, refOf, statesOf, type Verb } from "./named.ts";
import { outboxVerbs } from "./outbox-verbs.ts";
import { peopleVerbs } from "./people-verbs.ts";
import { Arguments, type Request } from "./request.ts";
import { workVerbs } from "./work-verbs.ts";

/**
 * Carries out one request of a client that has no lifecycle values of its own: it names them, and everything goes in
 * and out as JSON.
 *
 * ```ts
 * await dispatch(pawl, parseRequest('{ "verb": "get", "args": { "lifecycle": "essay", "key": "sub-42" } }'));
 * ```
 */
export async function dispatch(
  pawl: Pawl,
  request: Pick<Request, "verb" | "args">,
  options: DispatchOptions = {},
): Promise<Json> {
  const verb = verbs.get(request.verb);
  if (verb === undefined) {
    const remedy = suggest(request.verb, verbs.keys());
    throw new PawlError("option_invalid", `There is no verb ${JSON.stringify(request.verb.slice(0, 100))}. ${remedy}`);
  }
  const args = new Arguments(request.verb, request.args, verb.takes);
  const answer = await verb.answer(pawl, args, options);
  return JSON.parse(JSON.stringify(answer ?? null)) as Json;
}

/** An error as it travels. */
export interface ErrorAnswer {
  readonly code: string;
  readonly message: string;
  readonly details: Json;
}

/** Whatever was thrown, as it travels. Details that JSON cannot carry stay behind. */
export function errorAnswer(thrown: unknown): ErrorAnswer {
  const error = thrown instanceof PawlError ? thrown : broken(`Something unexpected was thrown: ${messageOf(thrown)}.`);
  return { code: error.code, message: error.message, details: jsonOrEmpty(error.details) };
}

function jsonOrEmpty(value: unknown): Json {
  try {
    return JSON.parse(JSON.stringify(value)) as Json;
  } catch {
    return {};
  }
}

const instance = ["lifecycle", "key", "id"];
const cause = ["actor", "reason"];
const sending = ["event", "payload", "expectedVersion", "idempotencyKey", "after", "at"];

const verbs: ReadonlyMap<string, Verb> = new Map<string, Verb>([
  ["lifecycles", { takes: [], answer: lifecycles }],
  ["counts", { takes: ["lifecycle"], answer: (pawl, args) => pawl.counts(lifecycleOf(pawl, args)) }],
  ["start", { takes: ["lifecycle", "key", "data", ...cause], answer: start }],
  ["send", { takes: [...instance, ...sending, ...cause], answer: send }],
  ["get", { takes: instance, answer: (pawl, args) => pawl.get(lifecycleOf(pawl, args), refOf(args)) }],
  ["find", { takes: ["lifecycle", "state", "parent", "limit", "after"], answer: find }],
  ["children", { takes: [...instance, "limit"], answer: children }],
  ["permitted", { takes: [...instance, "actor"], answer: permitted }],
  ["journal", { takes: [...instance, "attempts"], answer: journal }],
  ["wait", { takes: [...instance, "until", "timeout"], answer: wait }],
  ["explainRecovery", { takes: instance, answer: explainRecovery }],
  ["deadLetters", { takes: ["lifecycle", "status", "limit", "after"], answer: deadLetters }],
  ["deadLetter", { takes: ["id"], answer: deadLetter }],
  ["requeue", { takes: ["id", "data", "restart", ...cause], answer: requeue }],
  [
    "discardDeadLetter",
    { takes: ["id", ...cause], answer: (pawl, args) => pawl.discard(args.text("id"), causeOf(args)) },
  ],
  ["schedules", { takes: [], answer: (pawl) => pawl.schedules() }],
  ["pauseSchedule", { takes: ["schedule", ...cause], answer: pauseSchedule }],
  ["resumeSchedule", { takes: ["schedule"], answer: (pawl, args) => pawl.resumeSchedule(args.text("schedule")) }],
  ["runScheduleNow", { takes: ["schedule"], answer: (pawl, args) => pawl.runScheduleNow(args.text("schedule")) }],
  ["diagram", { takes: ["lifecycle", "format", "builtIns"], answer: draw }],
  ...deadVerbs,
  ...workVerbs,
  ...callbackVerbs,
  ...outboxVerbs,
  ...peopleVerbs,
  ...crowdVerbs,
]);

/**
 * The verbs without their types: what a definition would let the compiler check, a client by name can only be told at
 * run time, by the same checks that guard every call.
 */
interface UntypedVerbs {
  start(
    lifecycle: AnyLifecycle,
    options: StartCallOptions & { key?: string | undefined; data?: unknown },
  ): Promise<StartedInstance>;
  send(lifecycle: AnyLifecycle, ref: InstanceRef, event: string, payload: unknown, options: object): Promise<Instance>;
}

async function lifecycles(pawl: Pawl): Promise<unknown> {
  const all = [];
  for (const lifecycle of pawl.lifecycles) {
    const counts: Readonly<Record<string, number | undefined>> = await pawl.counts(lifecycle);
    const { name, version, initial } = lifecycle;
    const states = [...lifecycle.states.values()].map((state) => ({
      name: state.name,
      kind: state.kind,
      final: state.final ?? null,
      instances: counts[state.name] ?? 0,
    }));
    all.push({ name, version, initial, states });
  }
  return all;
}

function start(pawl: Pawl, args: Arguments): Promise<StartedInstance> {
  const data = args.value("data");
  const key = args.optionalText("key");
  return (pawl as unknown as UntypedVerbs).start(lifecycleOf(pawl, args), { key, data, ...causeOf(args) });
}

function send(pawl: Pawl, args: Arguments): Promise<Instance> {
  const options = {
    ...causeOf(args),
    expectedVersion: args.number("expectedVersion"),
    idempotencyKey: args.optionalText("idempotencyKey"),
    after: args.value("after") as Duration | undefined,
    at: args.moment("at"),
  };
  const [event, payload] = [args.text("event"), args.value("payload")];
  return (pawl as unknown as UntypedVerbs).send(lifecycleOf(pawl, args), refOf(args), event, payload, options);
}

function find(pawl: Pawl, args: Arguments): Promise<Instance[]> {
  const lifecycle = lifecycleOf(pawl, args);
  const [after, parent] = [args.optionalText("after"), args.optionalText("parent")];
  return pawl.find(lifecycle, {
    state: statesOf(lifecycle, args, "state"),
    parent: parent === undefined ? undefined : { id: parent },
    limit: args.number("limit"),
    after: after === undefined ? undefined : { id: after },
  });
}

function children(pawl: Pawl, args: Arguments): Promise<unknown> {
  return pawl.children(lifecycleOf(pawl, args), refOf(args), { limit: args.number("limit") });
}

function permitted(pawl: Pawl, args: Arguments): Promise<unknown> {
  return pawl.permitted(lifecycleOf(pawl, args), refOf(args), { actor: args.optionalText("actor") });
}

function journal(pawl: Pawl, args: Arguments): Promise<unknown> {
  const [lifecycle, ref] = [lifecycleOf(pawl, args), refOf(args)];
  return args.flag("attempts") ? pawl.journal(lifecycle, ref, { attempts: true }) : pawl.journal(lifecycle, ref);
}

function wait(pawl: Pawl, args: Arguments, { signal }: DispatchOptions): Promise<Instance> {
  const lifecycle = lifecycleOf(pawl, args);
  const until = statesOf(lifecycle, args, "until");
  return pawl.wait(lifecycle, refOf(args), { until, timeout: args.value("timeout") as Duration | undefined, signal });
}

function pauseSchedule(pawl: Pawl, args: Arguments): Promise<void> {
  return pawl.pauseSchedule(args.text("schedule"), causeOf(args));
}

/** By lifecycle and key, or by the id alone. */
async function explainRecovery(pawl: Pawl, args: Arguments): Promise<unknown> {
  if (args.has("lifecycle")) return pawl.explainRecovery(lifecycleOf(pawl, args), refOf(args));
  const id = args.text("id");
  const lifecycle = await pawl.lifecycleOf(id);
  if (lifecycle === undefined) throw new PawlError("instance_unknown", `There is no instance with the id ${id}.`);
  return pawl.explainRecovery(lifecycle, { id });
}

const letterStatuses = ["open", "requeued", "discarded", "archived"] as const;

function deadLetters(pawl: Pawl, args: Arguments): Promise<unknown> {
  const lifecycle = args.has("lifecycle") ? lifecycleOf(pawl, args) : undefined;
  const given = args.optionalText("status") ?? "open";
  const status = letterStatuses.find((one) => one === given);
  if (status === undefined) {
    throw new PawlError(
      "option_invalid",
      `There is no status ${JSON.stringify(given)}. ${suggest(given, letterStatuses)}`,
    );
  }
  const after = args.optionalText("after");
  return pawl.deadLetters(lifecycle, {
    status,
    limit: args.number("limit"),
    after: after === undefined ? undefined : { id: after },
  });
}

async function deadLetter(pawl: Pawl, args: Arguments): Promise<unknown> {
  const id = args.text("id");
  const letter = await pawl.deadLetter(id);
  if (letter !== undefined) return letter;
  throw new PawlError("dead_letter_unknown", `There is no dead letter with the id ${id}.`, { deadLetter: id });
}

function requeue(pawl: Pawl, args: Arguments): Promise<unknown> {
  const data = args.value("data") as Record<string, unknown> | undefined;
  return pawl.requeue(args.text("id"), { data, restart: args.flag("restart"), ...causeOf(args) });
}

function draw(pawl: Pawl, args: Arguments): string | Promise<string> {
  const lifecycle = lifecycleOf(pawl, args);
  const format = args.optionalText("format") ?? "mermaid";
  const options = { builtIns: args.flag("builtIns") };
  if (format === "svg") return diagramSvg(lifecycle, options);
  if (format === "mermaid" || format === "dot") return diagram(lifecycle, format, options);
  throw new PawlError("option_invalid", "`format` of `diagram` must be mermaid, dot or svg.");
}
