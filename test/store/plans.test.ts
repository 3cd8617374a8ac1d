import { job, lifecycle, schedule } from "pawl";
import { memoryBroker } from "pawl/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { claimDueAlerts } from "../../src/alerts/deliver-alerts.ts";
import { standingOf } from "../../src/api/internals.ts";
import { openOn } from "../../src/api/open/create.ts";
import type { Pawl } from "../../src/api/pawl.ts";
import { reportStuck } from "../../src/inspect/stuck/report-stuck.ts";
import type { Kernel } from "../../src/kernel/kernel.ts";
import { gatesOf } from "../../src/kernel/lanes/gates.ts";
import { prune } from "../../src/kernel/maintenance/prune.ts";
import { publish } from "../../src/kernel/move/publish.ts";
import { claimFromGates, claimFromLanes, renewTaskLeases } from "../../src/kernel/tasks/claim.ts";
import { leaseLossReasons } from "../../src/kernel/tasks/lease-loss.ts";
import { report } from "../../src/kernel/tasks/report.ts";
import { deleteWorker, saveHeartbeat } from "../../src/kernel/tasks/workers.ts";
import { maintain } from "../../src/maintenance/round.ts";
import { decideDeadMessages } from "../../src/outbox/dead-messages.ts";
import { Delivery } from "../../src/outbox/delivery.ts";
import { relayRound } from "../../src/outbox/round.ts";
import { relaySettings } from "../../src/outbox/settings.ts";
import { promoteMessages, pruneMessages } from "../../src/outbox/store/outbox.ts";
import { newPostgresStore, type TestStore } from "../../src/testing/stores.ts";
import { Claimer } from "../../src/worker/claimer.ts";
import { Lanes } from "../../src/worker/lanes.ts";
import { run } from "../../src/worker/steps/run.ts";
import { everyStatementOfFailures, failing } from "../support/failure-statements.ts";
import { asks, everyStatementOfBreakers } from "../support/statements/breaker-statements.ts";
import { everyStatementOfCallbacks, graded } from "../support/statements/callback-statements.ts";
import { type ExplainedDb, openExplained } from "../support/statements/explained-db.ts";
import { everyStatementOfKin, kindred } from "../support/statements/family-statements.ts";
import { everyStatementOfLetters } from "../support/statements/letter-statements.ts";

const chain = lifecycle("chain", {
  data: z.object({ n: z.number().default(0) }),
  initial: "one",
  retention: "1ms",
  states: {
    one: { run: (step) => step.publish("stepped", { n: step.data.n }), on: { next: { to: "two", after: () => {} } } },
    two: { run: (step) => step.retryLater({ after: "1h" }), on: { next: "wait" } },
    wait: { timeout: { after: "1h", send: "expire" }, on: { answer: "done", expire: "done", note: {} } },
    done: { final: "success" },
  },
});
const model = job("model", { run: () => {}, limit: 20, rate: "5000/m" });
const keyed = job("plans_keyed", {
  payload: z.object({ key: z.string() }),
  run: () => {},
  limit: { total: 500, per: ({ data }) => data.key, each: 4 },
  rate: { per: ({ data }) => data.key, each: "5000/m" },
});
const sharing = job("plans_sharing", {
  payload: z.object({ key: z.string() }),
  run: () => {},
  share: ({ data }) => data.key,
});
const hourly = schedule("hourly", { interval: "1h", start: model });
const prompt = lifecycle("prompt", {
  deadline: { within: "1h" },
  initial: "one",
  states: { one: { run: () => {}, on: { next: "done" } }, done: { final: "success" } },
});
const lanes = ["chain@1/one", "chain@1/two", "chain@1:after", "model@1/pending"];
const holder = { worker: "w", leaseMs: 30_000 };
const claim = { lanes: lanes.slice(0, 3), limit: 50, share: 50, ...holder };

/** Sends some messages, fails with others, lets go of those whose pause is over, and removes old ones. */
async function everyRelayStatement(kernel: Kernel): Promise<void> {
  const broker = memoryBroker();
  broker.on("fails", () => {
    throw new Error("no");
  });
  const settings = relaySettings({ brokers: [broker], retry: { maxAttempts: 2, backoff: () => 0 } });
  for (const id of ["a", "b", "b"]) {
    await publish(kernel, { type: "fails", payload: {}, aggregate: { type: "thing", id } }, undefined);
  }
  for (let turn = 0; turn < 3; turn++) {
    await relayRound(kernel, settings, new Delivery(kernel, settings), "r");
    await promoteMessages(kernel.db, 500);
  }
  await decideDeadMessages(kernel, { ids: null, type: "fails" }, "requeue");
  await pruneMessages(kernel.db, 365 * 86_400_000, 100);
}

/** Starts whose first steps are leased with them, with timers and without. */
async function leasedStarts(pawl: Pawl, kernel: Kernel): Promise<void> {
  const resting = { reserve: () => ({ worker: "w", leaseMs: 30_000 }), settle: () => {} };
  kernel.localWorkers.add(resting);
  await Promise.all([pawl.start(chain, { data: {} }), pawl.enqueue(model), pawl.start(chain, { data: {} })]);
  await pawl.start(prompt, {});
  kernel.localWorkers.remove(resting);
}

/** Every hot statement, really run, in batches and one by one. */
async function everyHotStatement(db: ExplainedDb): Promise<void> {
  const { pawl, kernel } = await openOn(db, {
    lifecycles: [chain, model, prompt, keyed, sharing, asks, graded, ...kindred, ...failing],
    schedules: [hourly],
    logger: false,
  });
  db.plans();
  const keys = Array.from({ length: 60 }, () => `k${kernel.newId()}`);
  await pawl.startMany(
    chain,
    keys.map((key) => ({ key, data: {} })),
  );
  await pawl.start(chain, { key: keys[0]!, data: {} });
  await leasedStarts(pawl, kernel);
  for (let turn = 0; turn < 3; turn++) {
    const tasks = await claimFromLanes(kernel, claim);
    await renewTaskLeases(
      kernel,
      tasks.map((one) => one.lease),
      30_000,
    );
    const abort = new AbortController();
    const outcomes = await Promise.all(tasks.map((one) => run(kernel, one, { abort, log: () => {} })));
    await report(
      kernel,
      tasks.map((one, index) => ({ task: one, outcome: outcomes[index]! })),
    );
    await maintain(kernel, lanes);
  }
  await everyStatementOfKin(pawl, kernel);
  await everyClaim(pawl, kernel);
  await everyStatementOfBreakers(pawl, kernel);
  await everyStatementOfLetters(pawl, kernel);
  await everyStatementOfCallbacks(pawl, kernel);
  await everyStatementOfFailures(pawl, kernel);
  await pawl.lanes.list();
  await everyRelayStatement(kernel);
  const [first] = await claimFromLanes(kernel, { ...claim, limit: 1 });
  if (first !== undefined) await report(kernel, [{ task: first, outcome: { kind: "failed", error: new Error("x") } }]);
  await pawl.sendMany(
    chain,
    keys.slice(0, 30).map((key) => ({ to: key, event: "discard" as const })),
  );
  await pawl.send(chain, keys[40]!, "discard", { idempotencyKey: "a" });
  for (const event of ["fail", "recover"] as const) {
    await pawl.sendMany(
      chain,
      keys.slice(45, 55).map((key) => ({ to: key, event })),
    );
  }
  await claimDueAlerts(kernel, ["log"]);
  await pawl.list(chain, { state: ["wait", "failed", "discarded"] });
  await everyList(pawl);
  await pawl.get(chain, keys[41]!);
  await pawl.history(chain, keys[41]!);
  for (const key of keys.slice(38, 48)) await pawl.explain(chain, key);
  await pawl.explain(model, (await pawl.list(model, { limit: 1 }))[0]!);
  await pawl.explain(keyed, (await pawl.list(keyed, { limit: 1 }))[0]!);
  await pawl.inspect.metrics();
  await pawl.inspect.overview();
  await pawl.inspect.stuck();
  await reportStuck(kernel);
  await pawl.inspect.oldest(chain, "wait");
  await pawl.inspect.oldest(chain, "two");
  await pawl.inspect.search(keys[41]!);
  await standingOf(pawl, [(await pawl.get(chain, keys[41]!))!.id]);
  await pawl.schedules.runNow(hourly);
  await pruneTwice(db, kernel);
  await everyLoss(pawl, kernel);
}

/** Every filter alone and with all others, its second page, and its count. */
async function everyList(pawl: Pawl): Promise<void> {
  const others = { olderThan: "1h", idleFor: "1h" } as const;
  for (const walk of [
    {},
    { state: "wait" as const },
    { state: "one" as const },
    { key: "k0" },
    { key: "k0", state: "wait" as const },
    { failure: "attempts_used_up" },
  ]) {
    const [first] = await pawl.list(chain, { ...walk, limit: 1 });
    if (first !== undefined) await pawl.list(chain, { ...walk, limit: 10, after: first });
    await pawl.inspect.count(chain, walk);
    await pawl.list(chain, { failure: "deadline", ...others, ...walk, limit: 10 });
    await pawl.inspect.count(chain, { failure: "deadline", ...others, ...walk });
  }
  const parent = { id: "00000000-0000-7000-8000-000000000000" };
  await pawl.list(chain, { parent, ...others, key: "k0", limit: 10 });
  await pawl.inspect.count(chain, { parent, state: "wait" });
}

/** On large tables two full batches, on small ones what was discarded above. */
async function pruneTwice(db: ExplainedDb, kernel: Kernel): Promise<void> {
  await db.script("truncate pawl.sweeps");
  await prune(kernel);
  await prune(kernel);
}

/** As a worker claims: from open lanes, from where it claimed last, and behind gates. */
async function everyClaim(pawl: Pawl, kernel: Kernel): Promise<void> {
  await pawl.enqueueMany(
    model,
    Array.from({ length: 30 }, () => ({ payload: {} })),
  );
  for (const one of [keyed, sharing])
    await pawl.enqueueMany(
      one,
      Array.from({ length: 30 }, (_, index) => ({ payload: { key: `k${index % 3}` } })),
    );
  await pawl.lanes.putLimit(keyed, { limit: { each: 3 } });
  const workersLanes = new Lanes(kernel);
  await workersLanes.read();
  const claims = new Claimer(kernel, workersLanes, holder);
  for (let turn = 0; turn < 6; turn++) {
    const tasks = await claims.claim(5);
    await report(
      kernel,
      tasks.map((one) => ({ task: one, outcome: { kind: "released" } })),
    );
  }
}

/** As a worker says that it lives, and learns why its leases were lost. */
async function everyLoss(pawl: Pawl, kernel: Kernel): Promise<void> {
  const row = { id: "w", host: "h", pid: 1, pawl: "1", loop: "Idle", stopping: false, concurrency: 1 };
  await saveHeartbeat(kernel, { ...row, slots: {}, stuck: 0, tasks: {}, lanes });
  const tasks = await claimFromLanes(kernel, claim);
  await pawl.sendMany(
    chain,
    tasks.filter((one) => one.kind === "step").map((one) => ({ to: { id: one.row.id }, event: "discard" as const })),
  );
  await leaseLossReasons(kernel, tasks);
  await deleteWorker(kernel, "w");
}

/** Small and bounded by what is declared and by who works, not by how much work there is. */
const mayBeScanned = [
  "migrations",
  "lifecycles",
  "edges",
  "counts",
  "shards",
  "pruned",
  "workers",
  "breakers",
  "stuck_causes",
];

function sequentialScans(plans: readonly string[]): string[] {
  return plans.flatMap((plan) => {
    const scans = [...plan.matchAll(/Seq Scan on (\w+)/g)].map((match) => match[1]!);
    const stray = scans.filter((table) => !mayBeScanned.includes(table));
    const place = plan.search(/Seq Scan on/);
    return stray.length === 0 ? [] : [`${stray.join(", ")}: …${plan.slice(place - 400, place + 300)}…`];
  });
}

const server = process.env.PAWL_TEST_POSTGRES_URL;

describe.skipIf(server === undefined)(
  "no hot statement reads a table from end to end, nor do the triggers behind it",
  () => {
    let store: TestStore;
    beforeAll(async () => {
      store = await newPostgresStore(server!);
      // Statistics are what this test says they are.
      for (const table of [
        "instances",
        "journal",
        "tasks",
        "timers",
        "attempts",
        "dead_letters",
        "begun",
        "pauses",
        "messages",
        "progress",
        "checks",
        "callbacks",
        "callback_tokens",
        "release_failures",
      ]) {
        await store.db.script(`alter table pawl.${table} set (autovacuum_enabled = off)`);
      }
    });
    afterAll(() => store.dispose());

    async function holds(): Promise<void> {
      for (const planning of ["force_custom_plan", "force_generic_plan"] as const) {
        const db = await openExplained(store.url!, planning);
        try {
          await everyHotStatement(db);
          const plans = db.plans();
          expect(sequentialScans(plans)).toEqual([]);
          expect(plans.join("\n"), "a hint begins the look in the index").toMatch(
            /Index Cond: .*ROW\(\w*\.?priority, \w*\.?id\) >/,
          );
          expect(plans.join("\n"), "keys that wait are found one after the other").toMatch(
            /Index Only Scan using tasks_turns|Index Scan using tasks_turns[\s\S]{0,200}lane_key > /,
          );
          for (const index of ["attempts_refused", "attempts_faulty", "release_failures_refused"]) {
            expect(plans.join("\n"), "what is stuck is found by an index of its own").toContain(index);
          }
          for (const index of ["instances_key", "instances_key_history", "instances_shelf"]) {
            expect(plans.join("\n"), "each filter of a list begins in its index").toContain(`using ${index} on`);
          }
          expect(plans.join("\n"), "a list by key reads only keys that begin so").toMatch(
            /using instances_key on.*\n\s*Index Cond: .*key >= .*key < /,
          );
          expect(plans.join("\n"), "callbacks that are not due are not read").toMatch(
            /callbacks_due.*\n\s*Index Cond: .*COALESCE\(retry_at, received_at\) <=/,
          );
        } finally {
          await db.close();
        }
      }
    }

    test("a claim never takes more than its limit, whichever way the planner joins", async () => {
      const db = await openExplained(store.url!, "force_custom_plan");
      try {
        const { pawl, kernel } = await openOn(db, { lifecycles: [chain, model] });
        const ways = ["hashjoin", "mergejoin", "nestloop", "material", "hashagg", "indexscan", "bitmapscan", "seqscan"];
        const some = (count: number) => Array.from({ length: count }, () => ({ data: {} }));
        for (const off of [
          [],
          ["hashjoin", "mergejoin"],
          ["nestloop", "mergejoin"],
          ["hashjoin", "nestloop"],
          ["material"],
          ways.slice(5),
        ]) {
          for (const way of ways) await db.script(`set enable_${way} = ${off.includes(way) ? "off" : "on"}`);
          await pawl.startMany(chain, some(10));
          await pawl.enqueueMany(
            model,
            Array.from({ length: 10 }, () => ({ payload: {} })),
          );
          expect(await claimFromLanes(kernel, { ...claim, limit: 1, share: 1 }), off.join()).toHaveLength(1);
          expect(await claimFromLanes(kernel, { ...claim, limit: 2, share: 1 }), off.join()).toHaveLength(1);
          const gates = gatesOf(kernel, ["model@1/pending"]);
          expect(await claimFromGates(kernel, { gates, limit: 1, ...holder }), off.join()).toHaveLength(1);
        }
      } finally {
        await db.close();
      }
    });
    test("on empty tables", holds);
    test("on small tables without statistics", holds);
    test("on small tables with fresh statistics", async () => {
      await store.db.script("analyze");
      await holds();
    });
    test("on many rows whose statistics say that there are few", async () => {
      await fill(store);
      await holds();
    }, 300_000);
    test("on many rows with fresh statistics", async () => {
      await store.db.script("analyze");
      await holds();
    }, 120_000);
  },
);

/** How many rows are many: with `PAWL_TEST_ROWS=1000000` they are a million. */
const rows = Number(process.env.PAWL_TEST_ROWS ?? 200_000);

/** An id that comes after those before it: rows in the order of their indexes are written much faster. */
const nextId = "lpad(to_hex(n), 32, '0')::uuid";

/** Ended instances, tasks that wait for later or in other lanes, children of others, and what belongs to them. */
const many = [
  `insert into pawl.instances (id, lifecycle, definition, state, shelf, version, visit, data, outcome, closed_at, created_at, moved_at, next_due_at)
  select ${nextId}, 'chain', 1, case when n % 10 = 0 then 'wait' else 'done' end, case when n % 10 = 0 then 'wait' else 'done' end,
    2, 2, '{"n": 0}', case when n % 10 = 0 then null else 'success' end, case when n % 10 = 0 then null else now() end, now(), now(),
    case when n % 10 = 0 then now() + interval '1 year' end
  from generate_series(1, ${rows}) as n`,
  `insert into pawl.journal (instance_id, version, lifecycle, definition, event, from_state, to_state, at, source)
  select id, 2, lifecycle, 1, 'next', 'two', state, now(), 'call' from pawl.instances limit ${rows * 0.3} on conflict do nothing`,
  `insert into pawl.timers (instance_id, id, kind, visit, due_at, event)
  select id, id, 'timeout', 2, next_due_at, 'expire' from pawl.instances where next_due_at is not null and closed_at is null`,
  `insert into pawl.tasks (id, instance_id, kind, lane, queue, due_at, visit, since, lane_key)
  select ${nextId}, lpad(to_hex(n + ${rows}), 32, '0')::uuid, 'effect', 'other@1/x' || n % 3, 'other@1/x' || n % 3,
    case when n % 2 = 1 then now() + interval '1 year' end, 1, now(), case when n % 3 = 0 then 'k' || n % 500 end
  from generate_series(1, ${rows * 0.3}) as n`,
  `insert into pawl.tasks (id, instance_id, kind, lane, worker, leased_until, visit, since, gate, lane_key)
  select ${nextId}, lpad(to_hex(n + ${rows}), 32, '0')::uuid, 'effect', 'other@1/x' || n % 3, 'w', now() + interval '1 year', 1, now(),
    case when n % 3 = 0 then 'other@1/x0' end, case when n % 3 = 0 then 'k' || n % 500 end
  from generate_series(${rows * 0.3 + 1}, ${rows * 0.4}) as n`,
  `insert into pawl.begun (gate, at, steps)
  select 'other/x' || n % 3, now() - n * interval '1 millisecond', 1 from generate_series(1, 100000) as n`,
  `insert into pawl.breaker_counts (breaker, flip, at, process, good, failed)
  select case when n % 10 = 0 then 'plans_llm' else 'other' end, n % 100, now() - n * interval '1 second', gen_random_uuid(), 1, 0
  from generate_series(1, 50000) as n`,
  `insert into pawl.breaker_flips (breaker, flip, from_state, to_state, cause, good, failed, at)
  select 'other' || n % 20, n, 'open', 'open', 'forced', 0, 0, now() from generate_series(1, 20000) as n`,
  `insert into pawl.pauses (lifecycle, part, paused_at, reason, resumed_at)
  select 'other', '/x' || n % 3, now(), 'x', now() from generate_series(1, 10000) as n`,
  `insert into pawl.attempts (instance_id, task_id, token, what, at)
  select instance_id, instance_id, 1, 'claimed', now() from pawl.journal where version = 2 limit ${rows * 0.3} on conflict do nothing`,
  `insert into pawl.dead_letters (id, instance_id, lifecycle, kind, origin, reason, attempts, cause, created_at)
  select instance_id, instance_id, 'chain', 'instance', 'one', 'x', 1, instance_id, now()
  from pawl.journal where version = 2 limit 50000 on conflict do nothing`,
  `insert into pawl.instances (id, lifecycle, definition, state, shelf, version, visit, data, outcome, closed_at, created_at, moved_at,
    key_held, parent_lifecycle, parent_id, parent_run, child_name, child_outcome)
  select ${nextId}, 'kid', 1, 'done', 'done', 2, 2, '{}', 'success', now(), now(), now(),
    false, 'kin', md5((n / 10)::text)::uuid, 1, '=' || n, 'success'
  from generate_series(${rows + 1}, ${rows + 50_000}) as n`,
  `insert into pawl.callbacks (id, instance_id, lifecycle, run, event, dedupe, hash, source, received_at, status, looked, version, settled_at)
  select instance_id, instance_id, 'chain', 1, 'answer', 'd', 'h', 'call', now(), 'applied', true, 2, now()
  from pawl.journal where version = 2 limit 50000 on conflict do nothing`,
  `insert into pawl.callback_tokens (id, hash, instance_id, run, event, created_at, expires_at)
  select ${nextId}, 'h', ${nextId}, 1, 'answer', now(), now() + interval '1 year' from generate_series(1, 20000) as n`,
  `insert into pawl.instances (id, lifecycle, definition, state, shelf, version, visit, data, created_at, moved_at, failure, failed_at)
  select ${nextId}, 'plans_joining', 1, 'failed', 'failed', 2, 2, '{}', now(), now(),
    jsonb_build_object('reason', 'r' || n % 3, 'error', null, 'state', 'joining'), now()
  from generate_series(${rows + 50_001}, ${rows + 70_000}) as n`,
  `insert into pawl.instances (id, lifecycle, definition, state, shelf, version, visit, data, created_at, moved_at)
  select ${nextId}, 'plans_parked', 1, 'parked', 'parked', 1, 1, '{"kind": "held"}', now(), now()
  from generate_series(${rows + 70_001}, ${rows + 90_000}) as n`,
  `insert into pawl.release_failures (instance_id, lifecycle, state, visit, what, attempts, reason, first_at, last_at, retry_at)
  select id, lifecycle, state, visit, 'refused', 1, 'it is held back', now(), now(), now() + interval '1 year'
  from pawl.instances where lifecycle = 'plans_parked' and id >= lpad(to_hex(${rows + 70_001}), 32, '0')::uuid
    and id <= lpad(to_hex(${rows + 90_000}), 32, '0')::uuid`,
  `insert into pawl.progress (instance_id, task_id, token, fraction, at)
  select ${nextId}, ${nextId}, 1, 0.5, now() from generate_series(1, 20000) as n`,
];

/** Past the triggers, for time's sake. */
async function fill(store: TestStore): Promise<void> {
  for (const insert of many) {
    await store.db.script(`
      set local statement_timeout = 0;
      set session_replication_role = replica;
      ${insert};
      set session_replication_role = origin;`);
  }
  await store.db.script(sentMessages);
}

/** In the order of every index, for time's sake. */
const sentMessages = `
  insert into pawl.messages (id, aggregate_id, aggregate_type, message_type, payload, status, created_at, processed_at)
  select ${nextId}, lpad(to_hex(n), 32, '0'), 'chain', 'stepped', '{"n": 0}', 'published',
    now() - (${rows} - n) * interval '1 second', now()
  from generate_series(1, ${rows}) as n`;
