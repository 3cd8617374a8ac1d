import { describe, expect, test } from "vitest";
import { z } from "zod";
import { wordsOf } from "../../parts/sample/words.ts";
import { type Field, type FieldOf, readField } from "./fields.ts";

const form = (schema: z.ZodType) => readField(z.toJSONSchema(schema, { io: "input" }));

/** The kinds of a form, as readable text. */
function kinds(field: Field): unknown {
  if (field.kind === "group") return Object.fromEntries(field.entries.map((one) => [one.name, kinds(one.field)]));
  if (field.kind === "list") return [kinds(field.item)];
  return field.kind;
}

describe("the form of a label's schema", () => {
  test("has a field for everything that people are asked in labels", () => {
    const read = form(
      z.object({
        mood: z.enum(["praise", "complaint"]),
        sure: z.boolean(),
        urgency: z.int().min(1).max(5),
        weight: z.number().min(0),
        comment: z.string().optional(),
        tags: z.array(z.enum(["bike", "shop"])),
        boxes: z.array(z.object({ label: z.string().max(20), width: z.number() })),
        place: z.object({ city: z.string() }),
      }),
    );
    expect(kinds(read)).toEqual({
      mood: "choice",
      sure: "choice",
      urgency: "choice",
      weight: "number",
      comment: "text",
      tags: "many",
      boxes: [{ label: "text", width: "number" }],
      place: { city: "text" },
    });
    const entries = (read as FieldOf<"group">).entries;
    expect(entries.filter(({ required }) => !required).map(({ name }) => name)).toEqual(["comment"]);
  });

  test("says choices in the schema's own words, or makes words of the values", () => {
    const titled = { oneOf: [{ const: "a", title: "Agrees", description: "Says yes" }, { const: "not_sure" }] };
    expect(readField(titled)).toMatchObject({
      kind: "choice",
      look: "rows",
      options: [
        { value: "a", title: "Agrees", description: "Says yes" },
        { value: "not_sure", title: "Not sure" },
      ],
    });
    expect(readField({ type: "boolean" })).toMatchObject({ options: [{ title: "Yes" }, { title: "No" }] });
  });

  test("shows few whole numbers as a scale, and types the others in their bounds", () => {
    expect(form(z.int().min(0).max(5))).toMatchObject({ kind: "choice", look: "scale" });
    expect(form(z.int())).toEqual(expect.not.objectContaining({ min: expect.anything(), max: expect.anything() }));
    expect(form(z.number().gt(0).max(100))).toMatchObject({ kind: "number", whole: false, min: 0, max: 100 });
    expect(readField({ type: "integer", exclusiveMinimum: 0, maximum: 500 })).toMatchObject({ min: 1, max: 500 });
    expect(readField({ type: "integer", minimum: 1, maximum: 5, "x-widget": "number" }).kind).toBe("number");
  });

  test("gives a text the room that it needs", () => {
    expect(form(z.string())).toMatchObject({ kind: "text", long: true });
    expect(form(z.string().max(40))).toMatchObject({ long: false, most: 40 });
    expect(form(z.email())).toMatchObject({ long: false, format: "email" });
    expect(readField({ type: "string", maxLength: 40, "x-widget": "textarea" })).toMatchObject({ long: true });
  });

  test("knows what may be null, and follows references within the schema", () => {
    expect(form(z.enum(["a", "b"]).nullable())).toMatchObject({ kind: "choice", nullable: true });
    expect(readField({ type: ["string", "null"], maxLength: 9 })).toMatchObject({ kind: "text", nullable: true });
    const schema = {
      $defs: { score: { type: "integer", minimum: 1, maximum: 3, title: "Score" } },
      $ref: "#/$defs/score",
    };
    expect(readField(schema)).toMatchObject({ kind: "choice", title: "Score" });
  });

  test("leaves to JSON what it cannot show, and only that", () => {
    const read = readField({
      type: "object",
      properties: {
        free: {},
        map: { type: "object", additionalProperties: { type: "number" } },
        either: { anyOf: [{ type: "string" }, { type: "number" }] },
        strict: { type: "string", not: { const: "x" } },
        pairs: { type: "array", prefixItems: [{ type: "number" }] },
        lost: { $ref: "#/$defs/none" },
        loop: { $ref: "#/properties/loop" },
        name: { type: "string" },
      },
    });
    expect(kinds(read)).toEqual({
      free: "json",
      map: "json",
      either: "json",
      strict: "json",
      pairs: "json",
      lost: "json",
      loop: "json",
      name: "text",
    });
    expect(readField(true).kind).toBe("json");
  });

  test("ends where a schema holds itself", () => {
    const tree = { type: "object", properties: { below: { $ref: "#/$defs/tree" } } };
    expect(() => readField({ $defs: { tree }, $ref: "#/$defs/tree" })).not.toThrow();
  });
});

test("a name of a program becomes words", () => {
  expect(["first_name", "isUrgent", "a-b", "URL", ""].map(wordsOf)).toEqual([
    "First name",
    "Is urgent",
    "A b",
    "URL",
    "",
  ]);
});
