import type { Context } from "hono";
import type { Principal } from "../../access/access.ts";
import { PawlError } from "../../base/errors.ts";
import { isJson, parseObject } from "./body.ts";
import { checkKind, fromText, toMoment } from "./kinds.ts";
import { namesIn, type Route, type Takes } from "./route.ts";

type Values = ReadonlyMap<string, unknown>;

export interface Sender {
  readonly principal: Principal;
  /** A command on this machine, which may name any actor: it has no name of its own. */
  readonly isLocal: boolean;
}

/** The arguments of a request: from its path, its query or body, and its sender. */
export async function readArguments(
  context: Context,
  route: Route,
  sender: Sender,
): Promise<Readonly<Record<string, unknown>>> {
  const { takes = {}, needs = [] } = route;
  const inPath = new Map(namesIn(route.path).map((name) => [name, context.req.param(name) as unknown]));
  const given = new Map(route.method === "get" ? queryOf(context, takes) : await bodyOf(context));
  takeIdempotencyKey(context, route, given);
  if ("actor" in takes && !sender.isLocal) given.set("actor", actorOf(sender.principal, given.get("actor")));
  if (route.right === "label") given.set("labeler", boundLabeler(sender.principal, given.get("labeler")));
  for (const name of inPath.keys()) if (given.has(name)) throw invalid(`\`${name}\` is already in the path.`);
  const what = `${route.method.toUpperCase()} /api${route.path}`;
  const args = checkedArguments(what, takes, given);
  const missing = needs.find((name) => !Object.hasOwn(args, name));
  if (missing !== undefined) throw invalid(`${what} needs \`${missing}\`.`);
  return { ...args, ...Object.fromEntries(inPath) };
}

/**
 * The given arguments, each converted to its kind. Unknown names are refused: a misspelt filter must not list
 * everything.
 */
export function checkedArguments(what: string, takes: Takes, given: Values): Readonly<Record<string, unknown>> {
  const args: Record<string, unknown> = {};
  for (const [name, value] of given) {
    if (!Object.hasOwn(takes, name)) throw invalid(strayed(what, takes, name));
    checkKind(name, takes[name]!, value);
    // Null counts as left out.
    if (value !== null && value !== undefined) args[name] = toMoment(name, takes[name]!, value);
  }
  return args;
}

/** The names of the idempotency key of a request. */
export const repeatKeys = ["idempotencyKey", "dedupeKey"];

/** Every route accepts the header `Idempotency-Key`. */
function takeIdempotencyKey(context: Context, { name, method, takes = {} }: Route, given: Map<string, unknown>): void {
  const key = context.req.header("idempotency-key");
  if (key === undefined || method === "get") return;
  const taken = repeatKeys.find((one) => one in takes) ?? (name === "start" ? "key" : undefined);
  if (taken !== undefined && !given.has(taken)) given.set(taken, key);
  // A header that promises something and is ignored would be worse than none.
  else if (name === "enqueue" && !given.has("key"))
    throw invalid("`Idempotency-Key` is not supported for jobs: ended jobs are deleted. Send `key` in the body.");
}

/** A service and an admin may act for others, and name them; everyone else acts under their own name. */
function actorOf({ name, role }: Principal, given: unknown): unknown {
  if (given === undefined || given === null || given === name) return name;
  if (role === "service" || role === "admin") return given;
  throw new PawlError("not_allowed", `\`actor\` must be ${name}: the role ${role} cannot act for others.`);
}

/** A labeler works under their own name. Others who may label must name the labeler. */
function boundLabeler(principal: Principal, given: unknown): unknown {
  const self = labelerIn(principal);
  if (self !== undefined && given !== undefined && given !== null && given !== self)
    throw new PawlError("not_allowed", `\`labeler\` must be ${self}: your token belongs to that labeler.`);
  return self ?? given ?? principal.labeler;
}

/** The id of a principal who may do nothing but label; undefined for all others. */
export function labelerIn({ name, role, labeler }: Principal): string | undefined {
  return role === "labeler" ? (labeler ?? name) : undefined;
}

function* queryOf(context: Context, takes: Takes): Generator<[string, unknown]> {
  for (const [name, values] of Object.entries(context.req.queries()))
    yield [name, Object.hasOwn(takes, name) ? fromText(name, takes[name]!, values) : values[0]];
}

async function bodyOf(context: Context): Promise<Values> {
  const text = await context.req.text();
  if (text === "") return new Map();
  if (!isJson(context)) throw new PawlError("media_unsupported", "Send uncompressed application/json.");
  return parseObject(text);
}

function strayed(what: string, takes: Takes, name: string): string {
  const names = Object.keys(takes);
  const known =
    names.length === 0 ? "It has no arguments except those in its path." : `Known arguments: ${names.join(", ")}.`;
  return `${what} has no argument \`${name}\`. ${known}`;
}

function invalid(message: string): PawlError {
  return new PawlError("option_invalid", message);
}
