import { createPawl, lifecycle, type Pawl } from "pawl";
import { httpApp } from "pawl/http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { sql } from "../../src/store/port/db.ts";
import { borrowPostgresStore, type TestStore } from "../../src/testing/stores.ts";
import { onPostgres, throughPgbouncer } from "../setup/suites.ts";

const chain = lifecycle("chain", {
  initial: "first",
  states: {
    first: { run: () => {}, on: { next: "second" } },
    second: { run: () => {}, on: { next: "done" } },
    done: { final: "success" },
  },
});

/** A Pawl with six connections, and a table that only one kind of read needs. */
function world(pooler: () => string | undefined) {
  let store: TestStore;
  let pawl: Pawl;
  let headers: Record<string, string>;
  beforeAll(async () => {
    store = await borrowPostgresStore(process.env.PAWL_TEST_POSTGRES_URL!, { pooler: pooler() });
    pawl = await createPawl({
      database: store.url!,
      connections: 6,
      lifecycles: [chain],
      logger: false,
      onWarning: () => {},
    });
    const { secret } = await pawl.access.createToken({ name: "ada", role: "viewer" });
    headers = { authorization: `Bearer ${secret}` };
  });
  afterAll(async () => {
    await pawl?.close();
    await store?.dispose();
  });

  /** Runs `work` while every read of labelers has to wait. */
  const whileReadsAreSlow = (work: () => Promise<void>) =>
    store.db.transaction(async (tx) => {
      await tx.query("lock table pawl.labelers in access exclusive mode");
      await work();
    });
  const waitingReads = async () => {
    const [row] = await store.db.rows<{ count: number }>(sql`
      select count(*)::int as count from pg_locks where not granted and relation = 'pawl.labelers'::regclass
    `);
    return row!.count;
  };
  return { whileReadsAreSlow, waitingReads, pawl: () => pawl, headers: () => headers };
}

onPostgres("expensive reads over HTTP", () => {
  const { whileReadsAreSlow, waitingReads, pawl, headers } = world(() => undefined);

  test("hold four connections of their own, and the steps of ten instances run beside 200 of them", async () => {
    const app = httpApp(pawl(), { limits: { statementTimeout: "30s" } });
    const answered: number[] = [];
    const worker = pawl().work({ concurrency: 8 });
    let reads: Promise<void>[] = [];
    await whileReadsAreSlow(async () => {
      reads = Array.from({ length: 200 }, async () => {
        const { status } = await app.request("/api/labelers", { headers: headers() });
        if (status !== 429) answered.push(status);
      });
      await expect.poll(waitingReads).toBe(4);
      const data = Array.from({ length: 10 }, (_, index) => ({ key: `c${index}`, data: {} }));
      await pawl().startMany(chain, data);
      await Promise.all(data.map(({ key }) => pawl().wait(chain, key, { until: "done" })));
      expect(await pawl().inspect.counts(chain)).toMatchObject({ done: 10 });
      expect(answered).toEqual([]); // All that was done meanwhile was done beside them.
      expect(await waitingReads()).toBe(4);
    });
    await Promise.all(reads);
    expect(answered.length).toBeGreaterThanOrEqual(54);
    expect(new Set(answered)).toEqual(new Set([200]));
    await worker.stop();
  });
});

for (const [suite, name, pooler] of [
  [onPostgres, "PostgreSQL", () => undefined],
  [throughPgbouncer, "PgBouncer", () => process.env.PAWL_TEST_PGBOUNCER_URL],
] as const) {
  suite(`a statement of a read over HTTP, on ${name}`, () => {
    const { whileReadsAreSlow, waitingReads, pawl, headers } = world(pooler);

    test("is cancelled when its time is over, and the caller learns what to do", async () => {
      const app = httpApp(pawl(), { limits: { statementTimeout: "50ms" } });
      await whileReadsAreSlow(async () => {
        const answer = await app.request("/api/labelers", { headers: headers() });
        expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "1"]);
        expect(await answer.json()).toMatchObject({
          code: "statement_timeout",
          detail:
            "The database did not answer this read within 0.05 s, and it was cancelled. Ask for less (a filter, a smaller limit), or raise `http.limits.statementTimeout`.",
          details: { statementTimeoutMs: 50 },
        });
      });
      expect((await app.request("/api/labelers", { headers: headers() })).status).toBe(200);
    });

    test("limits nothing but reads over HTTP: the timeout stays on no connection", async () => {
      const app = httpApp(pawl(), { limits: { statementTimeout: "50ms" } });
      for (let time = 0; time < 5; time++)
        expect((await app.request("/api/labelers", { headers: headers() })).status).toBe(200);
      let other: Promise<unknown> | undefined;
      await whileReadsAreSlow(async () => {
        other = pawl().people.labelers();
        await expect.poll(waitingReads).toBe(1);
        await app.request("/api/labelers", { headers: headers() }); // As long as a read may take.
      });
      expect(await other).toEqual([]);
    });
  });
}

test("a limit that is none is refused", () => {
  const { pawl } = { pawl: {} as Pawl };
  expect(() => httpApp(pawl, { limits: { statementTimeout: "soon" as never } })).toThrow(
    "http.limits.statementTimeout",
  );
  expect(() => httpApp(pawl, { limits: { statementTimeout: 0 } })).toThrow("at least 1 ms");
  expect(() => httpApp(pawl, { limits: { connections: 0 } })).toThrow("http.limits.connections");
});
