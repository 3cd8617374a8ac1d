import { createPawl, lifecycle } from "pawl";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type PostgresServer, startPostgres } from "../setup/postgres.ts";
import { onOwnPostgres } from "../setup/suites.ts";
import { gateOf } from "../support/gate.ts";
import { WatchedWorker } from "../support/watched-worker.ts";

const gate = { began: gateOf(), opened: gateOf(), runs: 0 };

const parcel = lifecycle("parcel", {
  initial: "packing",
  states: {
    packing: {
      run: async (step) => {
        gate.runs += 1;
        gate.began.resolve();
        await gate.opened.promise;
        return step.go("packed");
      },
      retry: { maxAttempts: 1 },
      on: { packed: "waiting", noted: {} },
    },
    waiting: { forever: true, on: { noted: {}, sent: "done" } },
    done: { final: "success" },
  },
});

onOwnPostgres("a server that becomes read-only, as the old primary of a failover", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  }, 60_000);
  afterAll(() => server.stop());

  /** For all sessions, open ones too, from their next statement on. */
  async function setReadOnly(isOn: boolean): Promise<void> {
    const wanted = isOn ? "on" : "off";
    const client = new pg.Client({ connectionString: server.url });
    await client.connect();
    await client.query(`alter system set default_transaction_read_only = ${wanted}`);
    await client.query("select pg_reload_conf()");
    for (let seen = ""; seen !== wanted; ) {
      const { rows } = await client.query("show default_transaction_read_only");
      seen = rows[0].default_transaction_read_only;
    }
    await client.end();
  }

  test("calls are retried, a running step keeps its result, and the worker goes on when it takes writes again", async () => {
    await using pawl = await createPawl({ database: server.url, lifecycles: [parcel], logger: false });
    const failed = gateOf();
    const watched = new WatchedWorker(pawl, { pollInterval: 50, concurrency: 2 }, ({ to }) => {
      if (to === "ErrorWait") failed.resolve();
    });
    const { id } = await pawl.start(parcel, { key: "a" });
    await gate.began.promise;
    await setReadOnly(true);
    gate.opened.resolve();
    await failed.promise;
    const sent = pawl.send(parcel, { id }, "noted");
    const started = pawl.start(parcel, { key: "b" });
    await setReadOnly(false);
    await started;
    expect((await pawl.wait(parcel, { id }, { until: "waiting" })).state).toBe("waiting");
    await sent;
    await pawl.wait(parcel, "b", { until: "waiting" });
    expect(gate.runs).toBe(2);
    await watched.worker.stop();
    expect(watched.failures).toContainEqual(expect.objectContaining({ code: "database_unreachable" }));
    expect(await pawl.inspect.verify()).toEqual([]);
  }, 60_000);

  test("a call that meets it for longer says that the database takes no writes; nothing is opened on it", async () => {
    const options = { database: server.url, lifecycles: [parcel], logger: false, outcomeTimeout: "2s" } as const;
    await using pawl = await createPawl(options);
    await setReadOnly(true);
    const told = { code: "database_unreachable", message: expect.stringContaining("takes no writes") };
    await expect(pawl.start(parcel, { key: "c" })).rejects.toMatchObject(told);
    await expect(
      pawl.transaction((tx) => tx.query("insert into pawl.counts values ('x', 'y', 1)")),
    ).rejects.toMatchObject(told);
    await expect(createPawl({ database: server.url, lifecycles: [parcel], logger: false })).rejects.toMatchObject(told);
    await setReadOnly(false);
    expect((await pawl.start(parcel, { key: "c" })).created).toBe(true);
  }, 60_000);
});
