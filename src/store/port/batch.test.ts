import { expect, test } from "vitest";
import { batch } from "./batch.ts";
import { sql } from "./db.ts";

const moves = batch<{ id: string; state: string; at?: number | null; done: boolean }>("move", {
  id: ["uuid", (row) => row.id],
  state: ["text", (row) => row.state],
  at: ["float8", (row) => row.at],
  done: ["boolean", (row) => row.done],
});

test("columns that differ go as lists, and what is the same in all rows goes once", () => {
  const statement = sql`select ${7}::int, * from ${moves([
    { id: "a", state: "on", at: 1, done: false },
    { id: "b", state: "on", at: null, done: false },
  ])}`;
  expect(statement.text).toBe(
    "select $1::int, * from (select each.id, coalesce(each.state, $2::text) as state, coalesce(each.at, $3::float8) as at, coalesce(each.done, $4::boolean) as done " +
      "from unnest((select $5::text)::uuid[], (select $6::text)::text[], (select $7::text)::float8[], (select $8::text)::boolean[]) as each(id, state, at, done)) as move",
  );
  expect(statement.values).toEqual([7, "on", null, false, "{a,b}", "{}", "{1,NULL}", "{}"]);
});

test("whatever is the same, the text is, and the first column always tells how many rows there are", () => {
  const one = sql`${moves([{ id: "a", state: "on", done: true }])}`;
  const other = sql`${moves([
    { id: "a", state: "on", done: true },
    { id: "a", state: "off", done: false },
  ])}`;
  expect(one.name).toBe(other.name);
  expect(one.values).toEqual(["on", null, true, "{a}", "{}", "{}", "{}"]);
  expect(other.values).toEqual([null, null, null, "{a,a}", "{on,off}", "{}", "{true,false}"]);
});
