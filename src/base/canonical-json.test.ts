import fc from "fast-check";
import { expect, test } from "vitest";
import { canonicalJson } from "./canonical-json.ts";
import type { Json } from "./json.ts";

test("the order of keys does not matter, the order of a list does", () => {
  expect(canonicalJson({ a: 1, b: { c: 2, d: null } })).toBe(canonicalJson({ b: { d: null, c: 2 }, a: 1 }));
  expect(canonicalJson([1, 2])).not.toBe(canonicalJson([2, 1]));
});

test("a text is not the number that it shows, nor null nothing at all", () => {
  for (const [one, other] of [
    ["1", 1],
    ["null", null],
    ["true", true],
    [{}, []],
    [{ a: null }, {}],
  ] as const) {
    expect(canonicalJson(one)).not.toBe(canonicalJson(other));
  }
  expect(canonicalJson(0)).toBe(canonicalJson(-0));
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
