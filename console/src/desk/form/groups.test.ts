import { expect, test } from "vitest";
import { readField } from "./fields.ts";
import { digitOf, groupsIn, nextFor, pressed } from "./groups.ts";

const form = readField({
  type: "object",
  required: ["mood", "score"],
  properties: {
    mood: { enum: ["praise", "complaint", "question"] },
    note: { type: "string" },
    score: { type: "integer", minimum: 0, maximum: 5 },
    sure: { type: "boolean" },
    tags: { type: "array", items: { enum: ["a", "b"] } },
    boxes: { type: "array", items: { type: "object", properties: { kind: { enum: ["x", "y"] } } } },
    country: { enum: Array.from({ length: 40 }, (_, index) => `c${index}`) },
  },
});

test("the questions that digits answer come in their order, also those of a list", () => {
  const groups = groupsIn(form, { boxes: [{}, {}] });
  expect(groups.map(({ path }) => path.join("/"))).toEqual([
    "mood",
    "score",
    "sure",
    "tags",
    "boxes/0/kind",
    "boxes/1/kind",
  ]);
});

test("after an answer, digits go to the next question that must be answered, else they correct this one", () => {
  const groups = groupsIn(form, {});
  const [mood, score, sure, tags] = groups;
  expect(nextFor(groups, mood!, { mood: "praise" })).toBe(score);
  expect(nextFor(groups, mood!, { mood: "praise", score: 3 })).toBe(mood);
  expect(nextFor(groups, score!, { mood: "praise", score: 3 })).toBe(score);
  expect(nextFor(groups, sure!, { sure: true })).toBe(sure);
  expect(nextFor(groups, tags!, { tags: ["a"] })).toBe(tags);
});

test("a digit is the place of an option, and of a scale the number itself", () => {
  const [mood, score] = groupsIn(form, {});
  expect(mood!.options.map((_, index) => digitOf(mood!.options, index))).toEqual([1, 2, 3]);
  expect(score!.options.map((_, index) => digitOf(score!.options, index))).toEqual([0, 1, 2, 3, 4, 5]);
  const many = Array.from({ length: 12 }, (_, index) => ({ value: `v${index}`, title: "", description: undefined }));
  expect([8, 9].map((index) => digitOf(many, index))).toEqual([9, undefined]);
});

test("a digit chooses; again, it takes back what need not be said; of several, each on its own", () => {
  const [mood, , sure, tags] = groupsIn(form, {});
  expect(pressed(mood!, 2, {})).toEqual({ mood: "complaint" });
  expect(pressed(mood!, 2, { mood: "complaint" })).toEqual({ mood: "complaint" });
  expect(pressed(sure!, 2, { sure: false })).toEqual({ sure: undefined });
  expect(pressed(tags!, 1, { tags: ["b"] })).toEqual({ tags: ["a", "b"] });
  expect(pressed(tags!, 2, { tags: ["a", "b"] })).toEqual({ tags: ["a"] });
  expect(pressed(mood!, 7, {})).toBeUndefined();
});
