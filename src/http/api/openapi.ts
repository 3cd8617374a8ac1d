import { ownVersion } from "../../api/open/version.ts";
import type { AnyLifecycle } from "../../definition/language/public-types.ts";
import type { Problem } from "../problem.ts";
import { type OtherOperation, otherOperations } from "../routes/other-operations.ts";
import { routes } from "../routes/routes.ts";
import { repeatKeys } from "./arguments.ts";
import { lifecycleTypes } from "./lifecycle-types.ts";
import { namesIn, type Route } from "./route.ts";
import { about, listOf, named, record, type Schema, shape, text, whole } from "./schema.ts";

type Document = Readonly<Record<string, unknown>>;

const fault = shape<NonNullable<Problem["faults"]>[number]>({ path: text, code: text, message: text });
const problem = named("Problem", {
  ...shape<Problem>(
    {
      type: text,
      title: text,
      status: whole,
      code: about(text, "A stable code for programs."),
      detail: text,
      details: about(record, "The details as data, such as each blocker of a refused move."),
      faults: about(listOf(fault), "The faults of a label, each with a JSON Pointer to its place."),
    },
    ["detail", "details", "faults"],
  ),
  description: "RFC 9457, with the code of the library's error.",
});

/**
 * The answer of `/api/openapi.json`: every route with its arguments and answers, as OpenAPI 3.1; with operations of their
 * own for these lifecycles.
 */
export function openapi(base = "", lifecycles: readonly AnyLifecycle[] = []): Document {
  const schemas = new Schemas();
  const names = lifecycles.map(({ name }) => name);
  const paths: Record<string, Record<string, Document>> = {};
  for (const route of routes) {
    const path = `/api${route.path}`;
    paths[path] = { ...paths[path], [route.method]: operation(route, schemas) };
  }
  for (const one of otherOperations)
    paths[one.path] = { ...paths[one.path], [one.method]: otherOperation(one, schemas) };
  const content = { "application/problem+json": { schema: schemas.referTo(problem) } };
  const typed = lifecycleTypes(lifecycles, { paths, schemas: schemas.all });
  return {
    openapi: "3.1.0",
    info: { title: "Pawl", version: ownVersion(), summary: "A durable lifecycle engine.", description: introduction },
    servers: [{ url: base === "" ? "/" : base, description: "Where Pawl is mounted." }],
    security: [{ token: [] }, { session: [] }],
    tags: [...new Set([...routes, ...otherOperations].map((one) => one.tag)), ...names].map((name) => ({ name })),
    paths: { ...paths, ...typed.paths },
    components: {
      securitySchemes: {
        token: { type: "http", scheme: "bearer", description: "Created with `pawl token create`, or by an admin." },
        session: {
          type: "apiKey",
          in: "cookie",
          name: "__Host-pawl_session",
          description: "The session cookie of a browser. Without HTTPS: pawl_session_<port>.",
        },
      },
      schemas: { ...schemas.all, ...typed.schemas },
      responses: { Problem: { description: "The request was refused or failed.", content } },
    },
  };
}

const introduction = [
  "Requests and responses are JSON; times are strings such as `2026-01-31T12:00:00Z`.",
  "A GET has its arguments in the query, a list as a repeated name or with commas; other methods have a JSON body.",
  "Lists are paginated: pass the `id` of the last item as `after`.",
  "Repeat a write that supports `Idempotency-Key` with the same key: it happens once, and each repetition returns the first response.",
  "Errors are problem details (RFC 9457) with a stable `code`.",
].join(" ");

/** The schemas that have a name: each is written once, and referred to. */
class Schemas {
  readonly all: Record<string, Schema> = {};

  referTo(schema: Schema): Schema {
    const { title } = schema;
    if (title === undefined) return this.#inside(schema);
    if (this.all[title] === undefined) {
      this.all[title] = {};
      this.all[title] = this.#inside(schema);
    }
    return { $ref: `#/components/schemas/${title}` };
  }

  #inside(schema: Schema): Schema {
    const { items, properties, additionalProperties, anyOf } = schema;
    const refer = (one: Schema) => this.referTo(one);
    const each = Object.entries(properties ?? {}).map(([name, one]) => [name, this.referTo(one)]);
    return {
      ...schema,
      ...(items && { items: refer(items) }),
      ...(properties && { properties: Object.fromEntries(each) as Record<string, Schema> }),
      ...(typeof additionalProperties === "object" && { additionalProperties: refer(additionalProperties) }),
      ...(anyOf && { anyOf: anyOf.map(refer) }),
    };
  }
}

function rightsIn({ right, reserved }: Route): string {
  const needed = `Needs the right to ${[right].flat().join(" or ")}.`;
  if (reserved === undefined) return needed;
  const values = reserved.values.map((value) => `\`${value}\``).join(", ");
  return `${needed} The ${reserved.name}s ${values} need the right to ${reserved.right}.`;
}

function operation(route: Route, schemas: Schemas): Document {
  const { takes = {} } = route;
  const taken = Object.entries(takes).map(([name, schema]): [string, Schema] => [name, schemas.referTo(schema)]);
  const isGet = route.method === "get";
  const parameters = [
    ...namesIn(route.path).map((name) => pathParameter(name, pathNames[name] ?? `The name of the ${name}.`)),
    ...(isGet ? taken : []).map(([name, schema]) => queryParameter(name, schema, requiredOf(route).includes(name))),
    ...(!isGet && repeatKeys.some((name) => name in takes) ? [repeatHeader] : []),
  ];
  return {
    operationId: route.name,
    tags: [route.tag],
    summary: route.summary,
    description: rightsIn(route),
    "x-rights": [route.right].flat(),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(isGet || taken.length === 0 ? {} : { requestBody: bodyOf(route, taken) }),
    responses: responsesOf(json, schemas.referTo(route.answer)),
  };
}

function otherOperation(one: OtherOperation, schemas: Schemas): Document {
  const { operation: operationId, tag, summary, may, inPath = {}, inQuery = {}, body, type = json, answers } = one;
  const parameters = [
    ...Object.entries(inPath).map(([name, description]) => pathParameter(name, description)),
    ...Object.entries(inQuery).map(([name, schema]) => queryParameter(name, schema, false)),
    ...(one.repeats === true ? [repeatHeader] : []),
  ];
  return {
    operationId,
    tags: [tag],
    summary,
    description: may === null ? "Needs no authentication." : `Needs the right to ${may}.`,
    "x-rights": may === null ? [] : [may],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body && { requestBody: { required: true, content: { [json]: { schema: schemas.referTo(body) } } } }),
    responses: responsesOf(type, schemas.referTo(answers)),
  };
}

const json = "application/json";

function responsesOf(type: string, schema: Schema): Document {
  return {
    200: { description: "Done.", content: { [type]: { schema } } },
    default: { $ref: "#/components/responses/Problem" },
  };
}

/**
 * The required arguments of a request in its query or body: the caller is known, and an idempotency key may be a
 * header.
 */
function requiredOf({ needs = [] }: Route): readonly string[] {
  return needs.filter((name) => !["actor", "labeler", ...repeatKeys].includes(name));
}

const pathNames: Readonly<Record<string, string>> = {
  id: "The id.",
  key: "The key that the caller chose at the start.",
  lane: "Such as `essay`, `essay/grading` or `essay:after`; encode a slash as %2F.",
};

function pathParameter(name: string, description: string): Document {
  return { name, in: "path", required: true, description, schema: text };
}

function queryParameter(name: string, { description, ...schema }: Schema, required: boolean): Document {
  const isList = schema.type === "array";
  return {
    name,
    in: "query",
    required,
    ...(description && { description }),
    schema,
    ...(isList && { style: "form", explode: true }),
  };
}

const repeatHeader = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  description: "A repeated request with the same key returns the first response and changes nothing.",
  schema: text,
};

function bodyOf(route: Route, taken: readonly (readonly [string, Schema])[]): Document {
  const required = requiredOf(route);
  const isRequired = required.length > 0;
  const schema = {
    type: "object",
    properties: Object.fromEntries(taken),
    additionalProperties: false,
    ...(isRequired && { required }),
  };
  return { required: isRequired, content: { [json]: { schema } } };
}
