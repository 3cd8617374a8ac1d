import fc from "fast-check";
import { expect, test } from "vitest";
import { storableText } from "../../src/base/json.ts";
import { part, sql, textArray } from "../../src/store/port/db.ts";
import { eachStoreAndPooler } from "../support/each-store.ts";

/** Any character that Postgres can store. */
const character = fc
  .integer({ min: 1, max: 0x10ffff })
  .filter((code) => code < 0xd800 || code > 0xdfff)
  .map((code) => String.fromCodePoint(code));
const special = fc.constantFrom(
  ...["a", "N", "null", "\\", '"', "'", "{", "}", ",", ";", "-", "$", "%", "/", ":"],
  ...[" ", "\n", "\r", "\t", "\u0001", "\u007f", "\u200b", "\ufeff", "\uffff", "😀", "é"],
);
const text = fc.string({ unit: fc.oneof(character, special), maxLength: 20 });

const nasty = [
  "",
  " ",
  "NULL",
  "null",
  "Null",
  "\\N",
  '"',
  "\\",
  '\\"',
  "\\\\",
  "{}",
  '{"a"}',
  ",",
  "a,b",
  "\n",
  "\r\n",
  "\t",
  "'",
  "''",
  "$1",
  "$$",
  "%s",
  "--",
  "/*",
  "E'\\x00'",
  "\u0001",
  "\u007f",
  "\ufeff",
  "\uffff",
  "\u202e",
  "e\u0301",
  "😀",
  "x".repeat(100_000),
];

eachStoreAndPooler((store) => {
  test("columns of texts come through the database as they are, whatever is in them", async () => {
    await using t = await store.open({ lifecycles: [] });
    const through = async (list: readonly (string | null)[]) => {
      const [row] = await t.db.rows<{ list: unknown }>(sql`
        select coalesce(json_agg(each.text order by each.place), '[]') as list
        from unnest(
          (select ${textArray(list.map((_, place) => place))}::text)::int[],
          (select ${textArray(list)}::text)::text[]
        ) as each(place, text)`);
      return row!.list;
    };
    expect(await through(nasty)).toEqual(nasty);
    expect(await through([])).toEqual([]);
    expect(await through([null, "null", null])).toEqual([null, "null", null]);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.option(text), { maxLength: 8 }), async (list) => {
        expect(await through(list)).toEqual(list);
      }),
      { numRuns: 60 },
    );
  });

  test("lists of lists come through as one text each, as the keys that a move removes do", async () => {
    await using t = await store.open({ lifecycles: [] });
    const lists = [["a", '"', "\\"], [], ["{,}", "NULL"]];
    const [row] = await t.db.rows<{ lists: unknown }>(sql`
      select json_agg(each.list::text[]) as lists
      from unnest((select ${textArray(lists.map((list) => textArray(list)))}::text)::text[]) as each(list)`);
    expect(row!.lists).toEqual(lists);
  });

  test("lists of numbers and booleans come through exactly", async () => {
    await using t = await store.open({ lifecycles: [] });
    const doubles = fc.array(fc.double({ noNaN: true, noDefaultInfinity: true }).map((one) => one + 0));
    const integers = fc.array(fc.integer());
    await fc.assert(
      fc.asyncProperty(doubles, integers, fc.array(fc.boolean()), async (floats, whole, flags) => {
        const [row] = await t.db.rows<{ floats: number[]; whole: number[]; flags: boolean[] }>(sql`
          select to_json((select ${textArray(floats)}::text)::float8[]) as floats,
            to_json((select ${textArray(whole)}::text)::int[]) as whole,
            to_json((select ${textArray(flags)}::text)::boolean[]) as flags`);
        expect(row).toEqual({ floats: floats.map((one) => one + 0), whole, flags });
      }),
      { numRuns: 40 },
    );
  });

  test("single values come through as they are, in a statement and in its parts", async () => {
    await using t = await store.open({ lifecycles: [] });
    for (const given of nasty) {
      const [row] = await t.db.rows<{ one: string; other: string }>(
        sql`select ${given}::text as one, ${part`${given}::text`} as other`,
      );
      expect(row).toEqual({ one: given, other: given });
    }
    const [row] = await t.db.rows(
      sql`select ${1.5}::float8 as float, ${-7}::int as whole, ${true}::boolean as flag, ${null}::text as none`,
    );
    expect(row).toEqual({ float: 1.5, whole: -7, flag: true, none: null });
  });

  test("whatever passes the door as JSON is read again as it was", async () => {
    await using t = await store.open({ lifecycles: [] });
    const value = fc.jsonValue({ maxDepth: 5, stringUnit: fc.oneof(character, special) });
    await fc.assert(
      fc.asyncProperty(value, async (given) => {
        // As JSON has it: it knows no negative zero.
        const plain: unknown = JSON.parse(JSON.stringify(given));
        const [row] = await t.db.rows<{ value: unknown }>(
          sql`select ${storableText(given, "It")}::text::jsonb as value`,
        );
        expect(row!.value).toEqual(plain);
      }),
      { numRuns: 60 },
    );
  });

  test("times go to the database and back without a change, to the millisecond", async () => {
    await using t = await store.open({ lifecycles: [] });
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: Date.UTC(2200, 0) }), async (ms) => {
        const [row] = await t.db.rows<{ ms: number }>(sql`select pawl.ms(pawl.at(${ms}::float8)) as ms`);
        expect(row).toEqual({ ms });
      }),
      { numRuns: 40 },
    );
  });
});
