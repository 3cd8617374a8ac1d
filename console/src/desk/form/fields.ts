import { isSchema, type Schema, wordsOf } from "../../parts/sample/words.ts";

/** One of the options to choose from. */
export interface Option {
  readonly value: unknown;
  readonly title: string;
  readonly description: string | undefined;
}

interface Told {
  readonly title: string | undefined;
  readonly description: string | undefined;
  /** Its value before any input. */
  readonly initial: unknown;
  /** An empty field means null. */
  readonly nullable: boolean;
}

/** A field of the form: the input for a part of the label's schema. */
export type Field = Told &
  (
    | { readonly kind: "choice"; readonly options: readonly Option[]; readonly look: "rows" | "scale" | "list" }
    | { readonly kind: "many"; readonly options: readonly Option[] }
    | { readonly kind: "number"; readonly whole: boolean; readonly min?: number; readonly max?: number }
    | { readonly kind: "text"; readonly long: boolean; readonly most?: number; readonly format?: string }
    | { readonly kind: "list"; readonly item: Field; readonly least: number; readonly most: number }
    | { readonly kind: "group"; readonly entries: readonly Entry[] }
    /** A part without a field of its own: JSON, which the server validates. */
    | { readonly kind: "json"; readonly schema: Schema }
  );

export type FieldOf<Kind extends Field["kind"]> = Extract<Field, { readonly kind: Kind }>;

/** A property of an object. */
interface Entry {
  readonly name: string;
  readonly field: Field;
  readonly required: boolean;
}

const maxRows = 15;
const maxOnScale = 11;
const longText = 120;
/** Keywords that no field can represent. */
const beyond = ["allOf", "not", "if", "patternProperties", "prefixItems", "dependentSchemas", "contains"];

/** The form of a label's schema. Only parts that the form cannot represent become JSON fields. */
export function readField(schema: unknown, root: unknown = schema, depth = 0): Field {
  const found = resolved(schema, root);
  if (found === undefined || depth > 12) return jsonField(isSchema(schema) ? schema : {});
  const plain = withoutNull(found, root);
  const common = toldBy({ ...plain.schema, ...titlesOf(found) }, plain.nullable);
  const field = readPlain(plain.schema, root, depth, common);
  return field ?? jsonField(found);
}

function readPlain(schema: Schema, root: unknown, depth: number, common: Told): Field | undefined {
  if (beyond.some((keyword) => keyword in schema)) return undefined;
  const options = optionsOf(schema, root);
  if (options !== undefined) return choiceOf(options, common);
  if ("anyOf" in schema || "oneOf" in schema) return undefined;
  switch (schema.type) {
    case "boolean":
      return choiceOf([option(true, { title: "Yes" }), option(false, { title: "No" })], common);
    case "integer":
    case "number":
      return numberOf(schema, common);
    case "string":
      return textOf(schema, common);
    case "array":
      return arrayOf(schema, root, depth, common);
    case "object":
      return groupOf(schema, root, depth, common);
    default:
      return undefined;
  }
}

function choiceOf(options: readonly Option[], common: Told): Field {
  const isScale = options.length > 2 && options.every(({ value }) => typeof value === "number");
  const look = options.length > maxRows ? "list" : isScale ? "scale" : "rows";
  return { ...common, kind: "choice", options, look };
}

/** A few whole numbers are chosen, all others typed. */
function numberOf(schema: Schema, common: Told): Field {
  const whole = schema.type === "integer";
  const min = bound(schema.minimum, schema.exclusiveMinimum, whole ? 1 : 0);
  const max = bound(schema.maximum, schema.exclusiveMaximum, whole ? -1 : 0);
  const isShort = whole && min !== undefined && max !== undefined && max - min < maxOnScale && max > min;
  if (isShort && schema["x-widget"] !== "number" && schema.multipleOf === undefined) {
    const values = Array.from({ length: Math.floor(max - min) + 1 }, (_, index) => Math.ceil(min) + index);
    return {
      ...common,
      kind: "choice",
      look: "scale",
      options: values.map((value) => option(value, {})),
    };
  }
  return {
    ...common,
    kind: "number",
    whole,
    ...(min === undefined ? {} : { min }),
    ...(max === undefined ? {} : { max }),
  };
}

/** A limit such as "any safe integer", which libraries generate, is ignored. */
function bound(inclusive: unknown, exclusive: unknown, step: number): number | undefined {
  const given =
    typeof inclusive === "number" ? inclusive : typeof exclusive === "number" ? exclusive + step : undefined;
  return given === undefined || Math.abs(given) >= Number.MAX_SAFE_INTEGER - 1 ? undefined : given;
}

function textOf(schema: Schema, common: Told): Field {
  const most = typeof schema.maxLength === "number" ? schema.maxLength : undefined;
  const format = typeof schema.format === "string" ? schema.format : undefined;
  const widget = schema["x-widget"];
  const isShort = format !== undefined || (most !== undefined && most <= longText) || schema.pattern !== undefined;
  const long = widget === "textarea" || (widget !== "input" && !isShort);
  return {
    ...common,
    kind: "text",
    long,
    ...(most === undefined ? {} : { most }),
    ...(format === undefined ? {} : { format }),
  };
}

function arrayOf(schema: Schema, root: unknown, depth: number, common: Told): Field | undefined {
  const items = resolved(schema.items, root);
  if (items === undefined) return undefined;
  const options = optionsOf(items, root);
  if (options !== undefined && options.length <= maxRows * 2) return { ...common, kind: "many", options };
  const item = readField(items, root, depth + 1);
  if (item.kind === "json") return undefined;
  const least = typeof schema.minItems === "number" ? schema.minItems : 0;
  const most = typeof schema.maxItems === "number" ? schema.maxItems : Number.POSITIVE_INFINITY;
  return { ...common, kind: "list", item, least, most };
}

function groupOf(schema: Schema, root: unknown, depth: number, common: Told): Field | undefined {
  const { properties, required, additionalProperties } = schema;
  // An object whose keys the labeler would have to enter.
  if (!isSchema(properties) || isSchema(additionalProperties)) return undefined;
  const needed = Array.isArray(required) ? required : [];
  const entries = Object.entries(properties).map(([name, part]) => ({
    name,
    field: readField(part, root, depth + 1),
    required: needed.includes(name),
  }));
  return { ...common, kind: "group", entries };
}

/** The values of an enum, or of alternatives that are one value each; undefined where there is nothing to choose. */
function optionsOf(schema: Schema, root: unknown): Option[] | undefined {
  if (Array.isArray(schema.enum))
    return schema.enum.every(isSimple) ? schema.enum.map((one) => option(one, {})) : undefined;
  if ("const" in schema) return isSimple(schema.const) ? [option(schema.const, schema)] : undefined;
  const alternatives = schema.oneOf ?? schema.anyOf;
  if (!Array.isArray(alternatives) || alternatives.length === 0) return undefined;
  const all = alternatives.map((one) => resolved(one, root));
  const isEach = all.every((one): one is Schema => one !== undefined && "const" in one && isSimple(one.const));
  return isEach ? all.map((one) => option(one.const, one)) : undefined;
}

function option(value: unknown, common: Schema): Option {
  const { title, description } = titlesOf(common);
  return { value, title: title ?? (value === null ? "None" : wordsOf(String(value))), description };
}

/** A nullable part is that part; an empty field means null. */
function withoutNull(schema: Schema, root: unknown): { schema: Schema; nullable: boolean } {
  if (Array.isArray(schema.type)) {
    const types = schema.type.filter((type) => type !== "null");
    return {
      schema: { ...schema, type: types.length === 1 ? types[0] : types },
      nullable: types.length < schema.type.length,
    };
  }
  if (Array.isArray(schema.enum) && schema.enum.includes(null) && schema.enum.length > 1)
    return { schema: { ...schema, enum: schema.enum.filter((one) => one !== null) }, nullable: true };
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (!Array.isArray(alternatives)) return { schema, nullable: false };
  const others = alternatives.filter((one) => !(isSchema(one) && one.type === "null"));
  if (others.length === alternatives.length) return { schema, nullable: false };
  const { anyOf: _anyOf, oneOf: _oneOf, ...rest } = schema;
  const only = others.length === 1 ? resolved(others[0], root) : undefined;
  return { schema: only === undefined ? { ...rest, anyOf: others } : { ...only, ...rest }, nullable: true };
}

/** Follows a reference within the schema; undefined where it leads nowhere, or in a circle. */
function resolved(schema: unknown, root: unknown): Schema | undefined {
  let found = schema;
  for (let hops = 0; hops < 8; hops++) {
    if (!isSchema(found)) return undefined;
    const { $ref, ...siblings } = found;
    if (typeof $ref !== "string") return found;
    const target = $ref === "#" ? undefined : valueAt(root, $ref);
    if (!isSchema(target)) return undefined;
    found = { ...target, ...siblings };
  }
  return undefined;
}

function valueAt(root: unknown, reference: string): unknown {
  if (!reference.startsWith("#/")) return undefined;
  let found: unknown = root;
  for (const part of reference.slice(2).split("/")) {
    const name = decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~");
    if (!isSchema(found) || !Object.hasOwn(found, name)) return undefined;
    found = found[name];
  }
  return found;
}

function toldBy(schema: Schema, nullable: boolean): Told {
  return { ...titlesOf(schema), initial: schema.default, nullable };
}

function titlesOf({ title, description }: Schema): { title: string | undefined; description: string | undefined } {
  return {
    title: typeof title === "string" ? title : undefined,
    description: typeof description === "string" ? description : undefined,
  };
}

function jsonField(schema: Schema): Field {
  return { ...toldBy(schema, false), kind: "json", schema };
}

function isSimple(value: unknown): boolean {
  return value === null || ["string", "number", "boolean"].includes(typeof value);
}
