import { sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/node-postgres";
import { Kysely, PostgresDialect } from "kysely";
import { fromDrizzle, fromKysely, fromPrisma, type TransactionLike } from "pawl";
import pg from "pg";
import { describe, expect, test } from "vitest";
import { testPawl } from "../../../src/testing/test-pawl.ts";
import { eachStoreAndPooler } from "../../support/each-store.ts";
import { parcel } from "../../support/parcel.ts";
import { openPrisma, prismaFolder } from "../../support/prisma-client.ts";

const item = { key: "p", data: { address: "Elm 3" } };

eachStoreAndPooler((store) => {
  test("start and send are part of the caller's transaction, and come true when it commits", async () => {
    await using t = await store.open({ lifecycles: [parcel] });
    await t.pawl.transaction(async (tx) => {
      const started = await t.pawl.start(parcel, { ...item, tx });
      await t.pawl.send(parcel, { id: started.id }, "noted", { tx });
      expect(await t.pawl.get(parcel, "p", { tx })).toMatchObject({ version: 2 });
      const many = await t.pawl.sendMany(
        parcel,
        [
          { to: "p", event: "noted" },
          { to: "nobody", event: "noted" },
        ],
        { tx },
      );
      expect(many.map((one) => one.ok)).toEqual([true, false]);
    });
    expect(await t.pawl.get(parcel, "p")).toMatchObject({ version: 3, data: { notes: 2 } });
  });

  test("a transaction that is rolled back leaves nothing", async () => {
    await using t = await store.open({ lifecycles: [parcel] });
    const undone = t.pawl.transaction(async (tx) => {
      await t.pawl.start(parcel, { ...item, tx });
      throw new Error("no");
    });
    await expect(undone).rejects.toThrow("no");
    expect(await t.pawl.get(parcel, "p")).toBeUndefined();
    expect(await t.pawl.inspect.counts(parcel)).toEqual({});
  });

  test("a refusal leaves the caller's transaction usable and as it was", async () => {
    await using t = await store.open({ lifecycles: [parcel] });
    await t.pawl.start(parcel, item);
    await t.pawl.transaction(async (tx) => {
      await expect(t.pawl.send(parcel, "p", "delivered", { tx })).rejects.toMatchObject({ code: "transition_refused" });
      await t.pawl.send(parcel, "p", "noted", { tx });
    });
    expect(await t.pawl.get(parcel, "p")).toMatchObject({ version: 2 });
  });

  test("two starts with one key in two transactions: the second waits and finds the first", async () => {
    await using t = await store.open({ lifecycles: [parcel] });
    const both = await Promise.all([1, 2].map(() => t.pawl.transaction((tx) => t.pawl.start(parcel, { ...item, tx }))));
    expect(both.map((one) => one.created).sort()).toEqual([false, true]);
    expect(both[0]!.id).toBe(both[1]!.id);
  });
});

const server = process.env.PAWL_TEST_POSTGRES_URL;

describe.skipIf(server === undefined)("with other libraries on PostgreSQL", () => {
  async function within(
    use: (url: string, send: (tx: TransactionLike) => Promise<unknown>) => Promise<void>,
  ): Promise<number> {
    await using t = await testPawl({ lifecycles: [parcel], server });
    await t.pawl.start(parcel, item);
    await use(t.url!, (tx) => t.pawl.send(parcel, "p", "noted", { tx }));
    return (await t.pawl.get(parcel, "p"))!.version;
  }

  test("a pg client in a transaction is a tx; outside one, and a pool, are refused", async () => {
    const version = await within(async (url, send) => {
      const pool = new pg.Pool({ connectionString: url });
      const client = await pool.connect();
      await client.query("begin");
      await send(client);
      await client.query("commit");
      await expect(send(client)).rejects.toMatchObject({ code: "not_a_transaction" });
      await expect(send(pool)).rejects.toMatchObject({ code: "not_a_transaction" });
      await expect(send({} as never)).rejects.toMatchObject({ code: "option_invalid" });
      client.release();
      await pool.end();
    });
    expect(version).toBe(2);
  });

  test("a Kysely transaction is a tx", async () => {
    const version = await within(async (url, send) => {
      const db = new Kysely<Record<string, never>>({
        dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString: url }) }),
      });
      await db.transaction().execute((trx) => send(fromKysely(trx)));
      const undone = db.transaction().execute(async (trx) => {
        await send(fromKysely(trx));
        throw new Error("no");
      });
      await expect(undone).rejects.toThrow("no");
      await db.destroy();
    });
    expect(version).toBe(2);
  });

  test("a Drizzle transaction is a tx", async () => {
    const version = await within(async (url, send) => {
      const pool = new pg.Pool({ connectionString: url });
      await drizzle(pool).transaction((tx) => send(fromDrizzle(tx, sql)));
      await pool.end();
    });
    expect(version).toBe(2);
  });

  test("whatever runs raw SQL the way Prisma does is a tx", async () => {
    const version = await within(async (url, send) => {
      const client = new pg.Client(url);
      await client.connect();
      await client.query("begin");
      await send(fromPrisma({ $queryRawUnsafe: async (text, ...values) => (await client.query(text, values)).rows }));
      await client.query("commit");
      await client.end();
    });
    expect(version).toBe(2);
  });
});

describe("failures in transactions of other libraries", () => {
  /** As Prisma throws them with a driver adapter, as its query engine did, and its own. */
  const prismaError = (code: string, meta: object) =>
    Object.assign(new Error("Invalid `prisma.$queryRawUnsafe()` invocation"), { code, meta });
  const adapted = (originalCode: string) =>
    prismaError("P2010", { driverAdapterError: { cause: { originalCode, originalMessage: "said the driver" } } });
  const throwing = (thrown: Error) => ({ $queryRawUnsafe: () => Promise.reject(thrown) });

  test.each([
    ["a serialization failure", adapted("40001"), "busy"],
    ["one of the query engine", prismaError("P2010", { code: "40P01", message: "deadlock" }), "busy"],
    ["an aborted transaction", adapted("25P02"), "not_a_transaction"],
    ["no transaction", adapted("25P01"), "not_a_transaction"],
    ["a transaction that took too long", prismaError("P2028", {}), "not_a_transaction"],
    ["a lost connection", prismaError("P1017", {}), "outcome_unknown"],
  ])("%s in a Prisma transaction says who must act", async (_, error, code) => {
    await using t = await testPawl({ lifecycles: [parcel] });
    await t.pawl.start(parcel, item);
    const sent = t.pawl.send(parcel, "p", "noted", { tx: fromPrisma(throwing(error)) });
    await expect(sent).rejects.toMatchObject({ code });
  });

  test.skipIf(server === undefined)(
    "an aborted transaction of Drizzle is told apart from a lost connection, and so is one of Kysely",
    async () => {
      await using t = await testPawl({ lifecycles: [parcel], server });
      await t.pawl.start(parcel, item);
      const pool = new pg.Pool({ connectionString: t.url! });
      const send = (tx: TransactionLike) =>
        expect(t.pawl.send(parcel, "p", "noted", { tx })).rejects.toMatchObject({ code: "not_a_transaction" });
      const inDrizzle = drizzle(pool).transaction(async (trx) => {
        await expect(trx.execute(sql`select 1 / 0`)).rejects.toThrow();
        await send(fromDrizzle(trx, sql));
        throw new Error("over");
      });
      await expect(inDrizzle).rejects.toThrow("over");
      await send(fromDrizzle(drizzle(pool), sql));
      const db = new Kysely<Record<string, never>>({ dialect: new PostgresDialect({ pool }) });
      const inKysely = db.transaction().execute(async (trx) => {
        await expect(fromKysely(trx).query("select 1 / 0")).rejects.toThrow();
        await send(fromKysely(trx));
        throw new Error("over");
      });
      await expect(inKysely).rejects.toThrow("over");
      await db.destroy();
    },
  );

  test.skipIf(prismaFolder === undefined)(
    "an aborted transaction of Prisma's own client, and no transaction",
    async () => {
      await using t = await testPawl({ lifecycles: [parcel], server });
      await t.pawl.start(parcel, item);
      const prisma = await openPrisma(prismaFolder!, t.url!);
      const send = (tx: TransactionLike) =>
        expect(t.pawl.send(parcel, "p", "noted", { tx })).rejects.toMatchObject({ code: "not_a_transaction" });
      const aborted = prisma.$transaction(
        async (trx) => {
          await expect(trx.$queryRawUnsafe("select 1 / 0")).rejects.toThrow();
          await send(fromPrisma(trx));
          throw new Error("over");
        },
        { timeout: 60_000 },
      );
      await expect(aborted).rejects.toThrow("over");
      await send(fromPrisma(prisma));
      let ended: Parameters<typeof fromPrisma>[0] | undefined;
      await prisma.$transaction(
        async (trx) => {
          ended = trx;
        },
        { timeout: 60_000 },
      );
      await send(fromPrisma(ended!));
      await prisma.$disconnect();
    },
  );
});

describe("with PGlite's own transactions", () => {
  test("a PGlite transaction is a tx for whoever embeds PGlite himself", async () => {
    // The statements are the same on both: what is held here is that PGlite's own transaction object fits.
    await using t = await testPawl({ lifecycles: [parcel] });
    await t.pawl.start(parcel, item);
    await t.pawl.transaction(async (tx) => {
      const alike: TransactionLike = { query: (text, values) => tx.query(text, values) };
      await t.pawl.send(parcel, "p", "noted", { tx: alike });
    });
    expect(await t.pawl.get(parcel, "p")).toMatchObject({ version: 2 });
  });
});
