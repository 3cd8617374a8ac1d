import { broken, messageOf, PawlError } from "../base/errors.ts";
import type { Json } from "../base/json.ts";
import { diagram, diagramSvg } from "../definition/diagram.ts";
import { suggest } from "../definition/read/fault.ts";
import type { Pawl } from "../pawl.ts";
import { accessVerbs } from "./access-verbs.ts";
import { callbackVerbs } from "./callback-verbs.ts";
import { crowdVerbs } from "./crowd-verbs.ts";
import { deadVerbs } from "./dead-verbs.ts";
import { deskVerbs } from "./desk-verbs.ts";
import { instanceVerbs } from "./instance-verbs.ts";
import { lifecycles } from "./lifecycles.ts";
import { causeOf, type DispatchOptions, lifecycleOf, type Verb } from "./named.ts";
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
  const verb = verbNamed(request.verb);
  const args = new Arguments(request.verb, request.args, verb.takes);
  const answer = await verb.answer(pawl, args, options);
  return JSON.parse(JSON.stringify(answer ?? null)) as Json;
}

/** The names of what a verb takes. */
export function takesOf(verb: string): readonly string[] {
  return verbNamed(verb).takes;
}

/** The names of all verbs. */
export function verbNames(): string[] {
  return [...verbs.keys()];
}

function verbNamed(name: string): Verb {
  const verb = verbs.get(name);
  if (verb !== undefined) return verb;
  const remedy = suggest(name, verbs.keys());
  throw new PawlError("option_invalid", `There is no verb ${JSON.stringify(name.slice(0, 100))}. ${remedy}`);
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

const cause = ["actor", "reason"];

const verbs: ReadonlyMap<string, Verb> = new Map<string, Verb>([
  ["lifecycles", { takes: ["internal"], answer: lifecycles }],
  ["overview", { takes: [], answer: (pawl) => pawl.overview() }],
  ["counts", { takes: ["lifecycle"], answer: (pawl, args) => pawl.counts(lifecycleOf(pawl, args)) }],
  ["deadLetters", { takes: ["lifecycle", "status", "fingerprint", "limit", "after"], answer: deadLetters }],
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
  ...instanceVerbs,
  ...deadVerbs,
  ...workVerbs,
  ...callbackVerbs,
  ...outboxVerbs,
  ...peopleVerbs,
  ...deskVerbs,
  ...crowdVerbs,
  ...accessVerbs,
]);

function pauseSchedule(pawl: Pawl, args: Arguments): Promise<void> {
  return pawl.pauseSchedule(args.text("schedule"), causeOf(args));
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
    fingerprint: args.optionalText("fingerprint"),
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
