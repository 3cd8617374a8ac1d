import fc from "fast-check";
import { expect, test } from "vitest";
import { canonicalJson, sameJson } from "./canonical-json.ts";
import type { Json } from "./json.ts";

test("the order of keys does not matter, the order of a list does", () => {
  expect(sameJson({ a: 1, b: { c: 2, d: null } }, { b: { d: null, c: 2 }, a: 1 })).toBe(true);
  expect(sameJson([1, 2], [2, 1])).toBe(false);
});

test("a text is not the number that it shows, nor null nothing at all", () => {
  for (const [one, other] of [
    ["1", 1],
    ["null", null],
    ["true", true],
    [{}, []],
    [{ a: null }, {}],
  ] as const) {
    expect(sameJson(one, other)).toBe(false);
  }
  expect(sameJson(0, -0)).toBe(true);
});

test("a key without a value is no key, as in JSON", () => {
  expect(canonicalJson({ b: 1, a: undefined } as never)).toBe('{"b":1}');
});

test("what is canonical is JSON of the same value, and the same for each of its texts", () => {
  fc.assert(
    fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
      const text = canonicalJson(value as Json);
      expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
      expect(canonicalJson(JSON.parse(text))).toBe(text);
    }),
  );
});
