import type { Context, Hono } from "hono";
import { may } from "../../access/roles.ts";
import { isPawlError, PawlError } from "../../base/errors.ts";
import type { Pawl } from "../../pawl.ts";
import { dispatch, takesOf } from "../dispatch.ts";
import { answerProblem, problem } from "../problem.ts";
import { type DoorOptions, visitorOf } from "../visitors.ts";
import { gather, labelerIn } from "./gather.ts";
import { namesIn, operationOf, type Route } from "./route.ts";
import { routes } from "./routes.ts";
import { canBeNull } from "./schema.ts";

/** Lets every route be answered, for whoever may. */
export function mountRoutes(app: Hono, pawl: Pawl, options: DoorOptions): void {
  for (const route of routes) {
    app.on(route.method, placeOf(route.path), (context) => carryOut(pawl, context, route, options));
  }
  // Those with fewer names come first: `/dead-letters/preview` is no id.
  const paths = [...new Set(routes.map((route) => route.path))];
  for (const path of paths.sort((one, other) => namesIn(one).length - namesIn(other).length)) {
    const allow = methodsOf(path).join(", ");
    app.all(placeOf(path), (context) => {
      context.header("allow", allow);
      return answerProblem(context, problem(405, "method_not_allowed", `Send ${allow}.`));
    });
  }
}

function placeOf(path: string): string {
  return `/api${path.replaceAll(/\{(\w+)\}/g, ":$1")}`;
}

/** What can be asked of a path; whoever can get something can ask for its headers alone. */
function methodsOf(path: string): string[] {
  const methods = routes.filter((route) => route.path === path).map((route) => route.method.toUpperCase());
  return methods.includes("GET") ? [...methods, "HEAD"] : methods;
}

async function carryOut(pawl: Pawl, context: Context, route: Route, options: DoorOptions): Promise<Response> {
  const visitor = await visitorOf(pawl, context, options);
  const rights = [route.may].flat();
  if (!rights.some((right) => may(visitor.role, right))) {
    const message = `${operationOf(route)} needs the right to ${rights.join(" or ")}, which the role ${visitor.role} of ${visitor.name} does not give.`;
    throw new PawlError("not_allowed", message, { role: visitor.role, needs: rights });
  }
  const args = await gather(context, route, visitor, takesOf(route.verb));
  const signal = context.req.raw.signal;
  const answer = await dispatch(pawl, { verb: route.verb, args }, { signal }).catch((error: unknown) => {
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
