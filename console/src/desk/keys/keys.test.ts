import { expect, test } from "vitest";
import { boundTo, digitIn, isFree, readKeys, rebound, usualKeys } from "./keys.ts";

test("a key does one thing: what had it before gets the old one", () => {
  const keys = rebound(usualKeys, "skip", "I");
  expect(boundTo(keys, "i")).toBe("skip");
  expect(boundTo(keys, "s")).toBe("instructions");
  expect(boundTo(keys, "S")).toBe("instructions");
  expect(boundTo(rebound(keys, "choose 1", "q"), "q")).toBe("choose 1");
  expect(boundTo(keys, "z")).toBeUndefined();
});

test("what the browser kept is read as far as it can be; what would leave a key with two meanings is not", () => {
  expect(readKeys(JSON.stringify(rebound(usualKeys, "skip", "x"))).skip).toBe("x");
  for (const kept of [undefined, "", "{", "null", "[]", '{"skip":5}', '{"skip":"Tab"}', '{"skip":"i"}'])
    expect(readKeys(kept)).toEqual(usualKeys);
});

test("keys by which a page is walked through are no actions", () => {
  expect(["Tab", "Escape", " ", "Shift", "ArrowDown", ""].filter(isFree)).toEqual([]);
  expect(["a", "Enter", "F2", "ä"].filter(isFree)).toHaveLength(4);
  expect([digitIn("choose 0"), digitIn("choose 9"), digitIn("skip")]).toEqual([0, 9, undefined]);
});
