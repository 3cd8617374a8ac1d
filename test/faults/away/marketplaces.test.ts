import { crowd, type Decided, type Marketplace, type Pawl } from "pawl";
import { mturk } from "pawl/mturk";
import { memoryMarketplace } from "pawl/testing";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { TransientError } from "../../../src/base/step-errors.ts";
import { testPawl } from "../../../src/testing/test-pawl.ts";
import { type PostgresServer, startPostgres } from "../../setup/postgres.ts";
import { onPostgres } from "../../setup/suites.ts";
import { MturkServer } from "../../support/mturk-server/server.ts";
import { openBehindProxy } from "../harm/behind-proxy.ts";
import { bringBack, installMovedClock, setAhead, takeAway } from "../harm/moved-clock.ts";
import { TcpProxy } from "../harm/tcp-proxy.ts";

const receipts = crowd("receipts", {
  label: z.object({ total: z.number() }),
  marketplace: "market",
  description: "Type the total of the receipt.",
  reward: "0.05",
  submissions: 1,
});

/** A marketplace that can become unreachable, and direct access to it. */
interface Specimen {
  readonly marketplace: Marketplace;
  goAway(): void;
  comeBack(): void;
  pass(seconds: number): void;
  /** How many jobs are there. */
  count(): number;
  /** A worker works on every job that is open there. */
  work(): void;
  approved(): number;
  /** Called when something is about to be published. */
  onPublish(told: () => void): void;
  close(): Promise<void>;
}

async function inMemory(): Promise<Specimen> {
  let [isAway, now, told] = [false, Date.UTC(2030, 0, 1, 12), () => {}];
  const market = memoryMarketplace({ now: () => now });
  const marketplace = new Proxy(market, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function" || name === "check" || name === "end") return value;
      return async (...given: unknown[]) => {
        if (isAway) throw new TransientError("The marketplace cannot be reached.");
        const answer: unknown = await value.apply(target, given);
        if (name === "publish") told();
        if (name === "decide" && !(answer as Decided).already) approved += 1;
        return answer;
      };
    },
  });
  let approved = 0;
  const published = new Set<string>();
  const look = () => {
    for (const { id } of market.workers.openJobs()) published.add(id);
  };
  return {
    marketplace,
    goAway: () => (isAway = true),
    comeBack: () => (isAway = false),
    pass: (seconds) => (now += seconds * 1_000),
    count: () => {
      look();
      return published.size;
    },
    work() {
      for (const { id } of market.workers.openJobs()) market.workers.work(id, `W${id}`, { total: 12 });
    },
    approved: () => approved,
    onPublish: (given) => (told = given),
    close: async () => {},
  };
}

async function onMechanicalTurk(): Promise<Specimen> {
  const server = await MturkServer.start(Date.UTC(2030, 0, 1, 12));
  const proxy = new TcpProxy({ host: "127.0.0.1", port: Number(new URL(server.url).port) });
  const marketplace = mturk({
    endpoint: await proxy.listen(server.url),
    credentials: { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "secret" },
    now: () => server.world.now,
  });
  return {
    marketplace,
    goAway() {
      proxy.refuse = Number.POSITIVE_INFINITY;
      proxy.cutAll();
    },
    comeBack: () => (proxy.refuse = 0),
    pass: (seconds) => server.world.advance(seconds * 1_000),
    count: () => server.world.hits.size,
    work() {
      for (const id of server.world.hits.keys()) server.workers.work(id, "A1WORKER", { "total:number": "12" });
    },
    approved: () => server.countOf("ApproveAssignment"),
    onPublish: (told) => void server.asked("CreateHIT").then(told),
    async close() {
      await marketplace.shutdown();
      await proxy.close();
      await server.stop();
    },
  };
}

const kinds = { "a marketplace in memory": inMemory, "Mechanical Turk": onMechanicalTurk };
/** Enough calls for the breaker of the marketplace to open. */
const jobs = 12;

async function states(pawl: Pawl): Promise<string[]> {
  return (await pawl.crowd.jobs(receipts)).map(({ state }) => state);
}

describe.each(Object.entries(kinds))("%s", (_, open) => {
  test("that is away for minutes publishes each job once, decides each submission once, and nothing is given up", async () => {
    const it = await open();
    await using t = await testPawl({ lifecycles: [], crowds: [receipts], marketplaces: { market: it.marketplace } });
    const pass = async (seconds: number) => {
      for (let left = seconds; left > 0; left -= 20) {
        it.pass(20);
        await t.advance("20s");
        await t.work();
      }
    };
    it.goAway();
    for (let n = 0; n < jobs; n++) await t.pawl.crowd.ask(receipts, { key: `r${n}`, content: { n } });
    await t.work();
    await pass(180);
    expect(await states(t.pawl)).toEqual(Array(jobs).fill("publishing"));
    expect((await t.pawl.inspect.overview()).needs, "its breaker opens, and shows it").toContainEqual(
      expect.objectContaining({ what: "breakers", text: expect.stringContaining("marketplace-market") }),
    );
    it.comeBack();
    await pass(600);
    expect([await states(t.pawl), it.count()]).toEqual([Array(jobs).fill("running"), jobs]);
    it.work();
    it.goAway();
    await pass(180);
    it.comeBack();
    await pass(1_800);
    expect(await states(t.pawl)).toEqual(Array(jobs).fill("finished"));
    expect([it.count(), it.approved()]).toEqual([jobs, jobs]);
    expect(await t.pawl.deadLetters.list()).toEqual([]);
    expect(await t.pawl.inspect.verify()).toEqual([]);
    await it.close();
  }, 120_000);
});

onPostgres("PostgreSQL away under a marketplace", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.stop());

  test.each(Object.entries(kinds))(
    "%s: what is published while it goes away is published once, and no attempt is spent",
    async (_, open) => {
      const it = await open();
      await using t = await openBehindProxy(server.url, undefined, {
        lifecycles: [],
        crowds: [receipts],
        marketplaces: { market: it.marketplace },
      });
      await installMovedClock(t);
      for (let n = 0; n < jobs; n++) await t.pawl.crowd.ask(receipts, { key: `r${n}`, content: { n } });
      it.onPublish(() => takeAway(t));
      const worker = t.pawl.work({ onFailure: () => {} });
      await vi.waitFor(() => expect(worker.state).toBe("ErrorWait"), 30_000);
      await setAhead(t, 180);
      bringBack(t);
      await vi.waitFor(async () => expect(await states(t.pawl)).toEqual(Array(jobs).fill("running")), 90_000);
      expect(it.count()).toBe(jobs);
      const { rows } = await t.pawl.transaction((tx) =>
        tx.query<{ what: string }>("select what from pawl.attempts where what in ('failed', 'lapsed')"),
      );
      expect(rows).toEqual([]);
      await worker.stop();
      await it.close();
    },
    180_000,
  );
});
