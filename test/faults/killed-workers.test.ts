import { createPawl, type Pawl } from "pawl";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import type { Db } from "../../src/store/port/db.ts";
import { openPostgres } from "../../src/store/postgres/open.ts";
import { type PostgresServer, startPostgres } from "../setup/postgres.ts";
import { onOwnPostgres } from "../setup/suites.ts";
import { Accepted } from "./checks/accepted.ts";
import { check, type Finding } from "./checks/checker.ts";
import { Limits } from "./checks/limits.ts";
import { Liveness } from "./checks/liveness.ts";
import { Herd } from "./harm/herd.ts";
import { pointsMet } from "./harm/points.ts";
import { Random, repeat, seed } from "./harm/random.ts";
import { TcpProxy } from "./harm/tcp-proxy.ts";
import type { WorkerProcess } from "./harm/worker-process.ts";
import { caller, holder, lifecycles, poison, relay, thinker } from "./worlds/relay.ts";

const instances = Number(process.env.PAWL_TEST_INSTANCES ?? 800);
const kills = Number(process.env.PAWL_TEST_WORKER_KILLS ?? 15);
const stops = Number(process.env.PAWL_TEST_WORKER_STOPS ?? 4);
const shaken = Number(process.env.PAWL_TEST_SHAKEN_INSTANCES ?? 300);
const callers = Number(process.env.PAWL_TEST_CALLERS ?? 40);
const callerKills = Number(process.env.PAWL_TEST_CALLER_KILLS ?? 3);
const stepsEach = 3;

/** Short leases, so that a test sees many of them lapse; the longer ones for steps that outlast several. */
const quick = {
  PAWL_VICTIM_OPTIONS: JSON.stringify({ leaseDuration: "3s", pollInterval: "100ms", maintenanceInterval: "200ms" }),
};
const quicker = {
  PAWL_VICTIM_OPTIONS: JSON.stringify({ leaseDuration: "1s", pollInterval: "50ms", maintenanceInterval: "100ms" }),
};
const leaseMs = 2_000;
/** Long enough for a process that starts on a busy machine, while every step outlasts it. */
const callerLeaseMs = 5_000;
const calling = {
  PAWL_VICTIM_OPTIONS: JSON.stringify({
    leaseDuration: callerLeaseMs,
    pollInterval: "100ms",
    maintenanceInterval: "200ms",
  }),
};
const lasting = {
  PAWL_VICTIM_OPTIONS: JSON.stringify({ leaseDuration: leaseMs, pollInterval: "100ms", maintenanceInterval: "200ms" }),
};

onOwnPostgres("worker processes on PostgreSQL", () => {
  let server: PostgresServer;
  let db: Db;
  let pawl: Pawl;
  let herd: Herd;
  let accepted: Accepted;

  beforeAll(async () => {
    server = await startPostgres({ durable: true });
    db = await openPostgres({ url: server.url, connections: 2 });
    pawl = await createPawl({ database: server.url, lifecycles, logger: false });
  });
  beforeEach(async () => {
    herd = new Herd(server.url);
    accepted = new Accepted();
    // Each test is judged by its own work.
    await db.script(`
      set session_replication_role = replica;
      truncate pawl.instances, pawl.journal, pawl.attempts, pawl.tasks, pawl.counts, pawl.dead_letters, pawl.alerts, pawl.timers, pawl.memos cascade;
      set session_replication_role = origin;`);
  });
  afterEach(() => herd.end());
  afterAll(async () => {
    await pawl.close();
    await db.close();
    await server.stop();
  });

  async function start(count: number): Promise<string[]> {
    const made = await pawl.startMany(
      relay,
      Array.from({ length: count }, () => ({})),
    );
    const ids = made.map(({ id }) => id);
    accepted.ids.push(...ids);
    return ids;
  }

  async function whenDone(ids: readonly string[]): Promise<void> {
    for (const id of ids) await pawl.wait(relay, { id }, { until: "done", timeout: "90s" });
  }

  /** After the last fault: every worker that lives does its part of fresh work, and I1 to I10 hold. */
  async function violations(): Promise<Finding[]> {
    await herd.untilAllWork(5, async () => whenDone(await start(5 * herd.alive.size)));
    await herd.countConnections(db);
    return check(db, accepted, herd.handlers, herd.bounds, new Limits(lifecycles, 0), new Liveness());
  }

  /** Something happens whenever a part of the steps was done, until a tenth is left. */
  async function amid(steps: number, faults: readonly (() => Promise<void>)[]): Promise<void> {
    const every = Math.floor((steps * 0.9) / faults.length);
    for (const fault of faults) {
      const from = herd.ends;
      await herd.until(() => herd.ends - from >= every || herd.ends >= steps);
      await fault();
    }
  }

  /**
   * Its leases lapse, and another worker runs its tasks: only then it wakes up, with leases that it takes to be valid.
   * Its tasks are known when all of its output before the stop was read.
   */
  async function untilTakenOver(victim: WorkerProcess): Promise<void> {
    await herd.until(() => victim.running.size === 0 || herd.isTakenOver([...victim.running], victim));
  }

  function someoneAtWork(random: Random): WorkerProcess {
    const busy = [...herd.alive].filter((worker) => worker.running.size > 0);
    return random.pick(busy.length > 0 ? busy : [...herd.alive]);
  }

  test("R36 R96 through kills and stops past the lease, every instance ends, on one path, and no step is lost", async () => {
    const random = new Random(seed);
    const ids = await start(instances);
    for (let count = 0; count < 4; count++) herd.begin(quick);
    const kill = async (): Promise<void> => {
      await herd.countConnections(db);
      await herd.kill(someoneAtWork(random));
      herd.begin(quick);
    };
    const stop = async (): Promise<void> => {
      const victim = someoneAtWork(random);
      victim.stop();
      await untilTakenOver(victim);
      victim.goOn();
    };
    const every = Math.max(1, Math.floor((kills + stops) / Math.max(1, stops)));
    const faults = Array.from({ length: kills + stops }, (_, at) => (at % every === every - 1 ? stop : kill));
    await amid(instances * stepsEach, faults);
    await whenDone(ids);
    expect(await pawl.inspect.counts(relay), repeat).toEqual({ done: instances });
    const { begun, again } = herd.handlers.steps;
    expect(begun, repeat).toBe(instances * stepsEach);
    expect(again, `${repeat}: some step must have been cut off`).toBeGreaterThan(0);
    expect(await violations(), repeat).toEqual([]);
    expect(herd.bounds.looks).toBeGreaterThan(instances * stepsEach);
  }, 240_000);

  test(`${callers} steps that call \`once\` all the time, through ${callerKills} kills: none is aborted, nothing is done twice`, async () => {
    const random = new Random(seed);
    const made = await pawl.startMany(
      caller,
      Array.from({ length: callers }, () => ({ data: { ms: 1.5 * callerLeaseMs } })),
    );
    for (let count = 0; count < 4; count++) herd.begin(calling);
    const kill = async (): Promise<void> => {
      await herd.kill(someoneAtWork(random));
      herd.begin(calling);
    };
    await amid(
      callers,
      Array.from({ length: callerKills }, () => kill),
    );
    for (const { id } of made) await pawl.wait(caller, { id }, { until: "done", timeout: "90s" });
    const { made: calls, again } = herd.calls.counts;
    expect(await check(db, herd.calls, herd.handlers, herd.bounds), repeat).toEqual([]);
    expect(calls, "Each step must call many times").toBeGreaterThan(10 * callers);
    expect(again, "At most one call of each step that was killed").toBeLessThanOrEqual(8 * callerKills);
    if (process.env.PAWL_TEST_CALLERS !== undefined)
      console.log({ steps: herd.handlers.steps, calls: herd.calls.counts });
  }, 900_000);

  test("through cut, silent and deceitful connections, lost backends and restarts, I1 to I10 hold", async () => {
    const random = new Random(seed);
    const ids = await start(shaken);
    const { hostname: host, port } = new URL(server.url);
    const proxies = new Map<WorkerProcess, TcpProxy>();
    for (let count = 0; count < 3; count++) {
      const proxy = new TcpProxy({ host, port: Number(port) });
      proxies.set(herd.begin(quick, await proxy.listen(server.url)), proxy);
    }
    const proxyOf = (worker: WorkerProcess) => proxies.get(worker)!;
    const cut = async () => proxyOf(someoneAtWork(random)).cutAll();
    const loseReply = async () => proxyOf(someoneAtWork(random)).loseReplies(/update pawl\.(?:instances|tasks) as/, 2);
    const silence = async (): Promise<void> => {
      const victim = someoneAtWork(random);
      proxyOf(victim).blackhole = true;
      await untilTakenOver(victim);
      proxyOf(victim).blackhole = false;
      proxyOf(victim).cutAll();
    };
    const killBackend = async (): Promise<void> => {
      const [backend] = await db.rows<{ pid: number }>({
        text: "select pid from pg_stat_activity where application_name like 'worker%' and state <> 'idle' limit 1",
        values: [],
        name: "",
      });
      if (backend !== undefined) process.kill(backend.pid, "SIGKILL");
    };
    const restart = async (): Promise<void> => {
      await server.crash();
      await server.restart();
    };
    try {
      await amid(shaken * stepsEach, [
        loseReply,
        cut,
        silence,
        loseReply,
        killBackend,
        cut,
        loseReply,
        restart,
        loseReply,
      ]);
      await whenDone(ids);
      expect(await violations(), repeat).toEqual([]);
      expect([...proxies.values()].reduce((sum, proxy) => sum + proxy.cuts.replies, 0)).toBeGreaterThan(0);
    } finally {
      await herd.end();
      for (const proxy of proxies.values()) await proxy.close();
    }
  }, 240_000);

  test("a worker that dies at any point of a step loses nothing and does nothing twice", async () => {
    const ids = await start(200);
    await Promise.all(
      pointsMet("a worker").map((point) => herd.begin({ ...quicker, PAWL_FAULT: `${point}:crash:7` }).ended),
    );
    herd.begin(quicker);
    await whenDone(ids);
    expect(await violations()).toEqual([]);
  }, 120_000);

  test("a step that kills its worker ends as one dead letter, not as a loop, and others are not harmed", async () => {
    const { id } = await pawl.start(poison, {});
    const [bystander] = await start(1);
    for (let deaths = 0; deaths < 3; deaths++) expect(await herd.begin(quicker).ended).toBe("SIGKILL");
    herd.begin(quicker); // The last death is detected by a living process.
    expect(await pawl.wait(poison, { id }, { until: "failed", timeout: "60s" })).toMatchObject({ state: "failed" });
    expect(await pawl.deadLetters.list({ lifecycle: poison })).toMatchObject([
      { reason: "lease_exhausted", attempts: 3 },
    ]);
    await whenDone([bystander!]);
    expect(await violations()).toEqual([]);
  }, 120_000);

  test("steps that block their process, or hold every connection of its pool, for three leases keep their tasks", async () => {
    const blocked = herd.begin({ ...lasting, PAWL_VICTIM_OPTIONS: options("thinker") });
    const emptied = herd.begin({ ...lasting, PAWL_VICTIM_OPTIONS: options("holder"), PAWL_VICTIM_CONNECTIONS: "2" });
    await Promise.all([blocked.ready, emptied.ready]);
    const data = { ms: 3 * leaseMs + 200 };
    const thought = await pawl.start(thinker, { data });
    const held = [await pawl.start(holder, { data }), await pawl.start(holder, { data })];
    await herd.until(() => emptied.holds === 2);
    herd.begin(lasting); // A worker that would claim them if it could.
    await once(thinker, thought.id);
    for (const { id } of held) await once(holder, id);
    expect(await violations()).toEqual([]);

    function options(lane: string): string {
      return JSON.stringify({ ...(JSON.parse(lasting.PAWL_VICTIM_OPTIONS) as object), lanes: [lane, "relay"] });
    }
    /** It ended, and no other worker got it. */
    async function once(lifecycle: typeof thinker | typeof holder, id: string): Promise<void> {
      expect(await pawl.wait(lifecycle, { id }, { timeout: "60s" })).toMatchObject({ data: { runs: 1 } });
      const history = await pawl.history(lifecycle, { id });
      expect(history.filter((one) => one.kind === "attempt").map((one) => one.what)).toEqual(["claimed"]);
    }
  }, 120_000);
});
