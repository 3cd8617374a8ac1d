import { expect, test } from "vitest";
import { readField } from "./fields.ts";
import { at, blank, fromDraft, fromLabel, hasSomething, labelOf, pointerOf, put } from "./form-values.ts";

const form = readField({
  type: "object",
  required: ["mood", "note", "tags", "boxes", "place"],
  properties: {
    mood: { enum: ["praise", "complaint"] },
    note: { type: "string" },
    comment: { type: "string" },
    weight: { type: "number", default: 2 },
    tags: { type: "array", items: { enum: ["a", "b", "c"] } },
    boxes: {
      type: "array",
      minItems: 1,
      items: { type: "object", required: ["x"], properties: { x: { type: "number" } } },
    },
    place: { type: "object", properties: { city: { type: "string" } } },
    extra: { type: "object", required: ["why"], properties: { why: { type: "string" } } },
    free: {},
  },
});

test("a form begins with what the schema says, and leaves all else open", () => {
  expect(blank(form)).toEqual({
    mood: undefined,
    note: undefined,
    comment: undefined,
    weight: 2,
    tags: undefined,
    boxes: [{ x: undefined }],
    place: { city: undefined },
    extra: { why: undefined },
    free: undefined,
  });
});

test("what was left open is left out, unless the label must have it", () => {
  expect(labelOf(form, blank(form))).toEqual({
    label: { note: "", weight: 2, tags: [], boxes: [{}], place: {} },
    faults: [],
  });
  const filled = {
    mood: "praise",
    comment: "",
    tags: ["b"],
    boxes: [{ x: 1 }, { x: 0 }],
    extra: { why: "so" },
    free: '{"deep":[1]}',
  };
  expect(labelOf(form, filled).label).toEqual({
    mood: "praise",
    note: "",
    tags: ["b"],
    boxes: [{ x: 1 }, { x: 0 }],
    place: {},
    extra: { why: "so" },
    free: { deep: [1] },
  });
});

test("JSON that is none is told at its place, and a form of one question misses its answer", () => {
  expect(labelOf(form, { free: "{" }).faults).toEqual([
    { path: "/free", message: expect.stringMatching(/^is not JSON: /) as string },
  ]);
  expect(labelOf(readField({ enum: ["a", "b"] }), undefined).faults).toEqual([{ path: "", message: "is missing" }]);
});

test("where nothing may be entered and something must be said, null is", () => {
  const field = readField({
    type: "object",
    required: ["who"],
    properties: { who: { type: ["string", "null"] }, when: { type: ["string", "null"] } },
  });
  expect(labelOf(field, { who: "", when: "" }).label).toEqual({ who: null });
});

test("a draft comes back as it was, and a label as it would have been entered", () => {
  const entered = { mood: "praise", note: "n", tags: ["c", "a"], boxes: [{ x: 1 }], free: "[1,", stray: 1 };
  expect(fromDraft(form, JSON.parse(JSON.stringify(entered)))).toMatchObject({
    mood: "praise",
    tags: ["a", "c"],
    boxes: [{ x: 1 }],
    free: "[1,",
  });
  const label = { mood: "complaint", note: "n", tags: [], boxes: [{ x: 1 }], place: {}, free: { deep: 1 } };
  expect(labelOf(form, fromLabel(form, label)).label).toEqual(label);
});

test("what a changed schema has no place for is dropped, and nothing throws", () => {
  for (const stray of [null, 5, "x", [], { mood: "sad", tags: "a", boxes: 7, place: [], weight: "2", note: 3 }]) {
    const entered = fromDraft(form, stray);
    expect(at(entered, ["mood"])).toBeUndefined();
    expect(() => labelOf(form, entered)).not.toThrow();
  }
});

test("a value is put at its place, and nothing else changes", () => {
  const before = { boxes: [{ x: 1 }, { x: 2 }], note: "n" };
  expect(put(before, ["boxes", 1, "x"], 5)).toEqual({ boxes: [{ x: 1 }, { x: 5 }], note: "n" });
  expect(before.boxes[1]).toEqual({ x: 2 });
  expect(put(undefined, ["a", 0, "b"], 1)).toEqual({ a: [{ b: 1 }] });
  expect(at(before, ["boxes", 9, "x"])).toBeUndefined();
  expect(pointerOf(["a/b", 2, "c~d"])).toBe("/a~1b/2/c~0d");
});

test("no and nought are something; empty texts, lists and objects are nothing", () => {
  expect([false, 0, "a", [0]].map(hasSomething)).toEqual([true, true, true, true]);
  expect([undefined, null, "", [], {}, { a: [""] }].map(hasSomething)).toEqual([
    false,
    false,
    false,
    false,
    false,
    false,
  ]);
});
