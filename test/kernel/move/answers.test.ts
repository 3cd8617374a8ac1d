import { lifecycle } from "pawl";
import { describe, expect, test } from "vitest";
import { openOn } from "../../../src/api/open/create.ts";
import { openPglite } from "../../../src/store/pglite/open.ts";
import type { Db } from "../../../src/store/port/db.ts";
import { openPostgres } from "../../../src/store/postgres/open.ts";
import { onPostgres } from "../../setup/suites.ts";
import { emptyDatabase } from "../../support/empty-database.ts";

const claim = lifecycle("claim", {
  initial: "open",
  deadline: { within: "20m" },
  on: { noted: {} },
  states: { open: { on: { settle: "settled" } }, settled: { final: "success" } },
});

/** With the clock as it runs: what a call answers and what is stored must not differ by the time between. */
function suite(withDb: (use: (db: Db) => Promise<void>) => Promise<void>): void {
  test("what a call answers is what is stored, to the millisecond", () =>
    withDb(async (db) => {
      const { pawl } = await openOn(db, { lifecycles: [claim] });
      const keys = Array.from({ length: 30 }, (_, index) => `c${index}`);
      const answers = [
        ...(await Promise.all(keys.slice(0, 10).map((key) => pawl.start(claim, { key })))),
        ...(await pawl.startMany(
          claim,
          keys.slice(10).map((key) => ({ key })),
        )),
      ];
      for (const { created, ...answer } of answers) {
        expect(created).toBe(true);
        expect(await pawl.get(claim, answer)).toEqual(answer);
      }
      for (const event of ["noted", "settle", "restart"] as const) {
        for (const answer of await Promise.all(keys.map((key) => pawl.send(claim, key, event)))) {
          expect(await pawl.get(claim, answer)).toEqual(answer);
        }
      }
      const ask = () => pawl.send(claim, "c1", "settle", { idempotencyKey: "k" });
      for (const answer of await Promise.all(Array.from({ length: 20 }, ask))) {
        expect(await pawl.get(claim, "c1")).toEqual(answer);
      }
      const inOne = await pawl.transaction(async (tx) => {
        await pawl.send(claim, "c0", "settle", { tx });
        return pawl.send(claim, "c0", "restart", { tx });
      });
      expect(await pawl.get(claim, "c0")).toEqual(inOne);
    }));
}

describe("embedded", () => {
  suite(async (use) => {
    const db = await openPglite({ folder: "memory" });
    try {
      await use(db);
    } finally {
      await db.close();
    }
  });
});

onPostgres("PostgreSQL", () => {
  suite(async (use) => {
    await using empty = await emptyDatabase();
    const db = await openPostgres({ url: empty.url });
    try {
      await use(db);
    } finally {
      await db.close();
    }
  });
});
