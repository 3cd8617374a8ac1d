import fc from "fast-check";
import { expect, test } from "vitest";
import { type Param, type Part, part, sql, textArray } from "./db.ts";

test("values are numbered in their order, and nothing of them is in the text", () => {
  const evil = "'; drop table pawl.journal; --";
  const statement = sql`select ${evil}::text, ${7}::int, ${null}::text, ${true}::boolean`;
  expect(statement).toMatchObject({
    text: "select $1::text, $2::int, $3::text, $4::boolean",
    values: [evil, 7, null, true],
  });
});

test("a statement has the same text and name each time, and another one has another", () => {
  const named = (value: Param) => sql`select ${value}::text`;
  expect(named("a").name).toBe(named("b").name);
  expect(named("a").text).toBe(named("b").text);
  expect(named("a").name).toMatch(/^pawl_[0-9a-f]{1,16}$/);
  expect(sql`select ${1}::text `.name).not.toBe(named("a").name);
});

test("parts are written in their places, and their values are numbered with the rest", () => {
  const limit = (most: number) => part`limit ${most}::int`;
  const rows = (name: string) => part`select * from ${part`a.b`} where name = ${name}::text ${limit(5)}`;
  const statement = sql`with rows as (${rows("x")}) select ${1}::int, * from rows`;
  expect(statement).toMatchObject({
    text: "with rows as (select * from a.b where name = $1::text limit $2::int) select $3::int, * from rows",
    values: ["x", 5, 1],
  });
});

test("one place with different parts makes different statements, whatever was written there first", () => {
  const [a, b, withValue] = [part`a`, part`b`, part`c ${9}`];
  const twice = (one: Param | Part, other: Param | Part) => sql`${one}, ${other}`;
  expect(twice(1, 2).text).toBe("$1, $2");
  expect(twice(a, 2).text).toBe("a, $1");
  expect(twice(2, a).text).toBe("$1, a");
  expect(twice(a, b).text).toBe("a, b");
  expect(twice(b, a).text).toBe("b, a");
  expect(twice(a, withValue)).toMatchObject({ text: "a, c $1", values: [9] });
  expect(twice(a, b).name).not.toBe(twice(b, a).name);
  expect(twice(3, 4)).toMatchObject({ text: "$1, $2", values: [3, 4] });
});

/** How Postgres reads an array literal of texts, by its manual. */
function parsed(literal: string): (string | null)[] {
  const list: (string | null)[] = [];
  const element = /"((?:\\[\s\S]|[^"\\])*)"|([^,{}"\\\s]+)/y;
  for (let at = 1; literal[at] !== "}"; at = element.lastIndex + (literal[element.lastIndex] === "," ? 1 : 0)) {
    element.lastIndex = at;
    const match = element.exec(literal);
    if (match === null) throw new Error(`Not an array literal: ${literal}`);
    const [, quoted, plain] = match;
    if (plain?.toUpperCase() === "NULL") list.push(null);
    else list.push(plain ?? quoted!.replace(/\\([\s\S])/g, "$1"));
  }
  return list;
}

test("a list as an array literal is the same list when it is read, whatever its texts are", () => {
  const nasty = [
    "",
    " ",
    "NULL",
    "null",
    "Null",
    '"',
    "\\",
    '\\"',
    "{}",
    "{",
    ",",
    "a,b",
    "a b",
    "\n\t",
    "'",
    "$1",
    "é😀",
  ];
  expect(parsed(textArray(nasty))).toEqual(nasty);
  const character = fc.constantFrom("a", "N", "\\", '"', "{", "}", ",", "'", " ", "\n", "$", "null", "😀");
  const list = fc.array(fc.option(fc.string({ unit: character })));
  fc.assert(
    fc.property(list, (texts) => {
      expect(parsed(textArray([...texts, "last"]))).toEqual([...texts, "last"]);
    }),
  );
});

test("numbers, booleans and nothing are written as Postgres reads them", () => {
  expect(textArray([1, -2.5, 1e21, true, false, null, undefined])).toBe("{1,-2.5,1e+21,true,false,NULL,NULL}");
  expect(textArray([])).toBe("{}");
  expect(textArray([null, "a"])).toBe("{NULL,a}");
  // `unnest` fills it up to the length of the lists next to it.
  expect(textArray([null, undefined])).toBe("{}");
});
