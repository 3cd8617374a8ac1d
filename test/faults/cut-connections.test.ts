import { setImmediate as nextTurn } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { longestPauseMs, standardOutcomeTimeoutMs } from "../../src/kernel/retry-unknown-outcome.ts";
import { sql } from "../../src/store/port/db.ts";
import { openPostgres } from "../../src/store/postgres/open.ts";
import { type PostgresServer, startPostgres } from "../setup/postgres.ts";
import { onOwnPostgres } from "../setup/suites.ts";
import { check } from "./checks/checker.ts";
import { type BehindProxy, openBehindProxy } from "./harm/behind-proxy.ts";
import { callUntil } from "./harm/callers.ts";
import { Random, repeat, seed } from "./harm/random.ts";

/** How often connections are cut under load, and how often the server is. */
const cuts = Number(process.env.PAWL_TEST_CUTS ?? 40);
const crashes = Number(process.env.PAWL_TEST_CRASHES ?? 2);

onOwnPostgres("PostgreSQL that comes and goes under load", () => {
  let server: PostgresServer;
  const unhandled: unknown[] = [];
  const note = (error: unknown) => unhandled.push(error);
  beforeAll(async () => {
    server = await startPostgres({ durable: true });
    process.on("unhandledRejection", note);
  });
  afterEach(() => expect(unhandled).toEqual([]));
  afterAll(async () => {
    process.off("unhandledRejection", note);
    await server.stop();
  });

  async function isBack(): Promise<void> {
    for (;;) {
      try {
        const db = await openPostgres({ url: server.url, connections: 1 });
        return await db.close();
      } catch {
        await nextTurn();
      }
    }
  }

  /** Every kind of call at once while `interfere` runs; then the results of callers are compared with the tables. */
  async function underLoad(t: BehindProxy, random: Random, interfere: () => Promise<void>): Promise<void> {
    const { pawl, kernel, lanes, ledger } = t;
    let isOver = false;
    const desk = { name: "c", pawl, kernel, lanes, random, book: ledger, keys: [], whenBack: isBack };
    const calling = callUntil(desk, () => isOver);
    // An error of a caller ends the test now, not after its timeout.
    await Promise.race([interfere(), calling]);
    t.proxy.onPiece = () => {};
    isOver = true;
    await calling;
    await t.end();
    expect(await check(t.db, ledger), repeat).toEqual([]);
    // Only they cannot be asked about: an owner's own commit, a part of many starts, and what is nobody's call. All
    // others are asked about until patience ends, which a busy machine or a long recovery of the server may outlast.
    const unclear = ledger.unknownWithin(standardOutcomeTimeoutMs - longestPauseMs);
    expect(
      unclear.filter((mark) => !/ (?:transaction|startMany|maintain)$/.test(mark)),
      repeat,
    ).toEqual([]);
  }

  test(`${cuts} cuts at random moments: whatever callers are told is true`, { timeout: 120_000 }, async () => {
    const random = new Random(seed);
    await using t = await openBehindProxy(server.url);
    let strikes = 0;
    await underLoad(t, random, () => {
      return new Promise<void>((resolve) => {
        let left = 100;
        t.proxy.onPiece = () => {
          left -= 1;
          if (left > 0) return;
          left = 20 + random.below(150);
          strikes += 1;
          t.proxy.delayMs = random.pick([0, 0, 1, 5]); // Of the next connections.
          if (random.below(2) === 0) t.proxy.cutAll();
          else t.proxy.cutOne((below) => random.below(below));
          if (strikes === cuts) resolve();
        };
      });
    });
    expect(t.proxy.cuts.busy, "Cuts must meet statements under way").toBeGreaterThan(cuts / 3);
    expect(t.ledger.told("done").length, "Work must go on between cuts").toBeGreaterThan(cuts);
  });

  test("the server is killed and started again under load: whatever callers are told is true", {
    timeout: 120_000,
  }, async () => {
    await using t = await openBehindProxy(server.url);
    await underLoad(t, new Random(seed), async () => {
      for (let crash = 0; crash < crashes; crash++) {
        await t.ledger.whenDone(50);
        await server.crash();
        await server.restart();
      }
      await t.ledger.whenDone(50);
    });
  });

  test("one of the server's processes is killed under load: whatever callers are told is true", {
    timeout: 120_000,
  }, async () => {
    await using t = await openBehindProxy(server.url);
    await underLoad(t, new Random(seed), async () => {
      for (let crash = 0; crash < crashes; crash++) {
        await t.ledger.whenDone(50);
        const [backend] = await t.db.rows<{ pid: number }>(sql`
          select pid from pg_stat_activity
          where datname = current_database() and pid <> pg_backend_pid() and application_name = 'pawl' limit 1`);
        process.kill(backend!.pid, "SIGKILL"); // The server ends all its processes, and restarts.
      }
      await t.ledger.whenDone(50);
    });
  });
});
