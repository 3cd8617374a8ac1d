import { describe, expect, test } from "vitest";
import { Faults } from "../read/fault.ts";
import { checkJsonSchema, type JsonSchema } from "./json-schema.ts";

function faultsOf(schema: unknown): string[] {
  const faults = new Faults();
  checkJsonSchema(schema as JsonSchema, "label", faults);
  return faults.list.map(({ place, problem, remedy }) => `${place}: ${problem} ${remedy}`);
}

describe("a JSON Schema", () => {
  test("of the dialect 2020-12 is taken, with references within it", () => {
    expect(
      faultsOf({
        $schema: "https://json-schema.org/draft/2020-12/schema",
        $id: "labels",
        title: "A label",
        type: "object",
        required: ["animal"],
        properties: {
          animal: { enum: ["cat", "dog", null], "x-ordered": true },
          boxes: { type: "array", items: { $ref: "#/$defs/box" }, maxItems: 20 },
          tree: { $ref: "#/$defs/a~1b%20c" },
          again: { $ref: "#" },
          named: { $ref: "#note" },
        },
        patternProperties: { "^x": { type: ["string", "null"], pattern: "^\\p{L}+$" } },
        dependentRequired: { boxes: ["animal"] },
        if: { properties: { animal: { const: "cat" } } },
        else: { required: ["boxes"] },
        unevaluatedProperties: false,
        $defs: {
          box: { type: "object", properties: { x: { type: "number", minimum: 0, multipleOf: 0.5 } } },
          "a/b c": { items: { $ref: "#/$defs/a~1b%20c" }, prefixItems: [true, { not: false }] },
          note: { $anchor: "note", type: "string", format: "email" },
        },
      }),
    ).toEqual([]);
  });

  test.each<[string, unknown, string]>([
    [
      "a misspelt keyword",
      { minimun: 3 },
      'label.minimun: JSON Schema has no keyword "minimun". Did you mean "minimum"?',
    ],
    ["a strange keyword", { widget: "stars" }, "label.widget: JSON Schema has no keyword"],
    [
      "no such type",
      { properties: { a: { type: "strng" } } },
      'label.properties.a.type: It is "strng". Write one of "null"',
    ],
    ["a limit that is none", { minimum: "3" }, 'label.minimum: It is "3". Write a number.'],
    ["a count below nothing", { minItems: -1 }, "label.minItems: It is -1. Write a whole number from 0."],
    ["a step of nothing", { multipleOf: 0 }, "label.multipleOf: It is 0. Write a number above 0."],
    ["no pattern", { pattern: "(" }, 'label.pattern: It is "(". Write a regular expression of JavaScript'],
    ["an endless pattern", { pattern: "a".repeat(501) }, "Write a pattern of at most 500 characters."],
    ["no pattern for names", { patternProperties: { "[": true } }, "label.patternProperties.[: "],
    ["nothing to choose from", { enum: [] }, "label.enum: It is []. Write a list of different values, at least one."],
    [
      "the same choice twice",
      {
        enum: [
          { a: 1, b: 2 },
          { b: 2, a: 1 },
        ],
      },
      "Write a list of different values",
    ],
    ["no schema", { properties: { a: 5 } }, "label.properties.a: It is 5. Write a schema: an object, true or false."],
    ["no schemas", { anyOf: [] }, "label.anyOf: It is []. Write a list of schemas, at least one."],
    ["no object of schemas", { properties: [] }, "label.properties: It is []. Write an object of schemas."],
    ["names that are none", { required: ["a", "a"] }, "Write a list of different names."],
    ["an older dialect", { $schema: "http://json-schema.org/draft-07/schema#" }, "label.$schema: "],
    [
      "items of an older dialect",
      { items: [true] },
      "label.items: It is a list, as in older dialects. Write `prefixItems`.",
    ],
    ["a schema from elsewhere", { $ref: "https://example.com/s.json" }, "Nothing is fetched"],
    ["a reference to nowhere", { $ref: "#/$defs/x" }, 'label.$ref: "#/$defs/x" leads nowhere in this schema.'],
    ["a reference to what is no schema", { $ref: "#/enum/0", enum: [{}] }, "leads nowhere"],
    ["a broken reference", { $ref: "#/%" }, "leads nowhere"],
    ["a circle", { $ref: "#" }, 'label: At "#" it refers to itself without an end.'],
    [
      "a circle of several",
      { allOf: [{ $ref: "#/$defs/a" }], $defs: { a: { anyOf: [{ $ref: "#" }] } } },
      "without an end",
    ],
    ["an identity within", { properties: { a: { $id: "x" } } }, "Write it at the top of the schema only."],
    ["what JSON cannot carry", { const: Number.NaN }, "is NaN, which JSON cannot carry"],
    ["too much", { description: "x".repeat(70_000) }, "characters. Make it 65536 or fewer."],
    ["too deep a nesting", nested(20), "It is nested deeper than 32 levels."],
    ["far too deep a nesting", nested(100), "is nested deeper than 64 levels"],
  ])("is refused for %s, with the place and what to do", (_what, schema, fault) => {
    expect(faultsOf(schema).join("\n")).toContain(fault);
  });

  function nested(levels: number): JsonSchema {
    let schema: JsonSchema = { type: "string" };
    for (let level = 0; level < levels; level++) schema = { properties: { a: schema } };
    return schema;
  }
});
