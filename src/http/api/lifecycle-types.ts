import { validate } from "../../definition/decide/validate.ts";
import type { AnyLifecycle } from "../../definition/language/public-types.ts";
import { acceptLate } from "../../definition/model.ts";
import { acceptsNothing } from "../../definition/read/read.ts";
import type { JsonSchema } from "../../definition/schema/json-schema.ts";
import { jsonSchemaOf } from "../../definition/schema/to-json-schema.ts";

type Json = Readonly<Record<string, unknown>>;

/** The generic part of the document, from which the operations of each lifecycle are made. */
interface Generic {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Json>>>>;
  readonly schemas: Readonly<Record<string, unknown>>;
}

/** Events that Pawl itself sends to states that ask or join. */
const sentByPawl = ["answered", "unanswered", "joined"];
const failure: Json = {
  type: "object",
  properties: { reason: { type: "string" }, type: { type: ["string", "null"] } },
};

/**
 * The operations and schemas of each lifecycle: their paths have its name in the place of `{lifecycle}` (and `{event}`), so
 * that data, states, events and payloads of a generated client are those of the lifecycle. At run time they are the same
 * routes.
 */
export function lifecycleTypes(lifecycles: readonly AnyLifecycle[], generic: Generic): Generic {
  const parts = lifecycles.map((one) => (one.job ? jobTypes(one, generic) : typesOf(one, generic)));
  return {
    paths: Object.assign({}, ...parts.map(({ paths }) => paths)) as Generic["paths"],
    schemas: Object.assign({}, ...parts.map(({ schemas }) => schemas)) as Generic["schemas"],
  };
}

function typesOf(lifecycle: AnyLifecycle, generic: Generic): Generic {
  const { name, data } = lifecycle;
  const paths: Record<string, Record<string, Json>> = {};
  const add = (path: string, method: string, id: string, body?: Body, event?: string) => {
    const operation = generic.paths[path]![method]!;
    const own = path.replace("{lifecycle}", name).replace("{event}", event ?? "");
    paths[own] = { ...paths[own], [method]: narrowed(operation, { name, id, event, body }) };
  };
  const events = eventsOf(lifecycle);
  const payloads = events.map((event) => [event, payloadOf(lifecycle, event)] as const);
  const declared = declaredEvents(lifecycle);
  const byName = "/api/lifecycles/{lifecycle}/instances";
  const byKey = "/api/lifecycles/{lifecycle}/keys/{key}";
  const canBeLeftOut = acceptsNothing(data) || validate(data, {}, "The data").faults === undefined;
  add(byName, "post", "start", { name: "data", schema: ref(`${name}.NewData`), required: !canBeLeftOut });
  add(byName, "get", "list");
  add(byKey, "get", "get");
  for (const [event, payload] of payloads) {
    const schema = payload && { name: "payload", schema: ref(`${name}.payload.${event}`), required: payload.required };
    add(`${byKey}/events/{event}`, "post", `send_${event}`, schema ?? { name: "payload" }, event);
    if (declared.has(event))
      add(`${byKey}/callbacks/{event}`, "post", `receive_${event}`, schema && { ...schema, required: false }, event);
  }
  const own = (title: string, value: JsonSchema | undefined) => ({ [title]: placed(value ?? record, title) });
  const base = generic.schemas.Instance as { readonly properties: Json };
  const started = generic.schemas.Started as { readonly properties: Json };
  const properties = {
    lifecycle: { type: "string", enum: [name] },
    state: ref(`${name}.State`),
    data: ref(`${name}.Data`),
  };
  const schemas = {
    ...own(`${name}.Data`, jsonSchemaOf(data, "output")),
    ...own(`${name}.NewData`, jsonSchemaOf(data, "input")),
    [`${name}.State`]: { type: "string", enum: [...lifecycle.states.keys()] },
    [`${name}.Event`]: { type: "string", enum: events },
    [`${name}.Instance`]: { ...base, properties: { ...base.properties, ...properties } },
    [`${name}.Started`]: { ...started, properties: { ...started.properties, ...properties } },
    ...Object.assign(
      {},
      ...payloads.map(([event, payload]) => payload && own(`${name}.payload.${event}`, payload.schema)),
    ),
  };
  return { paths, schemas };
}

function jobTypes({ name, data }: AnyLifecycle, generic: Generic): Generic {
  const operation = generic.paths["/api/jobs/{job}"]!.post!;
  const body = { name: "payload", schema: ref(`${name}.NewData`), required: false };
  const post = narrowed(operation, { name, id: "enqueue", event: undefined, body });
  const title = `${name}.NewData`;
  const { Started } = generic.schemas;
  return {
    paths: { [`/api/jobs/${name}`]: { post } },
    schemas: { [title]: placed(jsonSchemaOf(data, "input") ?? record, title), [`${name}.Started`]: Started },
  };
}

const record: JsonSchema = { type: "object", additionalProperties: true };

function ref(title: string): Json {
  return { $ref: `#/components/schemas/${title}` };
}

/** The events that callers can send, in order of declaration. */
function eventsOf({ edges }: AnyLifecycle): string[] {
  const all = new Set(edges.map(({ event }) => event));
  return [...all].filter((event) => event !== acceptLate && !sentByPawl.includes(event));
}

/** Those that the definition itself names: a result from outside can be one of them. */
function declaredEvents({ edges }: AnyLifecycle): ReadonlySet<string> {
  return new Set(edges.filter(({ builtIn, event }) => !builtIn && event !== "fail").map(({ event }) => event));
}

function payloadOf(
  lifecycle: AnyLifecycle,
  event: string,
): { readonly schema: JsonSchema | undefined; readonly required: boolean } | undefined {
  if (event === "fail") return { schema: failure, required: false };
  const schema = lifecycle.events.get(event);
  return schema && { schema: jsonSchemaOf(schema, "input") ?? {}, required: !acceptsNothing(schema) };
}

/** A property of the request that has a schema of its own; without one, it is left out. */
interface Body {
  readonly name: string;
  readonly schema?: Json | undefined;
  readonly required?: boolean;
}

interface Narrowing {
  readonly name: string;
  readonly id: string;
  readonly event: string | undefined;
  readonly body: Body | undefined;
}

/** An operation for one lifecycle: without the path parameters that are fixed, and with its own schemas. */
function narrowed(operation: Json, { name, id, event, body }: Narrowing): Json {
  const text = JSON.stringify(operation).replaceAll(
    /"#\/components\/schemas\/(Instance|Started)"/g,
    (_, title: string) => JSON.stringify(`#/components/schemas/${name}.${title}`),
  );
  const own = JSON.parse(text) as Record<string, unknown> & {
    parameters?: { in: string; name: string }[];
    requestBody?: { content: Record<string, { schema: { properties: Record<string, unknown>; required?: string[] } }> };
  };
  const { parameters = [], requestBody, summary, ...rest } = own;
  const fixed = ["lifecycle", "job", "event"];
  const open = parameters.filter((one) => one.in !== "path" || !fixed.includes(one.name));
  const about = event === undefined ? `\`${name}\`` : `\`${event}\` of \`${name}\``;
  return {
    ...rest,
    operationId: `${name}_${id}`,
    summary: `${String(summary).replace(/\.$/, "")}: ${about}.`,
    tags: [name],
    ...(open.length > 0 && { parameters: open }),
    ...(requestBody && { requestBody: body === undefined ? requestBody : withBody(requestBody, body) }),
  };
}

function withBody(
  requestBody: { readonly content: Record<string, { schema: { properties: Json; required?: string[] } }> },
  { name, schema, required = false }: Body,
): Json {
  const [type, { schema: given }] = Object.entries(requestBody.content)[0]!;
  const { [name]: _, ...others } = given.properties;
  const needed = [...new Set([...(given.required ?? []), ...(required ? [name] : [])])];
  const { required: __, ...rest } = given;
  const properties = schema === undefined ? others : { [name]: schema, ...others };
  const own = { ...rest, properties, ...(needed.length > 0 && { required: needed }) };
  return { ...requestBody, required: needed.length > 0, content: { [type]: { schema: own } } };
}

/** A schema of the user's as a component of the document: its references to itself lead there. */
function placed(schema: JsonSchema, title: string): JsonSchema {
  const inside = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(inside);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, one]) => {
        const isOwn = key === "$ref" && typeof one === "string" && one.startsWith("#");
        return [key, isOwn ? `#/components/schemas/${title}${one.slice(1)}` : inside(one)];
      }),
    );
  };
  const { $schema: _, $id: __, ...rest } = schema;
  return inside(rest) as JsonSchema;
}
