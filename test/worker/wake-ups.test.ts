import { job, lifecycle } from "pawl";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sendNotice } from "../../src/store/port/notices.ts";
import { Hosts } from "../../src/store/postgres/hosts.ts";
import { listenerTiming, PostgresListener, unheard } from "../../src/store/postgres/listen.ts";
import { openPostgres } from "../../src/store/postgres/open.ts";
import { targetOf } from "../../src/store/postgres/target.ts";
import { type TestPawl, testPawl } from "../../src/testing/test-pawl.ts";
import { TcpProxy } from "../faults/harm/tcp-proxy.ts";
import { onPostgres, throughPgbouncer } from "../setup/suites.ts";
import { CapturedLog } from "../support/captured-log.ts";
import { openSecondProcess } from "../support/second-process.ts";

const letter = lifecycle("letter", {
  initial: "writing",
  states: { writing: { run: () => {}, on: { written: "done" } }, done: { final: "success" } },
});
const sweep = job("sweep", { run: () => {} });
const lifecycles = [letter, sweep];
const server = process.env.PAWL_TEST_POSTGRES_URL;
/** A worker that looks once an hour: whatever it does sooner, it was told of. */
const rarely = { pollInterval: "1h", maintenanceInterval: "1h" } as const;

onPostgres("wake-ups between processes", () => {
  let t: TestPawl;
  let other: TestPawl;
  beforeAll(async () => {
    t = await testPawl({ server, lifecycles, notify: true });
    other = await openSecondProcess(t, lifecycles, [], { notify: true });
  });
  afterAll(async () => {
    await other.close();
    await t.close();
  });

  test("work that one process starts is begun by another at once, also from inside a transaction", async () => {
    const worker = other.pawl.work(rarely);
    await t.pawl.start(letter, { key: "a" });
    await t.pawl.wait(letter, "a");
    await t.pawl.transaction((tx) => t.pawl.start(letter, { key: "b", tx }));
    await t.pawl.wait(letter, "b");
    await worker.stop();
  });

  test("a pause and its end reach the workers of other processes at once", async () => {
    await t.pawl.lanes.pause(letter, { reason: "x" });
    const worker = other.pawl.work(rarely);
    await t.pawl.start(letter, { key: "c" });
    await t.pawl.enqueue(sweep, {}, { key: "s" });
    await t.pawl.wait(sweep, "s");
    expect(await t.pawl.get(letter, "c")).toMatchObject({ state: "writing" });
    await t.pawl.lanes.resume(letter);
    await t.pawl.wait(letter, "c");
    await worker.stop();
  });

  test("who waits for an instance is told of moves that another process makes", async () => {
    const { id } = await t.pawl.start(letter, {});
    t.kernel.notifier!.listen();
    const told = new Promise<void>((resolve) => t.kernel.signals.wait(id, resolve));
    await other.pawl.send(letter, { id }, "fail");
    await told;
  });
});

describe.skipIf(server === undefined)("a listener", () => {
  let proxy: TcpProxy;
  let url: string;
  beforeAll(async () => {
    const { hostname, port } = new URL(server!);
    proxy = new TcpProxy({ host: hostname, port: Number(port) });
    url = await proxy.listen(server!);
  });
  afterAll(() => proxy.close());

  test("whose other end is gone notices it, and listens again within fifteen seconds", async () => {
    expect(2 * listenerTiming.everyMs + listenerTiming.testMs).toBeLessThan(15_000);
    const direct = await openPostgres({ url: server!, connections: 1 });
    const heard: string[] = [];
    const warnings: string[] = [];
    const wakers = new Set<() => void>();
    const until = (isSo: () => boolean) =>
      new Promise<void>((resolve) => {
        const look = () => isSo() && resolve();
        wakers.add(look);
        look();
      });
    let listens = 0;
    const tell = () => {
      for (const wake of wakers) wake();
    };
    const listener = new PostgresListener(
      new Hosts(targetOf(url)),
      (text) => sendNotice(direct, text),
      {
        onNotice(text) {
          heard.push(text);
          tell();
        },
        onListening() {
          listens += 1;
          tell();
        },
        onWarning: (text) => warnings.push(text),
      },
      { testMs: 500, everyMs: 200 },
    );
    await until(() => listens === 1);
    await sendNotice(direct, "one");
    await until(() => heard.includes("one"));
    proxy.silenceListeners();
    await until(() => listens === 2);
    await sendNotice(direct, "two");
    await until(() => heard.includes("two"));
    proxy.cutAll();
    await until(() => listens === 3);
    await listener.stop();
    await direct.close();
    expect(warnings, "said once each time, until it is well again").toEqual([
      expect.stringContaining("a test notification did not arrive"),
      expect.stringContaining("cut off"),
    ]);
  });

  test("that hears nothing keeps nobody waiting longer than the poll interval", async () => {
    await using t = await testPawl({ server, lifecycles });
    const { hostname, port } = new URL(t.url!);
    const between = new TcpProxy({ host: hostname, port: Number(port) });
    await using other = await openSecondProcess(t, lifecycles, [], { notify: true, url: await between.listen(t.url!) });
    const listening = between.whenAnswered(/listen pawl/);
    const worker = other.pawl.work({ pollInterval: 100 });
    await listening;
    between.silenceListeners();
    await t.pawl.start(letter, { key: "d" });
    await t.pawl.wait(letter, "d", { timeout: "5s" });
    await worker.stop();
    await between.close();
  });
});

throughPgbouncer("through a pooler in transaction mode", () => {
  test("notifications do not come through: that is said once, and work is found by looking", async () => {
    const log = new CapturedLog();
    const pooler = process.env.PAWL_TEST_PGBOUNCER_URL;
    await using t = await testPawl({ server, pooler, lifecycles, notify: true, logger: log });
    const worker = t.pawl.work({ pollInterval: 50 });
    while (log.said("warn").length === 0) await new Promise(setImmediate);
    await using other = await openSecondProcess(t, lifecycles);
    await other.pawl.start(letter, { key: "e" });
    await other.pawl.wait(letter, "e");
    await worker.stop();
    expect(log.said("warn")).toEqual([unheard]);
  });

  test("a listener that is not told that there is a pooler finds it out", async () => {
    const direct = await openPostgres({ url: server!, connections: 1 });
    let listener: PostgresListener | undefined;
    const warned = new Promise<string>((resolve) => {
      listener = new PostgresListener(
        new Hosts(targetOf(process.env.PAWL_TEST_PGBOUNCER_URL!)),
        (text) => sendNotice(direct, text),
        { onNotice() {}, onListening: () => resolve("It hears."), onWarning: resolve },
        { testMs: 500, everyMs: 200 },
      );
    });
    expect(await warned).toBe(unheard);
    await listener?.stop();
    await direct.close();
  });
});
