import { messageOf } from "../../base/errors.ts";
import { storableText } from "../../base/json.ts";
import { nearest } from "../../base/nearest.ts";
import { type Faults, quotedValue } from "../read/fault.ts";
import { inPlace, many, named, pattern, single, values } from "./json-schema-keywords.ts";

/** A JSON Schema itself, for labels without a schema library. */
export interface JsonSchema {
  readonly [keyword: string]: unknown;
  readonly "~standard"?: never;
}

const maxTextLength = 64 * 1024;
const maxDepth = 32;

/** The position in a schema: as its author writes it, as a JSON Pointer, and its depth. */
interface Place {
  readonly name: string;
  readonly pointer: string;
  readonly depth: number;
}

/**
 * Checks a JSON Schema of the dialect 2020-12 before it is used: all keywords known and of the right type, references
 * within the schema and without a circle, valid patterns, all of it bounded. Keywords that begin with `x-` are the
 * author's own.
 */
export function checkJsonSchema(schema: JsonSchema, name: string, faults: Faults): void {
  try {
    const size = storableText(schema, name).length;
    if (size > maxTextLength) {
      faults.add("schema_invalid", name, `It has ${size} characters.`, `Make it ${maxTextLength} or fewer.`);
      return;
    }
  } catch (error) {
    faults.add("schema_invalid", name, messageOf(error), "Write plain JSON.");
    return;
  }
  new SchemaCheck(faults).run(schema, name);
}

class SchemaCheck {
  readonly #faults: Faults;
  /** Every schema within, by its JSON Pointer, and the pointers that are applied to the very same value. */
  readonly #sameValue = new Map<string, string[]>();
  readonly #anchors = new Map<string, string>();
  readonly #references: { readonly to: string; readonly place: Place }[] = [];

  constructor(faults: Faults) {
    this.#faults = faults;
  }

  run(schema: JsonSchema, name: string): void {
    const before = this.#faults.list.length;
    this.#schema(schema, { name, pointer: "", depth: 0 });
    for (const { to, place } of this.#references) {
      const target = this.#resolve(to);
      if (target !== undefined) this.#sameValue.get(parentOf(place.pointer))!.push(target);
      else this.#fault(place, `${quotedValue(to)} leads nowhere in this schema.`, 'Write one such as "#/$defs/name".');
    }
    const circle = this.#faults.list.length === before ? this.#findCircle() : undefined;
    if (circle === undefined) return;
    const remedy = "A reference to itself must lie within `properties`, `items` and the like.";
    this.#faults.add("schema_invalid", name, `At "#${circle}" it refers to itself without an end.`, remedy);
  }

  #fault(place: Place, problem: string, remedy: string): undefined {
    this.#faults.add("schema_invalid", place.name, problem, remedy);
  }

  #schema(value: unknown, place: Place): void {
    if (typeof value === "boolean") {
      this.#sameValue.set(place.pointer, []);
      return;
    }
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      this.#fault(place, `It is ${quotedValue(value)}.`, "Write a schema: an object, true or false.");
      return;
    }
    if (place.depth > maxDepth) {
      this.#fault(place, `It is nested deeper than ${maxDepth} levels.`, "Move parts to `$defs` and refer to them.");
      return;
    }
    this.#sameValue.set(place.pointer, []);
    for (const [keyword, given] of Object.entries(value)) {
      if (!keyword.startsWith("x-")) this.#keyword(keyword, given, within(place, keyword));
    }
  }

  #keyword(keyword: string, value: unknown, place: Place): void {
    if (single.includes(keyword)) this.#inner(keyword, value, place);
    else if (many.includes(keyword)) this.#list(keyword, value, place);
    else if (named.includes(keyword)) this.#map(keyword, value, place);
    else if (Object.hasOwn(values, keyword)) {
      const problem = values[keyword]!(value, place.depth);
      if (problem !== undefined) this.#fault(place, `It is ${quotedValue(value)}.`, problem);
      else if (keyword === "$ref") this.#references.push({ to: value as string, place });
      else if (keyword === "$anchor") this.#anchors.set(value as string, parentOf(place.pointer));
    } else this.#unknown(keyword, place);
  }

  #inner(keyword: string, value: unknown, place: Place): void {
    if (keyword === "items" && Array.isArray(value)) {
      this.#fault(place, "It is a list, as in older dialects.", "Write `prefixItems`.");
      return;
    }
    this.#schema(value, place);
    if (inPlace.includes(keyword)) this.#sameValue.get(parentOf(place.pointer))!.push(place.pointer);
  }

  #list(keyword: string, value: unknown, place: Place): void {
    if (!Array.isArray(value) || value.length === 0) {
      this.#fault(place, `It is ${quotedValue(value)}.`, "Write a list of schemas, at least one.");
      return;
    }
    value.forEach((each, index) => {
      const inner = within(place, String(index));
      this.#schema(each, inner);
      if (inPlace.includes(keyword)) this.#sameValue.get(parentOf(place.pointer))!.push(inner.pointer);
    });
  }

  #map(keyword: string, value: unknown, place: Place): void {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      this.#fault(place, `It is ${quotedValue(value)}.`, "Write an object of schemas.");
      return;
    }
    for (const [name, each] of Object.entries(value)) {
      const inner = within(place, name);
      const problem = keyword === "patternProperties" ? pattern(name, inner.depth) : undefined;
      if (problem !== undefined) this.#fault(inner, `It is ${quotedValue(name)}.`, problem);
      this.#schema(each, inner);
      if (keyword === "dependentSchemas") this.#sameValue.get(parentOf(place.pointer))!.push(inner.pointer);
    }
  }

  #unknown(keyword: string, place: Place): void {
    const close = nearest(keyword, [...single, ...many, ...named, ...Object.keys(values)]);
    const own = "Remove it, or prefix it with `x-` if it is your own.";
    const remedy = close === undefined ? own : `Did you mean ${quotedValue(close)}?`;
    this.#faults.add("key_unknown", place.name, `JSON Schema has no keyword ${quotedValue(keyword)}.`, remedy);
  }

  #resolve(reference: string): string | undefined {
    const name = decoded(reference.slice(1));
    const pointer = name === "" || name?.startsWith("/") ? name : this.#anchors.get(name ?? "");
    return pointer !== undefined && this.#sameValue.has(pointer) ? pointer : undefined;
  }

  /** A schema that refers to itself without going into the value would be applied without end. */
  #findCircle(): string | undefined {
    const done = new Set<string>();
    const visit = (pointer: string, way: ReadonlySet<string>): string | undefined => {
      if (way.has(pointer)) return pointer;
      if (done.has(pointer)) return undefined;
      done.add(pointer);
      const further = new Set(way).add(pointer);
      for (const next of this.#sameValue.get(pointer) ?? []) {
        const found = visit(next, further);
        if (found !== undefined) return found;
      }
      return undefined;
    };
    for (const pointer of this.#sameValue.keys()) {
      const found = visit(pointer, new Set());
      if (found !== undefined) return found;
    }
    return undefined;
  }
}

function within({ name, pointer, depth }: Place, key: string): Place {
  const escaped = key.replaceAll("~", "~0").replaceAll("/", "~1");
  return { name: `${name}.${key}`.slice(0, 200), pointer: `${pointer}/${escaped}`, depth: depth + 1 };
}

function parentOf(pointer: string): string {
  return pointer.slice(0, pointer.lastIndexOf("/"));
}

function decoded(fragment: string): string | undefined {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return undefined;
  }
}
