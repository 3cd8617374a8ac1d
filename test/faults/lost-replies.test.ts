import { afterAll, beforeAll, expect, test } from "vitest";
import { isPawlError } from "../../src/base/errors.ts";
import { openOn } from "../../src/create.ts";
import { laneOf } from "../../src/definition/model.ts";
import { lanesOf } from "../../src/kernel/lanes.ts";
import { report } from "../../src/kernel/report.ts";
import { type Taken, take } from "../../src/kernel/take.ts";
import { maintain } from "../../src/maintenance/round.ts";
import { type Db, sql } from "../../src/store/db.ts";
import { openPostgres } from "../../src/store/postgres/open.ts";
import { PlantedFaults } from "../../src/testing/faults.ts";
import { type PostgresServer, startPostgres } from "../setup/postgres.ts";
import { onOwnPostgres } from "../setup/suites.ts";
import { createBooked, errand } from "./errand.ts";
import { Ledger, reportMark } from "./ledger.ts";
import { TcpProxy } from "./tcp-proxy.ts";

const groupCommit = /update pawl\.instances as instance/;
const startCommit = /insert into pawl\.instances/;
const transactionCommit = /^Q....commit\0/s;
const worked = { kind: "event", event: "worked", payload: undefined, patch: {}, messages: [] } as const;

onOwnPostgres("PostgreSQL behind a network that fails", () => {
  let server: PostgresServer;
  let databases = 0;

  beforeAll(async () => {
    server = await startPostgres({ durable: true });
  });
  afterAll(() => server.stop());

  /** A Pawl behind a proxy, and a straight way to the same database. */
  async function open() {
    const admin = await openPostgres({ url: server.url, connections: 1 });
    const name = `faults_${++databases}`;
    await admin.rows({ text: `create database ${name}`, name: "", values: [] });
    await admin.close();
    const straight = server.url.replace(/\/postgres$/, `/${name}`);
    const { hostname, port } = new URL(straight);
    const proxy = new TcpProxy({ host: hostname, port: Number(port) });
    const db = await openPostgres({ url: straight });
    const faults = new PlantedFaults();
    const behind = await openPostgres({ url: await proxy.listen(straight) });
    const { pawl, kernel } = await openOn(behind, { lifecycles: [errand] }, { faults });
    await createBooked(db);
    const lanes = await lanesOf(kernel);
    return {
      pawl,
      kernel,
      proxy,
      db,
      faults,
      lanes,
      ledger: new Ledger(),
      url: straight,
      async claim(state = "working"): Promise<Taken> {
        const lane = state === "after" ? "errand@1:after" : laneOf(errand, state);
        const taken = await take(kernel, { lanes: [lane], limit: 1, share: 1, worker: "w", leaseMs: 30_000 });
        return taken[0]!;
      },
      async [Symbol.asyncDispose]() {
        await pawl.close();
        await proxy.close();
        await db.close();
      },
    };
  }

  test("a send is answered with its move", async () => {
    await using t = await open();
    await t.pawl.start(errand, { key: "e" });
    t.proxy.loseReplies(groupCommit);
    expect(await t.pawl.send(errand, "e", "turned", { actor: "a" })).toMatchObject({ state: "away", version: 2 });
    expect(t.proxy.cuts.replies).toBe(1);
    t.ledger.begin("a");
    t.ledger.answer("a", "done");
    expect(await t.ledger.contradictions(t.db)).toEqual([]);
  });
  test("hooked", async () => {
    await using t = await open();
    await t.pawl.start(errand, { key: "e" });
    t.proxy.loseReplies(transactionCommit);
    expect(await t.pawl.send(errand, "e", "booked", { actor: "a" })).toMatchObject({ state: "ready", version: 2 });
    expect(t.proxy.cuts.replies).toBe(1);
    t.ledger.begin("a");
    t.ledger.answer("a", "done");
    expect(await t.ledger.contradictions(t.db)).toEqual([]);
  });
  test("start", async () => {
    await using t = await open();
    t.proxy.loseReplies(startCommit);
    expect(await t.pawl.start(errand, { key: "e", actor: "a" })).toMatchObject({
      state: "ready",
      version: 1,
      created: true,
    });
    expect(t.proxy.cuts.replies).toBe(1);
    t.ledger.begin("a");
    t.ledger.answer("a", "done");
    expect(await t.ledger.contradictions(t.db)).toEqual([]);
  });
  test("delayed", async () => {
    await using t = await open();
    await t.pawl.start(errand, { key: "e" });
    t.faults.plant(
      "commit.before",
      async () => {
        await maintain(t.kernel, t.lanes);
      },
      2,
    );
    t.proxy.loseReplies(groupCommit);
    await t.pawl.send(errand, "e", "noted", { actor: "a", after: 1 });
    expect(t.proxy.cuts.replies).toBe(1);
    t.ledger.begin("a");
    t.ledger.answer("a", "done");
    await maintain(t.kernel, t.lanes);
    expect(await t.ledger.contradictions(t.db)).toEqual([]);
  });
  test("reports", async () => {
    await using t = await open();
    await t.pawl.start(errand, { key: "e" });
    await t.pawl.send(errand, "e", "sent_to_work");
    const failing = await t.claim();
    t.proxy.loseReplies(/put_back as/);
    expect(await report(t.kernel, [{ taken: failing, outcome: { kind: "failed", error: new Error("x") } }])).toEqual([
      "written",
    ]);
    await maintain(t.kernel, t.lanes);
    const one = await t.claim();
    t.proxy.loseReplies(groupCommit);
    expect(await report(t.kernel, [{ taken: one, outcome: worked }])).toEqual(["written"]);
    await t.pawl.send(errand, "e", "ended");
    const effect = await t.claim("after");
    t.proxy.loseReplies(/delete from pawl\.tasks as task using held/);
    expect(await report(t.kernel, [{ taken: effect, outcome: { kind: "done" } }])).toEqual(["written"]);
    expect(t.proxy.cuts.replies).toBe(3);
  });
});
