import fc from "fast-check";
import { expect, test } from "vitest";
import { PawlError } from "./errors.ts";
import { cleanText, storableText } from "./json.ts";

function faultOf(value: unknown): { place: string; reason: string } {
  try {
    storableText(value, "It");
  } catch (error) {
    expect(error).toBeInstanceOf(PawlError);
    expect(error).toMatchObject({ code: "value_not_serializable" });
    return (error as PawlError).details as { place: string; reason: string };
  }
  throw new Error("It was taken.");
}

/** Any character but those that Postgres cannot store. */
const character = fc
  .integer({ min: 1, max: 0x10ffff })
  .filter((code) => code < 0xd800 || code > 0xdfff)
  .map((code) => String.fromCodePoint(code));
const storable = fc.jsonValue({ maxDepth: 6, stringUnit: character });

test("what JSON carries is stored as it is", () => {
  fc.assert(
    fc.property(storable, (value) => {
      const parsed: unknown = JSON.parse(storableText(value, "It"));
      expect(parsed).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});

test("a key set to undefined is left out, as JSON does", () => {
  expect(storableText({ a: undefined, b: 1 }, "It")).toBe('{"b":1}');
});

test("what JSON would change silently is refused, with its place", () => {
  const wrong: [unknown, string][] = [
    [Number.NaN, "is NaN"],
    [Infinity, "is Infinity"],
    [5n, "is a bigint"],
    [undefined, "is a undefined"],
    [() => 1, "is a function"],
    [Symbol("x"), "is a symbol"],
    [new Date(0), "is a Date"],
    [new Map([[1, 2]]), "is a Map"],
    [new Set(), "is a Set"],
    [/x/, "is a RegExp"],
    [new URL("https://example.com"), "is a URL"],
    [new Error("x"), "is a Error"],
    [Buffer.from("x"), "is a Buffer"],
    [Object.create({ a: 1 }), "is a Object"],
  ];
  for (const [value, reason] of wrong) {
    expect(faultOf([1, value])).toMatchObject({ place: "It[1]", reason: expect.stringContaining(reason) });
  }
  expect(faultOf({ a: [{ b: new Date(0) }] }).place).toBe("It.a[0].b");
  expect(faultOf(Array(2)).place).toBe("It[0]");
});

test("what Postgres cannot store as text is refused, in keys as in values", () => {
  expect(faultOf({ a: "x\u0000y" })).toMatchObject({ place: "It.a", reason: expect.stringContaining("NUL") });
  expect(faultOf({ "a\u0000": 1 })).toMatchObject({ place: "It.a\\0", reason: expect.stringContaining("NUL") });
  expect(faultOf(["\ud800"]).reason).toContain("half of a surrogate pair");
  expect(faultOf({ "\udc00": 1 }).reason).toContain("half of a surrogate pair");
  expect(storableText("\ud83d\ude00", "It")).toBe('"😀"');
});

test("a key that could change the objects of a reader is refused", () => {
  expect(faultOf(JSON.parse('{"a":{"__proto__":{"admin":true}}}'))).toMatchObject({ place: "It.a.__proto__" });
  expect(storableText(JSON.parse('{"constructor":1,"prototype":2,"toString":3}'), "It")).toContain("constructor");
});

test("what is nested too deep, or contains itself, is refused at once", () => {
  let deep: unknown = 1;
  for (let level = 0; level < 10_000; level++) deep = [deep];
  expect(faultOf(deep).reason).toContain("deeper than 64 levels");
  const circular: Record<string, unknown> = {};
  circular.self = circular;
  expect(faultOf(circular).reason).toContain("contains itself");
});

test("1 MiB of JSON is the most, counted in bytes", () => {
  const most = 1024 * 1024;
  expect(storableText("x".repeat(most - 2), "It")).toHaveLength(most);
  expect(faultOf("x".repeat(most - 1)).reason).toContain("over 1 MiB");
  expect(faultOf("é".repeat(most / 2)).reason).toContain("over 1 MiB");
  expect(faultOf(Array.from({ length: most }, () => 1)).reason).toContain("over 1 MiB");
  expect(faultOf({ ["k".repeat(2 * most)]: 1 }).reason).toContain("over 1 MiB");
});

test("parts that are shared many times over are counted each time, without being written out", () => {
  let shared: unknown = "x";
  for (let level = 0; level < 60; level++) shared = [shared, shared];
  expect(faultOf(shared).reason).toContain("over 1 MiB");
});

test("the place of a fault is short enough to be shown", () => {
  expect(faultOf({ ["k".repeat(100_000)]: new Date(0) }).place.length).toBeLessThan(210);
});

test("any text can be made storable, and stays within its length", () => {
  const text = fc.string({ unit: "binary", maxLength: 60 });
  fc.assert(
    fc.property(text, fc.nat({ max: 50 }), (given, most) => {
      const clean = cleanText(given, most);
      expect(() => storableText(clean, "It")).not.toThrow();
      expect(clean.length).toBeLessThanOrEqual(most + 1);
    }),
  );
  expect(cleanText("a\u0000b\ud800")).toBe("a\ufffdb\ufffd");
  expect(cleanText("😀😀", 3)).toBe("😀\ufffd…");
});
