import type { Context, Hono } from "hono";
import { may } from "../../access/roles.ts";
import { withReadLimits } from "../../api/internals.ts";
import type { Pawl } from "../../api/pawl.ts";
import { broken, isPawlError, messageOf, PawlError } from "../../base/errors.ts";
import { type AdmissionOptions, admit, countAsStream } from "../admission.ts";
import { answerProblem, problem } from "../problem.ts";
import { otherOperations } from "../routes/other-operations.ts";
import { routes } from "../routes/routes.ts";
import { labelerIn, readArguments } from "./arguments.ts";
import { namesIn, type Route, rightsFor } from "./route.ts";
import { canBeNull } from "./schema.ts";

export interface MountOptions extends AdmissionOptions {
  /** Ends what waits when the server closes. */
  readonly ends?: AbortSignal | undefined;
  /** Where the same Pawl answers over HTTP. */
  readonly url?: string | undefined;
}

/** Mounts every route of the table. */
export function mountRoutes(app: Hono, pawl: Pawl, options: MountOptions): void {
  for (const route of routes) {
    app.on(route.method, placeOf(`/api${route.path}`), (context) => answer(pawl, context, route, options));
  }
  mountRefusals(app);
}

/**
 * A path with another method is answered with 405 and the allowed methods. Registered last, since it matches all of
 * them.
 */
function mountRefusals(app: Hono): void {
  const known = [...routes.map(({ method, path }) => ({ method, path: `/api${path}` })), ...otherOperations];
  const paths = [...new Set(known.map(({ path }) => path))].filter((path) => path.startsWith("/api/"));
  // Paths with fewer parameters come first: `/dead-letters/preview` is no id.
  for (const path of paths.sort((one, other) => namesIn(one).length - namesIn(other).length)) {
    const methods = known.filter((one) => one.path === path).map(({ method }) => method.toUpperCase());
    // HEAD is allowed wherever GET is.
    const allow = (methods.includes("GET") ? [...methods, "HEAD"] : methods).join(", ");
    app.all(placeOf(path), (context) => {
      context.header("allow", allow);
      return answerProblem(context, problem(405, "method_not_allowed", `Send ${allow}.`));
    });
  }
}

function placeOf(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ":$1");
}

async function answer(pawl: Pawl, context: Context, route: Route, options: MountOptions): Promise<Response> {
  const principal = await admit(pawl, context, options);
  const rights = rightsFor(route, (name) => context.req.param(name));
  if (!rights.some((right) => may(principal.role, right))) {
    const message = `${route.name} needs the right to ${rights.join(" or ")}; ${principal.name} has the role ${principal.role}, which does not include it.`;
    throw new PawlError("not_allowed", message, { role: principal.role, needs: rights });
  }
  if (route.waits === true) countAsStream(context, principal, options);
  const args = await readArguments(context, route, { principal, isLocal: options.isLocal === true });
  const labeler = labelerIn(principal);
  const caller = { signal: signalOf(context, route, options), url: options.url, labeler };
  let answered: unknown;
  try {
    const call = async () => route.call(pawl, args as never, caller);
    const isRead = route.method === "get" && route.waits !== true;
    answered = (await (isRead ? withReadLimits(pawl, options.limits?.reads, call) : call())) ?? null;
  } catch (error) {
    // An error because the caller has gone is not a failure of ours, and is not reported.
    if (context.req.raw.signal.aborted) throw new PawlError("not_available", "The client disconnected.");
    if (route.waits === true && options.ends?.aborted === true)
      throw new PawlError("closed", "The server is shutting down.");
    throw labeler === undefined ? asError(error) : asOwn(asError(error), args.id);
  }
  if (answered === null && !canBeNull(route.answer))
    return answerProblem(context, problem(404, "instance_unknown", "The name does not exist."));
  return context.body(JSON.stringify(answered), 200, { "content-type": "application/json" });
}

/** Waiting requests end when the caller is gone, and when the server closes. */
function signalOf(context: Context, { waits }: Route, { ends }: MountOptions): AbortSignal {
  const { signal } = context.req.raw;
  return waits === true && ends !== undefined ? AbortSignal.any([signal, ends]) : signal;
}

function asError(thrown: unknown): Error {
  return thrown instanceof Error
    ? thrown
    : broken(`Internal error: a value was thrown that is not an error: ${messageOf(thrown)}.`);
}

/** Another labeler's assignment is reported as unknown. */
function asOwn(error: Error, id: unknown): Error {
  if (!isPawlError(error, "not_the_assignee")) return error;
  return new PawlError("assignment_unknown", `Assignment ${String(id)} does not exist.`, { assignment: id });
}
