import type { AnswerAt } from "../../src/http/answers-by-path.ts";
import type { Problem } from "../../src/http/contract.ts";
import { noteAway } from "./connection.ts";

/** The error of the server, with its message. */
export class Refused extends Error {
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.detail ?? problem.title);
    this.problem = problem;
  }

  get signedOut(): boolean {
    return this.problem.status === 401;
  }
}

const unreachable: Problem = {
  type: "about:blank",
  title: "Not reachable",
  status: 0,
  code: "unreachable",
  detail: "Pawl does not respond. It may be stopped; this page reconnects when it is back.",
};

export type Query = Readonly<Record<string, string | number | boolean | readonly string[] | null | undefined>>;

/** A path below `/api`, seen from where the console is mounted. */
export function apiUrl(path: string, query: Query = {}): string {
  const url = new URL(`api${path}`, document.baseURI);
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === null || value === "") continue;
    for (const one of Array.isArray(value) ? value : [value]) url.searchParams.append(name, String(one));
  }
  return url.href;
}

async function ask<Answer>(
  method: string,
  url: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
  keepalive = false,
): Promise<Answer> {
  let response: Response;
  try {
    response = await fetch(url, {
      method,
      headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
      body: body === undefined ? null : JSON.stringify(body),
      keepalive,
    });
  } catch {
    noteAway("Pawl");
    throw new Refused(unreachable);
  }
  if (response.ok) return (await response.json()) as Answer;
  const isProblem = response.headers.get("content-type")?.startsWith("application/problem+json") === true;
  if (!isProblem) {
    if (response.status >= 500) noteAway("Pawl");
    throw new Refused({ ...unreachable, status: response.status });
  }
  const problem = (await response.json()) as Problem;
  if (problem.code.startsWith("database_")) noteAway("The database");
  throw new Refused(problem);
}

/** Refuses a path that no route has, at compile time. */
type Known<Verb extends "get" | "post" | "put" | "delete", Path extends string> = [AnswerAt<Verb, Path>] extends [never]
  ? never
  : unknown;

/** Reads a path of the API; its answer has the type of the route's. */
export function get<const Path extends string>(
  path: Path & Known<"get", Path>,
  query?: Query,
): Promise<AnswerAt<"get", Path>> {
  return read(path, query);
}

/** Reads a path that is outside of the table of routes, or is known only when it runs. */
export function read<Answer>(path: string, query?: Query): Promise<Answer> {
  return ask("GET", apiUrl(path, query));
}

/** A write. The key makes it safe to press a button again after a lost reply. */
export function post<const Path extends string>(
  path: Path & Known<"post", Path>,
  body?: unknown,
  idempotencyKey?: string,
): Promise<AnswerAt<"post", Path>> {
  return write("POST", path, body, idempotencyKey);
}

/** Writes to a path that is outside of the table of routes. */
export function write<Answer>(
  method: "POST" | "DELETE",
  path: string,
  body: unknown = {},
  idempotencyKey?: string,
): Promise<Answer> {
  return ask(method, apiUrl(path), body, idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey });
}

/** With `keepalive` the request is completed even if the page is closed meanwhile. */
export function put<const Path extends string>(
  path: Path & Known<"put", Path>,
  body: unknown = {},
  options: { keepalive?: boolean } = {},
): Promise<AnswerAt<"put", Path>> {
  return ask("PUT", apiUrl(path), body, {}, options.keepalive);
}

export function remove<const Path extends string>(
  path: Path & Known<"delete", Path>,
  body?: unknown,
): Promise<AnswerAt<"delete", Path>> {
  return ask("DELETE", apiUrl(path), body);
}

/** One part of a path. */
export const part = encodeURIComponent;

export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
