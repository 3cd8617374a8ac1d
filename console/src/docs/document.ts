/** The parts of an OpenAPI document that the page reads. */
export interface ApiDocument {
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly tags: readonly { readonly name: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, ApiSchema>> };
}

interface DocumentedOperation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly "x-rights": readonly string[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required: boolean; readonly content: Content };
  readonly responses: { readonly 200: { readonly content: Readonly<Record<string, { readonly schema: ApiSchema }>> } };
}

interface Content {
  readonly "application/json": { readonly schema: ApiSchema };
}

export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required: boolean;
  readonly description?: string;
  readonly schema: ApiSchema;
}

export interface ApiSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly description?: string;
  readonly enum?: readonly (string | null)[];
  readonly items?: ApiSchema;
  readonly properties?: Readonly<Record<string, ApiSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | ApiSchema;
  readonly anyOf?: readonly ApiSchema[];
}

/** One way into the API. */
export interface Operation {
  readonly id: string;
  readonly method: string;
  /** From where Pawl is mounted, such as `/api/instances/{id}`. */
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  /** The rights of which one is needed; empty if none is. */
  readonly rights: readonly string[];
  readonly parameters: readonly Parameter[];
  readonly body: ApiSchema | undefined;
  readonly answers: ApiSchema;
  /** It keeps answering as long as the client is connected. */
  readonly isStream: boolean;
}

/** All operations, as the document has them in its order. */
export function operationsOf(document: ApiDocument): Operation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, one]) => ({
      id: one.operationId,
      method: method.toUpperCase(),
      path,
      tag: one.tags[0]!,
      summary: one.summary,
      rights: one["x-rights"],
      parameters: one.parameters ?? [],
      body: one.requestBody?.content["application/json"].schema,
      answers: Object.values(one.responses[200].content)[0]!.schema,
      isStream: "text/event-stream" in one.responses[200].content,
    })),
  );
}

/** Those that hold every word, in whichever of their texts, by their tags. Tags without any are left out. */
export function findOperations(all: readonly Operation[], words: string): Map<string, Operation[]> {
  const wanted = words
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  const found = new Map<string, Operation[]>();
  for (const one of all) {
    const texts = `${one.id} ${one.method} ${one.path} ${one.summary} ${one.tag}`.toLowerCase();
    if (!wanted.every((word) => texts.includes(word))) continue;
    found.set(one.tag, [...(found.get(one.tag) ?? []), one]);
  }
  return found;
}

/** The name of a referenced schema; undefined for an inline one. */
export function nameOf(schema: ApiSchema): string | undefined {
  return schema.$ref?.split("/").at(-1);
}

/** A schema with its reference resolved. */
export function resolved(document: ApiDocument, schema: ApiSchema): ApiSchema {
  const name = nameOf(schema);
  return name === undefined ? schema : (document.components.schemas[name] ?? {});
}

/** What kind of value it is, in a few words: `text`, `list of Instance`, `whole number or null`. */
export function kindOf(schema: ApiSchema): string {
  const name = nameOf(schema);
  if (name !== undefined) return name;
  if (schema.anyOf !== undefined) return schema.anyOf.map(kindOf).join(" or ");
  const kinds = [schema.type ?? []].flat();
  if (kinds.length === 0) return "any JSON";
  return kinds.map((kind) => kindNamed(kind, schema)).join(" or ");
}

function kindNamed(kind: string, schema: ApiSchema): string {
  if (kind === "array") return `list of ${schema.items === undefined ? "any JSON" : kindOf(schema.items)}`;
  if (kind === "object" && typeof schema.additionalProperties === "object")
    return `object of ${kindOf(schema.additionalProperties)}`;
  if (kind !== "string") return kinds[kind] ?? kind;
  return formats[schema.format ?? ""] ?? "text";
}

const kinds: Readonly<Record<string, string>> = {
  integer: "whole number",
  number: "number",
  boolean: "true or false",
  object: "object",
  null: "null",
};
const formats: Readonly<Record<string, string>> = { "date-time": "moment", uuid: "id" };

/** The schema with properties that is inside of another, such as that of the items of a list; undefined if there is none. */
export function shapeIn(document: ApiDocument, schema: ApiSchema): ApiSchema | undefined {
  const own = resolved(document, schema);
  if (own.properties !== undefined || own.anyOf !== undefined) return own;
  if (own.items !== undefined) return shapeIn(document, own.items);
  return typeof own.additionalProperties === "object" ? shapeIn(document, own.additionalProperties) : undefined;
}
