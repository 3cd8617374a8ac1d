import { ownVersion } from "../../version.ts";
import type { Problem } from "../problem.ts";
import { namesIn, operationOf, type Route } from "./route.ts";
import { routes } from "./routes.ts";
import { about, listOf, shape, text, whole } from "./schema.ts";

type Document = Readonly<Record<string, unknown>>;

const fault = shape<NonNullable<Problem["faults"]>[number]>({ path: text, code: text, message: text });
const problem = {
  ...shape<Problem>(
    {
      type: text,
      title: text,
      status: whole,
      code: text,
      detail: text,
      faults: about(listOf(fault), "What is wrong with a label, each at its place, a JSON Pointer."),
    },
    ["detail", "faults"],
  ),
  description: "RFC 9457, with the code of the library's error.",
};

/** What `/api/openapi.json` answers: every route with what it takes and answers, as OpenAPI 3.1. */
export function openapi(): Document {
  const paths: Record<string, Record<string, Document>> = {};
  for (const route of routes) {
    const path = `/api${route.path}`;
    paths[path] = { ...paths[path], [route.method]: operation(route) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Pawl",
      version: ownVersion(),
      description: "A durable lifecycle engine. Writes take an `Idempotency-Key` where they say so.",
    },
    servers: [{ url: "." }],
    security: [{ token: [] }, { session: [] }],
    tags: [...new Set(routes.map((route) => route.tag))].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: {
        token: { type: "http", scheme: "bearer" },
        session: { type: "apiKey", in: "cookie", name: "pawl_session" },
      },
      schemas: { Problem: problem },
      responses: {
        Problem: {
          description: "It was refused, or failed.",
          content: { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } },
        },
      },
    },
  };
}

function operation(route: Route): Document {
  const inPath = namesIn(route.path);
  const taken = Object.entries(route.takes ?? {});
  const parameters = [
    ...inPath.map((name) => ({ name, in: "path", required: true, schema: text })),
    ...(route.method === "get" ? taken : []).map(([name, schema]) => ({
      name,
      in: "query",
      required: route.needs?.includes(name) ?? false,
      schema,
      ...(schema.type === "array" ? { style: "form", explode: true } : {}),
    })),
  ];
  const body = {
    type: "object",
    properties: Object.fromEntries(taken),
    additionalProperties: false,
    ...(route.needs === undefined ? {} : { required: route.needs }),
  };
  return {
    operationId: operationOf(route),
    tags: [route.tag],
    summary: route.summary,
    description: `Needs the right to ${[route.may].flat().join(" or ")}.`,
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(route.method === "get" || taken.length === 0
      ? {}
      : { requestBody: { required: route.needs !== undefined, content: { "application/json": { schema: body } } } }),
    responses: {
      200: { description: "Done.", content: { "application/json": { schema: route.answers } } },
      default: { $ref: "#/components/responses/Problem" },
    },
  };
}
