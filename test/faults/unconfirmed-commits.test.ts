import { createPawl, lifecycle, type Pawl } from "pawl";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type PostgresServer, startPostgres } from "../setup/postgres.ts";
import { onOwnPostgres } from "../setup/suites.ts";

const parcel = lifecycle("parcel", {
  initial: "waiting",
  states: { waiting: { forever: true, on: { noted: {}, sent: "done" } }, done: { final: "success" } },
});

onOwnPostgres("a commit whose connection ends while it waits for the synchronous standby", () => {
  let primary: PostgresServer;
  let standby: PostgresServer;
  let admin: pg.Client;
  let pawl: Pawl;
  beforeAll(async () => {
    const settings = { synchronous_commit: "on" };
    primary = await startPostgres({ settings });
    standby = await startPostgres({ standbyOf: primary, settings });
    admin = new pg.Client({ connectionString: primary.url });
    await admin.connect();
    // A role without privileges: what confirms a commit must need none.
    await admin.query("create role shop login");
    await admin.query("grant create on database postgres to shop");
    const url = primary.url.replace("//postgres@", "//shop@");
    pawl = await createPawl({ database: url, lifecycles: [parcel], notify: false, logger: false });
    await pawl.start(parcel, { key: "old" });
    await admin.query("alter system set synchronous_standby_names = '*'");
    await admin.query("select pg_reload_conf()");
    await untilRows("select 1 from pg_stat_replication where sync_state = 'sync'");
  }, 120_000);
  afterAll(async () => {
    await pawl.close();
    await admin.end();
    await primary.stop();
    await standby.stop();
  });

  async function untilRows(text: string): Promise<{ pid: number }[]> {
    for (;;) {
      const { rows } = await admin.query(text);
      if (rows.length > 0) return rows;
    }
  }

  const waitingBut = (pid: number) =>
    `select pid from pg_stat_activity where usename = 'shop' and wait_event = 'SyncRep' and pid <> ${pid}`;

  /** Makes a call while no standby answers, and ends its connection while its commit waits. */
  async function interrupted(call: () => Promise<unknown>) {
    await standby.halt();
    let isSettled = false;
    const result = call().finally(() => {
      isSettled = true;
    });
    result.catch(() => {});
    const [{ pid }] = (await untilRows(waitingBut(0))) as [{ pid: number }];
    await admin.query("select pg_terminate_backend($1)", [pid]);
    // The call has found its trace, and waits for the standby on another connection.
    await untilRows(waitingBut(pid));
    return { result, isSettled: () => isSettled };
  }

  test.each([
    ["send", () => pawl.send(parcel, "old", "noted")],
    ["start", () => pawl.start(parcel, { key: "new" })],
    ["receive", () => pawl.receive(parcel, "old", "noted", { dedupeKey: "once" })],
  ] as const)("`%s` is acknowledged only once the standby has it", async (_verb, call) => {
    const { result, isSettled } = await interrupted(call);
    expect(isSettled(), "what was committed can be read, but not counted on").toBe(false);
    await standby.restart();
    await result;
  });

  test("without a standby in time the outcome is unknown, and the same call with a key finds it later", async () => {
    const call = () => pawl.send(parcel, "old", "sent", { idempotencyKey: "s" });
    const { result } = await interrupted(call);
    await expect(result).rejects.toMatchObject({
      code: "outcome_unknown",
      message: expect.stringContaining("No synchronous standby has confirmed the change in time."),
    });
    await standby.restart();
    expect(await call()).toMatchObject({ state: "done" });
  });
});
