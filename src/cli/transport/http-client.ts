import { type ErrorCode, errorCodes, messageOf, PawlError } from "../../base/errors.ts";
import { namesIn, type Route } from "../../http/api/route.ts";
import type { Problem } from "../../http/problem.ts";
import { routes } from "../../http/routes/routes.ts";
import type { Reached } from "./reach.ts";

type Args = Readonly<Record<string, unknown>>;

/** A Pawl anywhere: every verb goes by its route, with a token, and needs neither its config nor its database. */
export function reachOverHttp(url: string, token: string | undefined): Reached {
  const headers = {
    "content-type": "application/json",
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  };
  return {
    pid: undefined,
    call: async (verb, given) => {
      const args = Object.fromEntries(
        Object.entries(given).filter(([, value]) => value !== undefined && value !== null),
      );
      const route = routeFor(verb, args);
      const rest = Object.entries(args).filter(
        ([name]) => !namesIn(route.path).includes(name) && !(name in (route.says ?? {})),
      );
      const target = new URL(`${url}/api${pathOf(route, args)}`);
      if (route.method === "get")
        for (const [name, value] of rest)
          for (const one of [value].flat()) target.searchParams.append(name, textOf(one));
      const body = route.method === "get" ? null : JSON.stringify(Object.fromEntries(rest));
      return await ask(target, { method: route.method.toUpperCase(), headers, body });
    },
    close: async () => {},
  };
}

/** The route of a verb whose path can be filled with what is given, and says nothing else. */
function routeFor(verb: string, args: Args): Route {
  const fits = (route: Route) =>
    route.verb === verb &&
    namesIn(route.path).every((name) => name in args) &&
    Object.entries(route.says ?? {}).every(([name, value]) => (args[name] ?? value) === value);
  const found = routes.filter(fits).sort((one, other) => namesIn(other.path).length - namesIn(one.path).length)[0];
  if (found !== undefined) return found;
  throw new PawlError(
    "option_invalid",
    `This cannot be asked for over HTTP (${verb}). Run it where the database is, without --url.`,
  );
}

function pathOf(route: Route, args: Args): string {
  return route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(textOf(args[name])));
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

async function ask(url: URL, init: RequestInit): Promise<unknown> {
  let response: Response;
  try {
    response = await fetch(url, init);
  } catch (error) {
    const cause = (error as { cause?: unknown }).cause ?? error;
    throw new PawlError(
      "not_running",
      `Nothing answers at ${url.origin}: ${messageOf(cause)}. Start it, or mend --url or PAWL_URL.`,
    );
  }
  const isJson = /^application\/(?:problem\+)?json/.test(response.headers.get("content-type") ?? "");
  if (!isJson)
    throw new PawlError("not_running", `What answers at ${url.origin} is no Pawl (it says ${response.status}).`);
  const answer: unknown = await response.json();
  if (response.ok) return answer;
  const { code, detail, title, details } = answer as Problem;
  if (Object.hasOwn(errorCodes, code)) throw new PawlError(code as ErrorCode, detail ?? title, details ?? {});
  const message = `The Pawl at ${url.origin} does not know ${url.pathname} (${title}); it may be of another version.`;
  throw new PawlError("not_running", message);
}
