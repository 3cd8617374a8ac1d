import { expect, test } from "vitest";
import { z } from "zod";
import { consensusOf } from "./consensus.ts";
import { labelShape } from "./schema-shape.ts";

test("the fields of a schema tell how labels are to be read", () => {
  const schema = z.object({
    animal: z.enum(["cat", "dog"]),
    wild: z.boolean(),
    kind: z.union([z.literal("a"), z.literal("b")]),
    score: z.number().min(0).max(10),
    stars: z.int().min(1).max(5),
    any: z.int(),
    tags: z.array(z.enum(["old", "wet"])),
    points: z.array(z.number()),
    size: z.number().nullable(),
    grade: z.enum(["poor", "fair", "good"]).meta({ "x-ordered": true }),
    price: z.number().meta({ "x-tolerance": 0.5, "x-consensus": "mean" }),
    box: z.object({ x: z.number() }),
    note: z.string().optional(),
  });
  expect(labelShape(z.toJSONSchema(schema))).toEqual({
    kind: "fields",
    fields: {
      animal: { kind: "categorical", optional: false },
      wild: { kind: "categorical", optional: false },
      kind: { kind: "categorical", optional: false },
      score: { kind: "numeric", range: [0, 10], optional: false },
      stars: { kind: "numeric", integer: true, range: [1, 5], optional: false },
      any: { kind: "numeric", integer: true, optional: false },
      tags: { kind: "multiple", optional: false },
      points: { kind: "categorical", optional: false },
      size: { kind: "numeric", optional: false },
      grade: { kind: "categorical", order: ["poor", "fair", "good"], optional: false },
      price: { kind: "numeric", tolerance: 0.5, by: "mean", optional: false },
      box: { kind: "categorical", optional: false },
      note: { kind: "text", optional: true },
    },
  });
});

test("a label that is one answer is read as one", () => {
  expect(labelShape({ enum: ["yes", "no"] })).toEqual({ kind: "categorical" });
  expect(labelShape({ type: ["integer", "null"], minimum: 1, maximum: 5 })).toMatchObject({
    kind: "numeric",
    range: [1, 5],
  });
  expect(labelShape({ type: "array", uniqueItems: true })).toEqual({ kind: "multiple" });
  expect(labelShape({ type: "string" })).toEqual({ kind: "text" });
  expect(labelShape({})).toEqual({ kind: "categorical" });
});

test("references are followed, also where they go in a circle", () => {
  const schema = {
    $ref: "#/$defs/label",
    $defs: {
      label: {
        properties: { one: { $ref: "#/$defs/a~1b" }, two: { $ref: "#/$defs/loop" }, three: { $ref: "#/anyOf/0" } },
      },
      "a/b": { enum: [1, 2] },
      loop: { $ref: "#/$defs/loop" },
    },
    anyOf: [{ type: "number" }, { type: "string" }, true],
  };
  expect(labelShape(schema)).toMatchObject({
    fields: { one: { kind: "categorical" }, two: { kind: "categorical" }, three: { kind: "numeric" } },
  });
});

test("a consensus of labels of a schema is a label of it: no half stars", () => {
  const shape = labelShape(z.toJSONSchema(z.object({ stars: z.int().min(1).max(5) })));
  expect(consensusOf([{ stars: 3 }, { stars: 4 }], shape)).toMatchObject({ label: undefined, tie: true });
  expect(consensusOf([{ stars: 3 }, { stars: 4 }, { stars: 4 }], shape).label).toEqual({ stars: 4 });
});
