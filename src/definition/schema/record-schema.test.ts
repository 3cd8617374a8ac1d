import { expect, test } from "vitest";
import {
  flag,
  json,
  listOf,
  number,
  oneOf,
  optional,
  orNull,
  record,
  recordSchema,
  text,
  whole,
} from "./record-schema.ts";

interface Parcel {
  readonly name: string;
  readonly kilos: number | null;
  readonly count: number;
  readonly fragile: boolean;
  readonly size: "small" | "large";
  readonly notes: readonly string[];
  readonly content: never;
  readonly to: { readonly city: string };
  readonly phone?: string;
}

const parcel = recordSchema<Parcel>({
  name: text,
  kilos: orNull(number),
  count: whole,
  fragile: flag,
  size: oneOf("small", "large"),
  notes: listOf(text),
  content: json,
  to: record<Parcel["to"]>({ city: text }),
  phone: optional(text),
});

const good = {
  name: "n",
  kilos: null,
  count: 2,
  fragile: true,
  size: "small",
  notes: ["a"],
  content: [1],
  to: { city: "c" },
};

function faultsOf(value: unknown): string[] {
  const result = parcel["~standard"].validate(value);
  if (result instanceof Promise) throw new Error("asynchronous");
  return (result.issues ?? []).map(({ path, message }) => `${(path ?? []).join(".")} ${message}`);
}

test("what fits is kept, without keys that nobody declared", () => {
  const given = { ...good, phone: "5", isAdmin: true, to: { city: "c", isAdmin: true } };
  expect(parcel["~standard"].validate(given)).toEqual({ value: { ...good, phone: "5" } });
  expect(parcel["~standard"].validate(good)).toEqual({ value: good });
});

test("what does not fit is refused at its place", () => {
  expect(faultsOf(null)).toEqual([" must be an object"]);
  expect(faultsOf([])).toEqual([" must be an object"]);
  expect(faultsOf({ ...good, name: 1, kilos: Number.NaN, count: 1.5 })).toEqual([
    "name must be a text",
    "kilos must be a number",
    "count must be a whole number",
  ]);
  expect(faultsOf({ ...good, fragile: "no", size: "huge", notes: ["a", 2] })).toEqual([
    "fragile must be true or false",
    "size must be one of small, large",
    "notes.1 must be a text",
  ]);
  expect(faultsOf({ ...good, content: undefined, to: {}, phone: 5, notes: "a" })).toEqual([
    "notes must be a list",
    "content must be a value",
    "to.city must be a text",
    "phone must be a text",
  ]);
});
