import type { Context } from "hono";
import type { Visitor } from "../../access/access.ts";
import { PawlError } from "../../base/errors.ts";
import { parseObject } from "../request.ts";
import { checkKind, fromText } from "./kinds.ts";
import { namesIn, type Route } from "./route.ts";

/** The arguments of a request: of its path, of its query or body, and what is known of whoever asks. */
export async function gather(
  context: Context,
  route: Route,
  visitor: Visitor,
  takes: readonly string[],
): Promise<Map<string, unknown>> {
  const args = new Map<string, unknown>(Object.entries(route.says ?? {}));
  for (const name of namesIn(route.path)) args.set(name, context.req.param(name));
  const given = route.method === "get" ? queryOf(context, route) : await bodyOf(context);
  for (const [name, value] of given) {
    if (args.has(name)) throw invalid(`\`${name}\` is in the path already.`);
    const schema = route.takes?.[name];
    if (schema === undefined && !besideOf(takes).includes(name)) throw invalid(strayed(route, name));
    if (schema !== undefined) checkKind(name, schema, value);
    args.set(name, value);
  }
  takeRepeatKey(context, route, args, takes);
  const missing = route.needs?.find((name) => (args.get(name) ?? null) === null);
  if (missing !== undefined) throw invalid(`\`${missing}\` is needed.`);
  if (takes.includes("actor")) args.set("actor", actorOf(visitor, args.get("actor")));
  if (takes.includes("labeler")) bindLabeler(visitor, route, args);
  return args;
}

/** What a route takes because its verb does, without saying so. */
export function besideOf(takes: readonly string[]): readonly string[] {
  return ["actor", "idempotencyKey"].filter((name) => takes.includes(name));
}

/** The names of what tells a request from every other one, so that the same twice happens once. */
export const repeatKeys = ["idempotencyKey", "dedupe"];

/** `Idempotency-Key` says it for every verb in the same way. */
function takeRepeatKey(
  context: Context,
  { verb, method }: Route,
  args: Map<string, unknown>,
  takes: readonly string[],
): void {
  const key = context.req.header("idempotency-key");
  if (key === undefined || method === "get") return;
  const name = repeatKeys.find((one) => takes.includes(one)) ?? (verb === "start" ? "key" : undefined);
  if (name !== undefined && !args.has(name)) args.set(name, key);
  // A header that promises something and is ignored would be worse than none.
  else if (verb === "enqueue" && !args.has("key"))
    throw invalid(
      "`Idempotency-Key` is not available here: a job that has ended is forgotten. Send `key` in the body.",
    );
}

/** Whoever speaks for others says for whom; all else is done in one's own name. */
function actorOf({ name, role }: Visitor, given: unknown): unknown {
  if (given === undefined || given === null || given === name) return name;
  if (role === "service" || role === "admin") return given;
  throw new PawlError("not_allowed", `\`actor\` is ${name} here: the role ${role} acts for nobody else.`);
}

/** A labeler works as himself, and sees nothing but his own. Whoever may label for others says for whom. */
function bindLabeler(visitor: Visitor, route: Route, args: Map<string, unknown>): void {
  const self = labelerIn(visitor);
  const given = args.get("labeler") ?? undefined;
  if (self !== undefined && given !== undefined && given !== self)
    throw new PawlError("not_allowed", `You are the labeler ${self} here, and nobody else.`);
  const labeler = self ?? given ?? (route.may === "label" ? visitor.labeler : null);
  if (labeler !== null) args.set("labeler", labeler);
}

/** Who somebody is who may do nothing but label; undefined for all others. */
export function labelerIn({ name, role, labeler }: Visitor): string | undefined {
  return role === "labeler" ? (labeler ?? name) : undefined;
}

function queryOf(context: Context, route: Route): Map<string, unknown> {
  const args = new Map<string, unknown>();
  for (const [name, values] of Object.entries(context.req.queries())) {
    const schema = route.takes?.[name];
    args.set(name, schema === undefined ? values[0] : fromText(name, schema, values));
  }
  return args;
}

async function bodyOf(context: Context): Promise<ReadonlyMap<string, unknown>> {
  const text = await context.req.text();
  if (text === "") return new Map();
  const type = context.req.header("content-type") ?? "";
  // A form, which any page could send in a visitor's name, is not taken.
  if (!/^application\/(?:[\w.+-]+\+)?json\b/i.test(type) || context.req.header("content-encoding") !== undefined)
    throw new PawlError("media_unsupported", "Send application/json, not compressed.");
  return parseObject(text);
}

function strayed(route: Route, name: string): string {
  const names = Object.keys(route.takes ?? {});
  const takes = names.length === 0 ? "It takes nothing but what is in its path." : `It takes ${names.join(", ")}.`;
  return `${route.method.toUpperCase()} /api${route.path} does not take \`${name}\`. ${takes}`;
}

function invalid(message: string): PawlError {
  return new PawlError("option_invalid", message);
}
