import { expect, test } from "vitest";
import { sql } from "../../src/store/port/db.ts";
import { openPostgres } from "../../src/store/postgres/open.ts";
import { onPostgres } from "../setup/suites.ts";

onPostgres("the pool", () => {
  test("one that is used up is reported as such, not as a database that is away", async () => {
    const db = await openPostgres({ url: process.env.PAWL_TEST_POSTGRES_URL!, connections: 2 });
    let release: () => void = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const holding = [1, 2].map(() => db.transaction(() => held));
    try {
      await expect(db.rows(sql`select 1 as one`)).rejects.toMatchObject({
        code: "busy",
        message: expect.stringContaining("All 2 connections to the database are in use"),
      });
    } finally {
      release();
      await Promise.all(holding);
    }
    expect(await db.rows(sql`select 1 as one`)).toEqual([{ one: 1 }]);
    await db.close();
  });

  test("a transaction that never settles loses its connection when the server ends it, and not for ever", async () => {
    const db = await openPostgres({ url: process.env.PAWL_TEST_POSTGRES_URL!, connections: 1 });
    const stuck = db.transaction(async (tx) => {
      await tx.query("set local idle_in_transaction_session_timeout = 50");
      await new Promise(() => {});
    });
    await expect(stuck).rejects.toMatchObject({ code: "outcome_unknown" });
    expect(await db.rows(sql`select 1 as one`)).toEqual([{ one: 1 }]);
    await db.close();
  });
});
