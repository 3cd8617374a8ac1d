import { createPawl, isPawlError } from "pawl";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sql } from "../../src/store/port/db.ts";
import { openPostgres } from "../../src/store/postgres/open.ts";
import { type PostgresServer, startPostgres } from "../setup/postgres.ts";
import { WatchedWorker } from "../support/watched-worker.ts";
import { openBehindProxy } from "./harm/behind-proxy.ts";
import { errand } from "./worlds/errand.ts";

describe("a worker whose database goes away", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  }, 60_000);
  afterAll(() => server.stop());

  /** Waits until a backend listens for notifications. Its connection is one that the server has seen since it started. */
  async function listener(): Promise<void> {
    const db = await openPostgres({ url: server.url, connections: 1 });
    for (let found = 0; found === 0; ) {
      const rows = await db.rows(sql`select pid from pg_stat_activity where query ilike 'listen %'`);
      found = rows.length;
    }
    await db.close();
  }

  test("R84 connecting opens PostgreSQL, and opens it again each time that the server was gone", async () => {
    const options = { database: server.url, lifecycles: [errand], logger: false } as const;
    const pawl = await createPawl(options);
    const work = async (key: string) => {
      const other = await createPawl(options); // Wakes the worker by NOTIFY only.
      const { id } = await other.start(errand, { key });
      await other.send(errand, { id }, "sent_to_work");
      await other.wait(errand, { id }, { until: "ready" });
      await other.close();
    };
    await server.crash();
    const watched = new WatchedWorker(pawl, { pollInterval: "1s" });
    await watched.made("Connecting → ErrorWait");
    expect(watched.moves).toEqual(["Startup → Connecting", "Connecting → ErrorWait"]);
    await server.restart();
    await watched.made("Backoff → Idle");
    expect(watched.moves.slice(2, 6)).toEqual([
      "ErrorWait → Connecting",
      "Connecting → Recovery",
      "Recovery → Polling",
      "Polling → Backoff",
    ]);
    await listener();
    await work("opened");
    const lost = watched.next("Polling → ErrorWait");
    await server.crash();
    await lost;
    const reopened = watched.next("Connecting → Recovery");
    await server.restart();
    await reopened;
    await listener();
    await work("opened again");
    await watched.worker.stop();
    await pawl.close();
  }, 90_000);

  test("R92 a connection error leads to ErrorWait for 5 s, then to Connecting, and work goes on", async () => {
    const cutIn = async (state: "Connecting" | "Polling") => {
      await using t = await openBehindProxy(server.url);
      const cut = () => {
        t.proxy.refuse = Number.POSITIVE_INFINITY;
        t.proxy.cutAll();
      };
      const { id } = await t.pawl.start(errand, {});
      const waits: (number | undefined)[] = [];
      if (state === "Connecting") cut();
      const watched = new WatchedWorker(
        t.pawl,
        { pollInterval: 20 },
        ({ to, restMs }) => to === "ErrorWait" && waits.push(restMs),
      );
      if (state === "Polling") {
        await watched.made("Backoff → Idle");
        cut();
      }
      await watched.made(`${state} → ErrorWait`);
      expect(watched.worker.state).toBe("ErrorWait");
      t.proxy.refuse = 0;
      await watched.made("ErrorWait → Connecting");
      await watched.next("Backoff → Idle");
      await t.pawl.send(errand, { id }, "sent_to_work");
      await t.pawl.wait(errand, { id }, { until: "ready" });
      await watched.worker.stop();
      expect(new Set(waits)).toEqual(new Set([5_000]));
      // One that is cut in the middle of a statement has an unknown outcome.
      const codes = watched.failures.map((error) => (isPawlError(error) ? error.code : error));
      expect(codes.some((code) => code === "database_unreachable" || code === "outcome_unknown")).toBe(true);
    };
    await Promise.all([cutIn("Connecting"), cutIn("Polling")]);
  }, 60_000);
});
