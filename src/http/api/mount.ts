import type { Context, Hono } from "hono";
import { may } from "../../access/roles.ts";
import { isPawlError, PawlError } from "../../base/errors.ts";
import type { Pawl } from "../../pawl.ts";
import { type AdmissionOptions, admit, countAsStream } from "../admission.ts";
import { dispatch, takesOf } from "../dispatch.ts";
import { answerProblem, problem } from "../problem.ts";
import { beside } from "../routes/other-operations.ts";
import { routes } from "../routes/routes.ts";
import { gather, labelerIn } from "./gather.ts";
import { namesIn, operationOf, type Route, rightsFor } from "./route.ts";
import { canBeNull } from "./schema.ts";

/** Lets every route be answered, for whoever may. */
export function mountRoutes(app: Hono, pawl: Pawl, options: AdmissionOptions): void {
  for (const route of routes) {
    app.on(route.method, placeOf(`/api${route.path}`), (context) => carryOut(pawl, context, route, options));
  }
  mountRefusals(app);
}

/** A path that is known by another method says by which. It comes last: it would answer for all of them. */
function mountRefusals(app: Hono): void {
  const known = [...routes.map(({ method, path }) => ({ method, path: `/api${path}` })), ...beside];
  const paths = [...new Set(known.map(({ path }) => path))].filter((path) => path.startsWith("/api/"));
  // Those with fewer names come first: `/dead-letters/preview` is no id.
  for (const path of paths.sort((one, other) => namesIn(one).length - namesIn(other).length)) {
    const methods = known.filter((one) => one.path === path).map(({ method }) => method.toUpperCase());
    // Whoever can get something can ask for its headers alone.
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

async function carryOut(pawl: Pawl, context: Context, route: Route, options: AdmissionOptions): Promise<Response> {
  const visitor = await admit(pawl, context, options);
  const rights = rightsFor(route, (name) => context.req.param(name));
  if (!rights.some((right) => may(visitor.role, right))) {
    const message = `${operationOf(route)} needs the right to ${rights.join(" or ")}, which the role ${visitor.role} of ${visitor.name} does not give.`;
    throw new PawlError("not_allowed", message, { role: visitor.role, needs: rights });
  }
  if (route.verb === "wait") countAsStream(context, visitor, options);
  const args = await gather(context, route, visitor, takesOf(route.verb));
  const signal = context.req.raw.signal;
  const answer = await dispatch(pawl, { verb: route.verb, args }, { signal }).catch((error: unknown) => {
    // What ends with whoever asked is no failure of ours, and nobody hears of it.
    if (signal.aborted) throw new PawlError("not_available", "Whoever asked is gone.");
    throw labelerIn(visitor) === undefined ? error : asOwn(error, args.get("id"));
  });
  if (answer === null && !canBeNull(route.answers))
    return answerProblem(context, problem(404, "instance_unknown", "There is none that is called so."));
  return context.body(JSON.stringify(answer), 200, { "content-type": "application/json" });
}

/** What was given to somebody else is unknown to a labeler. */
function asOwn(error: unknown, id: unknown): unknown {
  if (!isPawlError(error, "not_the_assignee")) return error;
  return new PawlError("assignment_unknown", `There is no assignment ${String(id)}.`, { assignment: id });
}
