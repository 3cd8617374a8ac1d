import { expect, test } from "vitest";
import { changesIn, filterQuery, inWords, letterFilterOf } from "./letter-filter.ts";

test("the filters of the address say which letters are meant, and nothing said means all", () => {
  expect(filterQuery(letterFilterOf(new URLSearchParams(), 0))).toEqual({ all: true });
  const filters = new URLSearchParams("lifecycle=parcel&hours=1");
  expect(filterQuery(letterFilterOf(filters, Date.UTC(2030, 0, 1, 1)))).toEqual({
    lifecycle: "parcel",
    from: "2030-01-01T00:00:00.000Z",
  });
});

test("an operation says in words what it was about", () => {
  expect(inWords({ all: true })).toBe("all");
  expect(inWords({ lifecycle: "parcel", fingerprint: "0123456789ab", from: "2030-01-01T00:00:00.000Z" })).toBe(
    "of parcel, of the group 01234567, since 2030-01-01 00:00",
  );
  expect(inWords({ ids: 40, kind: "effect" })).toBe("about after-effects, 40 selected");
});

test("a requeue sends only what was changed, and refuses what it could not carry out", () => {
  const before = { address: "Elm 3", weight: { kg: 2 } };
  expect(changesIn(before, { address: "Elm 3", weight: { kg: 2 } })).toBeUndefined();
  expect(changesIn(before, { address: "Elm 4", weight: { kg: 2 }, fragile: true })).toEqual({
    address: "Elm 4",
    fragile: true,
  });
  expect(() => changesIn(before, { address: "Elm 3" })).toThrow("weight");
  expect(() => changesIn(before, [])).toThrow("object");
});
