import { lifecycle } from "pawl";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openOn } from "../../src/api/create.ts";
import { sql } from "../../src/store/port/db.ts";
import { openPostgres } from "../../src/store/postgres/open.ts";
import { type PostgresServer, startPostgres } from "../setup/postgres.ts";
import { gateOf } from "../support/gate.ts";
import { type BehindProxy, openBehindProxy } from "./harm/behind-proxy.ts";

/** Waits for the real time with PAWL_REAL_OUTAGES=1; else the database's clock is moved while it is away. */
const isReal = process.env.PAWL_REAL_OUTAGES === "1";
const lease = isReal ? "30s" : "3s";
const instances = isReal ? 200 : 60;

/** How often each step began, and what it waits for. */
const runs = new Map<string, number>();
let whileAway = gateOf();
let begun: () => void = () => {};

const trip = lifecycle("trip", {
  initial: "packing",
  states: {
    packing: { run: run, retry: { maxAttempts: 1, backoff: () => 0 }, on: { packed: "waiting" } },
    waiting: { timeout: { after: "2s", send: "called" }, on: { called: "driving" } },
    driving: { run: run, retry: { maxAttempts: 1, backoff: () => 0 }, on: { driven: "unloading" } },
    unloading: { run: run, retry: { maxAttempts: 1, backoff: () => 0 }, on: { unloaded: "home" } },
    home: { final: "success" },
  },
});

async function run(step: { readonly idempotencyKey: string; readonly key: string | null }): Promise<undefined> {
  runs.set(step.idempotencyKey, (runs.get(step.idempotencyKey) ?? 0) + 1);
  begun();
  // Of every three one ends while the database is away, and one after it has come back.
  const turn = Number(step.key) % 3;
  if (turn > 0) await whileAway.promise;
  return undefined;
}

describe("outages under load", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.stop());

  for (const seconds of [30, 60, 180]) {
    test(`the database is away for ${seconds} s: nothing is lost, no attempt is spent, and work goes on by itself`, async () => {
      runs.clear();
      whileAway = gateOf();
      await using t = await openBehindProxy(server.url, undefined, { lifecycles: [trip] });
      await moveableClock(t);
      const url = new URL(server.url);
      const [{ name }] = (await t.db.rows<{ name: string }>(sql`select current_database() as name`)) as [
        { name: string },
      ];
      url.pathname = `/${name}`;
      url.port = String(t.proxy.port);
      // A second process on the same database: each could expire the other's leases.
      const other = await openOn(await openPostgres({ url: url.href }), { lifecycles: [trip], logger: false });
      const waits = [gateOf(), gateOf()];
      const full = gateOf();
      let running = 0;
      begun = () => {
        running += 1;
        if (running >= 16) full.resolve();
      };
      const workers = [t.pawl, other.pawl].map((pawl, index) =>
        pawl.work({
          concurrency: 16,
          leaseDuration: lease,
          onFailure: () => {},
          onMove: ({ to }) => to === "ErrorWait" && waits[index]!.resolve(),
        }),
      );
      const acknowledged = new Set<string>();
      const start = async (key: string) => {
        for (;;) {
          try {
            await t.pawl.start(trip, { key });
            acknowledged.add(key);
            return;
          } catch {
            await new Promise(setImmediate); // The database is away: a caller with a key simply tries again.
          }
        }
      };
      await Promise.all(Array.from({ length: instances / 2 }, (_, index) => start(String(index))));
      await full.promise;
      t.proxy.refuse = Number.POSITIVE_INFINITY;
      t.proxy.cutAll();
      const later = Promise.all(
        Array.from({ length: instances / 2 }, (_, index) => start(String(index + instances / 2))),
      );
      await Promise.all(waits.map((one) => one.promise));
      whileAway.resolve();
      await pass(t, seconds);
      t.proxy.refuse = 0;
      await later;
      await allHome(t, acknowledged.size);
      await Promise.all(workers.map((worker) => worker.stop()));
      expect(acknowledged.size).toBe(instances);
      const [spent] = await t.db.rows<{ most: number; failed: number }>(sql`
        select coalesce(max(attempt), 1)::int as most, count(*) filter (where what = 'failed')::int as failed
        from pawl.attempts where task_id = instance_id`);
      expect(spent).toEqual({ most: 1, failed: 0 });
      expect([...runs.values()].filter((times) => times > 1)).toEqual([]);
      expect(runs.size).toBe(instances * 3);
      expect((await t.pawl.deadLetters.list({ lifecycle: trip })).length).toBe(0);
      expect(await t.pawl.inspect.verify()).toEqual([]);
      await other.pawl.close();
    }, 600_000);
  }
});

/** The database's clock, a row ahead of the real one. */
async function moveableClock(t: BehindProxy): Promise<void> {
  await t.db.script(`
    create table pawl.test_ahead (by interval not null);
    insert into pawl.test_ahead values ('0');
    create or replace function pawl.now() returns timestamptz language sql stable as
      'select clock_timestamp() + by from pawl.test_ahead';`);
}

/** While the database is away from those who use it, by the straight way. */
async function pass(t: BehindProxy, seconds: number): Promise<void> {
  if (isReal) await new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
  else await t.db.rows(sql`update pawl.test_ahead set by = ${seconds}::int * interval '1 second'`);
}

async function allHome(t: BehindProxy, count: number): Promise<void> {
  for (let home = 0; home < count; ) {
    const [row] = await t.db.rows<{ home: number; failed: number }>(sql`
      select count(*) filter (where state = 'home')::int as home, count(*) filter (where state = 'failed')::int as failed
      from pawl.instances`);
    if (row!.failed > 0) throw new Error(`${row!.failed} instances failed.`);
    home = row!.home;
  }
}
