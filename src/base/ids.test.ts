import fc from "fast-check";
import { expect, test } from "vitest";
import { derivedId, firstIdAt, idMaker, isId, newToken } from "./ids.ts";

const version7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

function timeOf(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

test("an id is a UUID of version 7 that begins with the time", () => {
  const ms = Date.UTC(2030, 0, 1, 12);
  const id = idMaker(() => ms + 0.7)();
  expect(id).toMatch(version7);
  expect(timeOf(id)).toBe(ms);
  expect(isId(id)).toBe(true);
});

test("eight bits of an id are the number of its database, 0, and the other bits of its end are random", () => {
  const newId = idMaker(() => 5);
  const ids = Array.from({ length: 2_000 }, newId);
  expect(new Set(ids.map((id) => id.slice(21, 23)))).toEqual(new Set(["00"]));
  for (const at of [20, 24, 29, 35]) expect(new Set(ids.map((id) => id[at])).size).toBe(16);
});

test("an id that follows from two others is a UUID, the same each time, and another one for other ids", () => {
  const [one, other] = ["0195a1c0-0000-7000-8000-000000000000", "0195a1c0-0000-7000-8000-000000000001"];
  expect(derivedId(one, other)).toBe(derivedId(one, other));
  expect(isId(derivedId(one, other))).toBe(true);
  expect(new Set([one, derivedId(one, one), derivedId(one, other), derivedId(other, one)]).size).toBe(4);
});

test("ids rise strictly, also when more are made in a millisecond than it has numbers", () => {
  const newId = idMaker(() => 1_900_000_000_000);
  const ids = Array.from({ length: 10_000 }, newId);
  for (let index = 1; index < ids.length; index++) expect(ids[index]! > ids[index - 1]!).toBe(true);
  expect(timeOf(ids.at(-1)!) - timeOf(ids[0]!)).toBe(2);
  expect(ids.every((id) => version7.test(id))).toBe(true);
});

test("ids rise strictly over every clock, also one that steps back", () => {
  const times = fc.array(fc.double({ min: 0, max: 4e12, noNaN: true }), { minLength: 2, maxLength: 50 });
  fc.assert(
    fc.property(times, (told) => {
      let next = 0;
      const newId = idMaker(() => told[next++]!);
      const ids = told.map(newId);
      expect([...ids].sort()).toEqual(ids);
      expect(new Set(ids).size).toBe(ids.length);
      expect(ids.every((id) => version7.test(id))).toBe(true);
    }),
  );
});

test("two makers do not make the same ids at the same time", () => {
  const makers = [idMaker(() => 5), idMaker(() => 5)];
  const ids = makers.flatMap((newId) => Array.from({ length: 1_000 }, newId));
  expect(new Set(ids).size).toBe(2_000);
});

test("only a UUID in small letters is an id", () => {
  expect(isId("0195a1c0-0000-7000-8000-000000000000")).toBe(true);
  const others = ["", "p1", "0195A1C0-0000-7000-8000-000000000000", "0195a1c0000070008000000000000000", 5, null, {}];
  for (const other of others) expect(isId(other)).toBe(false);
  expect(isId("0195a1c0-0000-7000-8000-000000000000\n")).toBe(false);
});

test("the first id of a moment lies between those made before it and those made from it on", () => {
  for (const ms of [0, 1, 1_893_499_200_123, 4e12]) {
    const [before, at] = [idMaker(() => ms - 1), idMaker(() => ms)].map((newId) => newId());
    if (ms > 0) expect(before! < firstIdAt(ms)).toBe(true);
    expect(firstIdAt(ms) < at!).toBe(true);
    expect(isId(firstIdAt(ms))).toBe(true);
  }
});

test("tokens of leases differ, are safe integers above 0, and leave room to count on from", () => {
  const tokens = Array.from({ length: 5_000 }, newToken);
  expect(new Set(tokens).size).toBe(5_000);
  for (const token of tokens) expect(Number.isSafeInteger(token + 100_000) && token > 0).toBe(true);
  expect(Math.max(...tokens)).toBeGreaterThan(2 ** 52);
});
