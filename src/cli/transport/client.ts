import { type ErrorCode, errorCodes, messageOf, PawlError } from "../../base/errors.ts";
import { maxRequestBytes } from "../../http/api/body.ts";
import { namesIn, type Route } from "../../http/api/route.ts";
import type { Problem } from "../../http/problem.ts";
import { type AnswerOf, type RouteName, routes } from "../../http/routes/routes.ts";

type Arguments = Readonly<Record<string, unknown>>;

/** Calls an operation of the API by its name, or by its name and `ByKey`, whichever has a path for these arguments. */
export type Call = <Name extends RouteName>(name: Name, args: Arguments) => Promise<AnswerOf<Name>>;

export interface OutgoingRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly body: string | undefined;
  /** Its answer can take as long as it takes. */
  readonly isPatient: boolean;
}

/** Carries requests to a Pawl. */
export interface Carrier {
  /** Such as its URL, for messages. */
  readonly place: string;
  send(request: OutgoingRequest): Promise<Response>;
}

export function callOver(carrier: Carrier): Call {
  return async (name, given) => {
    const args = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined && value !== null));
    const route = routeFor(name, args);
    const rest = Object.entries(args).filter(([each]) => !namesIn(route.path).includes(each));
    const isGet = route.method === "get";
    const body = isGet ? undefined : JSON.stringify(Object.fromEntries(rest));
    // A server that refuses it closes the connection, which may be seen before its answer.
    if (body !== undefined && Buffer.byteLength(body) > maxRequestBytes)
      throw new PawlError(
        "value_not_serializable",
        `The arguments of \`${name}\` are larger than a request may be, 1 MiB.`,
      );
    const response = await carrier.send({
      method: route.method.toUpperCase(),
      path: `/api${pathOf(route, args)}${isGet ? queryOf(rest) : ""}`,
      body,
      isPatient: route.waits === true || route.isSlow === true,
    });
    return (await read(response, carrier, route)) as never;
  };
}

/** The route with this name whose path can be filled with the given arguments, and uses most of them. */
function routeFor(name: string, args: Arguments): Route {
  const found = routes
    .filter((route) => route.name === name || route.name === `${name}ByKey`)
    .filter(({ path }) => namesIn(path).every((each) => each in args))
    .sort((one, other) => namesIn(other.path).length - namesIn(one.path).length)[0];
  if (found !== undefined) return found;
  const wanted = routes.filter((route) => route.name === name).flatMap(({ path }) => namesIn(path));
  throw new PawlError("option_invalid", `\`${name}\` needs ${wanted.map((each) => `\`${each}\``).join(" and ")}.`);
}

function pathOf({ path }: Route, args: Arguments): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = textOf(args[name]);
    // Servers resolve these path segments even if they are encoded.
    if (value === "." || value === "..")
      throw new PawlError("option_invalid", `The ${name} "${value}" cannot be used in a path. Use the id instead.`);
    return encodeURIComponent(value);
  });
}

function queryOf(args: readonly (readonly [string, unknown])[]): string {
  const pairs = args.flatMap(([name, value]) => [value].flat().map((one): [string, string] => [name, textOf(one)]));
  return pairs.length === 0 ? "" : `?${new URLSearchParams(pairs).toString()}`;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

async function read(response: Response, { place }: Carrier, { path }: Route): Promise<unknown> {
  const isJson = /^application\/(?:problem\+)?json/.test(response.headers.get("content-type") ?? "");
  if (!isJson) throw new PawlError("not_running", `The server at ${place} is not Pawl (status ${response.status}).`);
  const answer: unknown = await response.json();
  if (response.ok) return answer;
  const { code, detail, title, details } = answer as Problem;
  if (Object.hasOwn(errorCodes, code)) throw new PawlError(code as ErrorCode, detail ?? title, details ?? {});
  throw new PawlError("not_running", `Pawl at ${place} has no /api${path} (${title}); it may have another version.`);
}

/** A Pawl at any address, which requires a token; neither its config nor its database is needed. */
export function overUrl(url: string, token: string | undefined): Carrier {
  const headers = {
    "content-type": "application/json",
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  };
  return {
    place: url,
    async send({ method, path, body }) {
      try {
        return await fetch(`${url}${path}`, { method, headers, ...(body !== undefined && { body }) });
      } catch (error) {
        const cause = (error as { cause?: unknown }).cause ?? error;
        throw new PawlError(
          "not_running",
          `Could not connect to ${url}: ${messageOf(cause)}. Start Pawl there, or fix --url or PAWL_URL.`,
        );
      }
    },
  };
}
