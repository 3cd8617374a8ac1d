import { type ApiDocument, type ApiSchema, type Operation, resolved } from "./document.ts";

/** The input of the form: a text for each parameter, and the body as JSON. */
export interface Filled {
  readonly parameters: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A request as it would be sent. */
export interface ReadyRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  /** The answer is shown unchanged. */
  readonly isStream: boolean;
}

/** The request of an input. Parameters without a value stay in the path in braces. */
export function requestOf(operation: Operation, filled: Filled, mountedAt: string): ReadyRequest {
  const given = (name: string) => filled.parameters[name] ?? "";
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (braces, name: string) =>
    given(name) === "" ? braces : encodeURIComponent(given(name)),
  );
  const query = new URLSearchParams();
  const headers: Record<string, string> = {};
  for (const { name, in: place, schema } of operation.parameters) {
    const value = given(name);
    if (value === "" || place === "path") continue;
    if (place === "header") headers[name] = value;
    else if (schema.type === "array") for (const one of value.split(",")) query.append(name, one.trim());
    else query.append(name, value);
  }
  const body = operation.body === undefined || filled.body.trim() === "" ? null : filled.body;
  if (body !== null) headers["Content-Type"] = "application/json";
  const search = query.size === 0 ? "" : `?${query}`;
  const { method, isStream } = operation;
  return { method, url: `${mountedAt.replace(/\/$/, "")}${path}${search}`, headers, body, isStream };
}

/** Required parameters without input. */
export function missingIn(operation: Operation, filled: Filled): string[] {
  const needed = operation.parameters.filter((one) => one.required).map((one) => one.name);
  return needed.filter((name) => (filled.parameters[name] ?? "") === "");
}

/** The same for a terminal, where the token is in `$PAWL_TOKEN`. */
export function curlOf({ method, url, headers, body, isStream }: ReadyRequest): string {
  const parts = [
    `curl${isStream ? " -N" : ""}${method === "GET" ? "" : ` -X ${method}`} ${quoted(url)}`,
    `-H "Authorization: Bearer $PAWL_TOKEN"`,
    ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(body === null ? [] : [`-d ${quoted(body)}`]),
  ];
  return parts.join(" \\\n  ");
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** A minimal body with the required fields. Undefined if there are none. */
export function bodyToBeginWith(document: ApiDocument, schema: ApiSchema | undefined): string {
  if (schema === undefined) return "";
  const { required = [], properties = {} } = resolved(document, schema);
  if (required.length === 0) return "{}";
  const entries = required.map((name) => [name, leastOf(document, properties[name]!)]);
  return JSON.stringify(Object.fromEntries(entries), undefined, 2);
}

function leastOf(document: ApiDocument, schema: ApiSchema): unknown {
  const own = resolved(document, schema);
  if (own.enum !== undefined) return own.enum[0];
  const [kind] = [own.type ?? "object"].flat();
  if (kind === "array") return own.items === undefined ? [] : [leastOf(document, own.items)];
  if (kind === "object") {
    const needed = (own.required ?? []).map((name) => [name, leastOf(document, own.properties![name]!)]);
    return Object.fromEntries(needed);
  }
  return { integer: 1, number: 1, boolean: false }[kind!] ?? "";
}
