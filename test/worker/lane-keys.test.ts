import { job, lifecycle } from "pawl";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { gatesOf } from "../../src/kernel/lanes/gates.ts";
import { claimByTurns } from "../../src/kernel/tasks/claim.ts";
import { report } from "../../src/kernel/tasks/report.ts";
import type { ClaimedTask } from "../../src/kernel/types/claimed-task.ts";
import type { Outcome } from "../../src/kernel/types/outcome.ts";
import { sql } from "../../src/store/port/db.ts";
import type { Turn } from "../../src/store/tasks/turns.ts";
import { Dice } from "../../src/testing/dice.ts";
import type { TestPawl } from "../../src/testing/test-pawl.ts";
import { CapturedLog } from "../support/captured-log.ts";
import { eachStore } from "../support/each-store.ts";
import { openSecondProcess } from "../support/second-process.ts";

const school = z.object({ school: z.string(), weight: z.number().optional() });
const retry = { maxAttempts: 5, backoff: () => 0 };

const limited = job("limited", {
  payload: school,
  run: () => {},
  retry,
  limit: { total: 7, per: ({ data }) => data.school, each: 2 },
});
const rated = job("rated", {
  payload: school,
  run: () => {},
  retry,
  rate: { per: ({ data }) => data.school, each: "3/m" },
});
const shared = job("shared", {
  payload: school,
  run: () => {},
  retry,
  share: ({ data }) => ({ key: data.school, weight: data.weight ?? 1 }),
});

/** A worker of which each claim is made by hand. */
function claims(t: TestPawl, name = "w") {
  const turns = new Map<string, Turn>();
  return async (lane: string, limit: number): Promise<ClaimedTask[]> => {
    const gates = gatesOf(t.kernel, [lane]) as Parameters<typeof claimByTurns>[1]["gates"];
    const claimed = await claimByTurns(t.kernel, { gates, limit, worker: name, leaseMs: 30_000 }, turns);
    for (const turn of claimed.turns) turns.set(turn.gate, turn);
    return claimed.tasks;
  };
}

const done: Outcome = { kind: "event", event: "done", payload: undefined, patch: {} };

const keyOf = (task: ClaimedTask) => (task.row.data as { school: string }).school;
const keysOf = (tasks: readonly ClaimedTask[]) => tasks.map(keyOf).sort().join("");
const payloads = (keys: string) => keys.split("").map((key) => ({ payload: { school: key } }));

async function reportAll(t: TestPawl, tasks: readonly ClaimedTask[], outcome: Outcome): Promise<void> {
  await report(
    t.kernel,
    tasks.map((task) => ({ task, outcome })),
  );
}

eachStore((store) => {
  describe("limits by key", () => {
    test("each key has its own limit, all have one together, and a full key holds up no other", async () => {
      await using t = await store.open({ lifecycles: [limited] });
      const claim = claims(t);
      await t.pawl.enqueueMany(limited, payloads(`${"a".repeat(50)}bbbc`));
      const first = await claim("limited@1/pending", 100);
      expect(keysOf(first)).toBe("aabbc");
      expect(await claim("limited@1/pending", 100)).toEqual([]);
      await t.pawl.enqueueMany(limited, payloads("dddee"));
      expect(keysOf(await claim("limited@1/pending", 100))).toBe("de"); // Seven run in all.
      await reportAll(t, first.slice(0, 2), done);
      expect(await claim("limited@1/pending", 1)).toHaveLength(1);
      expect(await claim("limited@1/pending", 100)).toHaveLength(1);
    });

    test("many that claim at the same moment never exceed a limit together", async () => {
      await using t = await store.open({ lifecycles: [limited] });
      await t.pawl.enqueueMany(limited, payloads("aaaabbbbccccddddeeee"));
      const workers = Array.from({ length: 6 }, (_, index) => claims(t, `w${index}`));
      for (let turn = 0; turn < 4; turn++) {
        const all = (await Promise.all(workers.map((claim) => claim("limited@1/pending", 3)))).flat();
        const rest = await workers[0]!("limited@1/pending", 10);
        const running = [...all, ...rest];
        expect(running).toHaveLength(7);
        for (const key of "abcde") expect(running.filter((task) => keyOf(task) === key).length).toBeLessThanOrEqual(2);
        await reportAll(t, running, { kind: "released" });
      }
    });

    test("what fails, lapses, is released or deferred makes room for its key again, and keeps its key", async () => {
      await using t = await store.open({ lifecycles: [limited] });
      const claim = claims(t);
      await t.pawl.enqueueMany(limited, payloads("aaaaaa"));
      const two = async () => {
        const tasks = await claim("limited@1/pending", 10);
        expect(tasks).toHaveLength(2);
        expect(await claim("limited@1/pending", 10)).toEqual([]);
        return tasks;
      };
      const [one, other] = await two();
      await reportAll(t, [one!], { kind: "failed", error: new Error("x") });
      await reportAll(t, [other!], { kind: "released" });
      await t.maintain();
      await reportAll(t, await two(), { kind: "retry_later", afterMs: 60_000, reason: null });
      await two();
      await t.advance("61s"); // The leases lapse, and the deferred tasks are due.
      await t.maintain();
      await two();
      const keys = await t.db.rows<{ lane_key: string }>(sql`select distinct lane_key from pawl.tasks`);
      expect(keys).toEqual([{ lane_key: "a" }]);
    });

    test("a rate by key is exact over any minute, and a key at its rate holds up no other", async () => {
      await using t = await store.open({ lifecycles: [rated] });
      const claim = claims(t);
      await t.pawl.enqueueMany(rated, payloads(`${"a".repeat(40)}${"b".repeat(40)}`));
      const begun = new Map<string, number[]>([
        ["a", []],
        ["b", []],
      ]);
      for (const seconds of [0, 10, 20, 15, 15.001, 30, 0.5, 29.5, 60, 1, 59, 0.001, 120]) {
        await t.advance(seconds * 1_000);
        const now = t.now().getTime();
        const tasks = await claim("rated@1/pending", 2);
        for (const task of tasks) begun.get(keyOf(task))!.push(now);
        await reportAll(t, tasks, done);
        for (const times of begun.values())
          expect(times.filter((at) => at > now - 60_000).length).toBeLessThanOrEqual(3);
      }
      for (const times of begun.values()) expect(times.length).toBeGreaterThan(8);
      await t.advance("1h");
      await t.maintain();
      expect(await t.db.rows(sql`select gate from pawl.begun`)).toEqual([]);
    });

    test("a worker runs them within their limits, over all processes", async () => {
      const running = new Map<string, number>();
      let most = 0;
      const busy = job("busy", {
        payload: school,
        limit: { per: ({ data }) => data.school, each: 2 },
        run: async ({ payload }) => {
          const now = (running.get(payload.school) ?? 0) + 1;
          running.set(payload.school, now);
          most = Math.max(most, now);
          await new Promise(setImmediate);
          running.set(payload.school, running.get(payload.school)! - 1);
        },
      });
      await using t = await store.open({ lifecycles: [busy] });
      await using other = await openSecondProcess(t, [busy]);
      const made = await t.pawl.enqueueMany(busy, payloads("aaaaaaaaaabbbbbbbbbbc"));
      const workers = [t, other].map(({ pawl }) => pawl.work({ concurrency: 8, pollInterval: 20 }));
      await Promise.all(made.map(({ id }) => t.pawl.wait(busy, { id })));
      await Promise.all(workers.map((worker) => worker.stop()));
      expect(most).toBe(2);
      expect(await t.pawl.inspect.verify()).toEqual([]);
    });

    test("a worker takes up a rate by key again as soon as it allows, without polling", async () => {
      const pulse = job("pulse", {
        payload: school,
        run: () => {},
        rate: { per: ({ data }) => data.school, each: "2/s" },
      });
      await using t = await store.open({ lifecycles: [pulse] });
      await t.db.script(
        "create or replace function pawl.now() returns timestamptz language sql stable as 'select clock_timestamp()'",
      );
      const made = await t.pawl.enqueueMany(pulse, payloads("aaa"));
      const worker = t.pawl.work({ pollInterval: "1h", maintenanceInterval: "1h" });
      await Promise.all(made.map(({ id }) => t.pawl.wait(pulse, { id })));
      await worker.stop();
      const begun = await t.db.rows<{ at: number }>(sql`select pawl.ms(at) as at from pawl.attempts order by at`);
      expect(begun[2]!.at - begun[0]!.at).toBeGreaterThanOrEqual(1_000);
    });
  });

  describe("shares", () => {
    test("a single task beside a flood by another key comes with the first claim, and who is alone gets everything", async () => {
      await using t = await store.open({ lifecycles: [shared] });
      const claim = claims(t);
      await t.pawl.enqueueMany(shared, payloads("a".repeat(300)));
      await t.pawl.enqueueMany(shared, payloads("b"));
      expect(keysOf(await claim("shared@1/pending", 10))).toBe(`${"a".repeat(9)}b`);
      expect(await claim("shared@1/pending", 100)).toHaveLength(100);
      expect(await claim("shared@1/pending", 500)).toHaveLength(191);
    });

    test.each([1, 2, 3, 7, 30])("keys take turns by their weights, in claims of %i", async (size) => {
      await using t = await store.open({ lifecycles: [shared] });
      const claim = claims(t);
      const weights = { a: 1, b: 1, c: 3 };
      await t.pawl.enqueueMany(
        shared,
        Object.entries(weights).flatMap(([key, weight]) =>
          Array.from({ length: 120 }, () => ({ payload: { school: key, weight } })),
        ),
      );
      const counts = { a: 0, b: 0, c: 0 };
      let all = 0;
      while (all < 150)
        for (const task of await claim("shared@1/pending", size)) {
          counts[keyOf(task) as "a"] += 1;
          all += 1;
        }
      expect(counts.c / all).toBeGreaterThan(0.55);
      expect(counts.c / all).toBeLessThan(0.65);
      expect(Math.abs(counts.a - counts.b)).toBeLessThanOrEqual(12);
    });

    test("tasks of one key stay in their order, unless priorities say otherwise", async () => {
      await using t = await store.open({ lifecycles: [shared] });
      const claim = claims(t);
      const made = await t.pawl.enqueueMany(shared, payloads("ababababab"));
      const urgent = await t.pawl.enqueue(shared, { school: "a" }, { priority: -1 });
      const order: ClaimedTask[] = [];
      for (let turn = 0; turn < 11; turn++) order.push(...(await claim("shared@1/pending", 1)));
      const idsOf = (key: string) => order.filter((task) => keyOf(task) === key).map((task) => task.row.id);
      expect(idsOf("b")).toEqual(made.filter((_, index) => index % 2 === 1).map(({ id }) => id));
      expect(idsOf("a")).toEqual([urgent.id, ...made.filter((_, index) => index % 2 === 0).map(({ id }) => id)]);
    });

    test("every waiting key is served once in a round, however many there are", async () => {
      await using t = await store.open({ lifecycles: [shared] });
      const claim = claims(t);
      const keys = Array.from({ length: 60 }, (_, index) => `k${index}`);
      await t.pawl.enqueueMany(
        shared,
        keys.flatMap((key) => [key, key, key].map((one) => ({ payload: { school: one } }))),
      );
      const served: string[] = [];
      for (let turn = 0; turn < 12; turn++) served.push(...(await claim("shared@1/pending", 5)).map(keyOf));
      expect(new Set(served).size).toBe(60);
      const rest = [];
      for (let turn = 0; turn < 12; turn++) rest.push(...(await claim("shared@1/pending", 10)).map(keyOf));
      expect(rest).toHaveLength(120);
    });

    test("running tasks of lanes that only share count for no limit, and their next steps are granted", async () => {
      const chain = lifecycle("chain", {
        data: school,
        initial: "one",
        states: {
          one: { run: () => {}, share: ({ data }) => data.school, on: { next: "two" } },
          two: { run: () => {}, on: { next: "three" } },
          three: { run: () => {}, share: ({ data }) => data.school, on: { next: "four" } },
          four: { run: () => {}, limit: { per: ({ data }) => data.school, each: 1 }, on: { next: "done" } },
          done: { final: "success" },
        },
      });
      await using t = await store.open({ lifecycles: [chain] });
      const { id } = await t.pawl.start(chain, { data: { school: "a" } });
      const worker = t.pawl.work({ pollInterval: 20 });
      await t.pawl.wait(chain, { id });
      await worker.stop();
      const claimed = await t.db.rows<{ lane: string }>(
        sql`select lane from pawl.attempts where what = 'claimed' order by position`,
      );
      expect(claimed.map(({ lane }) => lane)).toEqual(["chain@1/one", "chain@1/three", "chain@1/four"]);
      expect(await t.pawl.inspect.verify()).toEqual([]);
    });
  });

  describe("functions that misbehave", () => {
    const odd = { key: (_data: { n: number }): unknown => null };
    const strange = job("strange", {
      payload: z.object({ n: z.number() }),
      run: () => {},
      limit: { per: ({ data }) => odd.key(data) as string, each: 1 },
    });
    const lopsided = job("lopsided", {
      payload: z.object({ n: z.number() }),
      run: () => {},
      share: ({ data }) => odd.key(data) as string,
    });

    test.each<[string, () => unknown, RegExp]>([
      [
        "throws",
        () => {
          throw new Error("boom");
        },
        /threw: boom/,
      ],
      ["returns undefined", () => undefined, /a key of type undefined/],
      ["returns an object", () => ({}), /a key of type object/],
      ["returns NaN", () => Number.NaN, /NaN/],
      ["returns an empty text", () => "", /an empty text/],
      ["returns a promise", () => Promise.reject(new Error("x")), /a promise/],
    ])("a `per` that %s is reported for its instance, and its task still counts", async (_, key, problem) => {
      const log = new CapturedLog();
      await using t = await store.open({ lifecycles: [strange], logger: log });
      odd.key = key;
      const made = await t.pawl.enqueueMany(strange, [{ payload: { n: 1 } }, { payload: { n: 2 } }]);
      const warned = log.lines.filter((line) => problem.test(line.message));
      expect(warned.map((line) => line.fields.instance).sort()).toEqual(made.map(({ id }) => id).sort());
      odd.key = () => "fine";
      await t.pawl.enqueue(strange, { n: 3 });
      const claim = claims(t);
      expect(await claim("strange@1/pending", 10)).toHaveLength(2); // One without a key, and the fine one.
      expect(await claim("strange@1/pending", 10)).toEqual([]);
    });

    test.each<[unknown, number]>([
      [Number.NaN, 1],
      [-1, 1],
      [0, 1],
      ["3", 1],
      [Number.POSITIVE_INFINITY, 100],
      [1e9, 100],
      [2.4, 2],
    ])("a weight of %s becomes %i", async (weight, stored) => {
      await using t = await store.open({ lifecycles: [lopsided] });
      odd.key = () => ({ key: "a", weight });
      await t.pawl.enqueue(lopsided, { n: 1 });
      expect(await t.db.rows(sql`select lane_key, weight::int as weight from pawl.tasks`)).toEqual([
        { lane_key: "a", weight: stored },
      ]);
    });

    test("huge keys are cut and stay apart, and texts that a database refuses are replaced", async () => {
      await using t = await store.open({ lifecycles: [strange] });
      odd.key = ({ n }) => (n < 2 ? `${"😀".repeat(5_000)}${n}` : "\u0000\uD800x");
      await t.pawl.enqueueMany(
        strange,
        [0, 1, 2].map((n) => ({ payload: { n } })),
      );
      const rows = await t.db.rows<{ lane_key: string }>(sql`select lane_key from pawl.tasks`);
      expect(new Set(rows.map((row) => row.lane_key)).size).toBe(3);
      expect(Math.max(...rows.map((row) => row.lane_key.length))).toBeLessThanOrEqual(200);
      expect(await claims(t)("strange@1/pending", 10)).toHaveLength(3);
    });

    test("functions that disagree are reported, and the limit's key counts", async () => {
      const log = new CapturedLog();
      const torn = job("torn", {
        payload: school,
        run: () => {},
        limit: { per: ({ data }) => data.school, each: 1 },
        share: () => ({ key: "other", weight: 2 }),
      });
      await using t = await store.open({ lifecycles: [torn], logger: log });
      await t.pawl.enqueue(torn, { school: "a" });
      expect(await t.db.rows(sql`select lane_key, weight::int as weight from pawl.tasks`)).toEqual([
        { lane_key: "a", weight: 2 },
      ]);
      expect(log.lines.some((line) => /different keys: "a" and "other"/.test(line.message))).toBe(true);
    });
  });

  describe("every way into a lane", () => {
    const child = lifecycle("child", {
      data: school,
      initial: "works",
      states: {
        works: { run: () => {}, retry, limit: { per: ({ data }) => data.school, each: 1 }, on: { ok: "done" } },
        done: { final: "success" },
      },
    });
    const parent = lifecycle("parent", {
      data: school,
      initial: "begins",
      states: {
        begins: {
          run: (step) => {
            step.start(child, { key: "c", data: { school: "child" } });
          },
          on: { ok: "waits" },
        },
        waits: { join: {}, on: { joined: "done" } },
        done: { final: "success" },
      },
    });

    test("tasks have the key of their data whichever way they enter", async () => {
      await using t = await store.open({ lifecycles: [child, parent, limited] });
      const keys = async () =>
        (
          await t.db.rows<{ lane_key: string }>(sql`select lane_key from pawl.tasks where kind = 'step' order by id`)
        ).map((row) => row.lane_key);
      await t.pawl.start(child, { key: "1", data: { school: "one" } });
      await t.pawl.startMany(child, [{ key: "2", data: { school: "many" } }]);
      await t.pawl.transaction(async (tx) => {
        await t.pawl.start(child, { key: "3", data: { school: "tx" }, tx });
      });
      await t.pawl.enqueue(limited, { school: "enqueued" }, { after: "1h" });
      expect(await keys()).toEqual(["one", "many", "tx", "enqueued"]);
      for (const key of ["2", "3"]) await t.pawl.send(child, key, "discard");
      await t.pawl.send(child, "1", "fail");
      expect(await keys()).toEqual(["enqueued"]);
      await t.pawl.send(child, "1", "restart");
      expect(await keys()).toEqual(["one", "enqueued"]);
      await t.pawl.send(child, "1", "fail");
      await t.pawl.send(child, "1", "recover");
      expect(await keys()).toContain("one");
      await t.pawl.start(parent, { key: "p", data: { school: "p" } });
      await (await t.claim("parent/begins")).run();
      expect(await keys()).toContain("child");
      await t.advance("2h");
      await t.maintain();
      await t.claim("limited/pending");
      expect(await t.pawl.inspect.verify()).toEqual([]);
    });

    test("a requeued dead letter waits with its key", async () => {
      const hopeless = lifecycle("hopeless", {
        data: school,
        initial: "works",
        states: {
          works: {
            run: () => {},
            retry: { maxAttempts: 1 },
            limit: { per: ({ data }) => data.school, each: 1 },
            on: { ok: "done" },
          },
          done: { final: "success" },
        },
      });
      await using t = await store.open({ lifecycles: [hopeless] });
      await t.pawl.start(hopeless, { key: "1", data: { school: "a" } });
      await (await t.claim("hopeless/works")).fail(new Error("x"));
      const [letter] = await t.pawl.deadLetters.list();
      await t.pawl.deadLetters.requeue(letter!.id, { actor: "ada", reason: "try" });
      await t.claim("hopeless/works");
      await t.pawl.start(hopeless, { key: "2", data: { school: "a" } });
      await expect(t.claim("hopeless/works")).rejects.toThrow("limit");
    });

    test("tasks from before the state had keys are claimed together with the others", async () => {
      const before = job("grown", { payload: school, run: () => {} });
      const after = job("grown", { payload: school, run: () => {}, share: ({ data }) => data.school });
      await using t = await store.open({ lifecycles: [before] });
      await t.pawl.enqueueMany(before, payloads("xxxxx"));
      await using next = await openSecondProcess(t, [after]);
      await next.pawl.enqueueMany(after, payloads("abc"));
      expect(await claims(next)("grown@1/pending", 20)).toHaveLength(8);
    });
  });

  describe("limits that change at run time", () => {
    test("a lower limit holds from the next claim on, whatever a process has read, and is recorded", async () => {
      await using t = await store.open({ lifecycles: [limited] });
      await using other = await openSecondProcess(t, [limited]);
      const claim = claims(t);
      await t.pawl.enqueueMany(limited, payloads("aaabbbcccddd"));
      const by = { reason: "too fast", actor: "grace" };
      expect(await other.pawl.lanes.putLimit(limited, { limit: { total: 3, each: 1 }, ...by })).toEqual({
        limit: 3,
        limitEach: 1,
        rate: null,
        rateEach: null,
      });
      const first = await claim("limited@1/pending", 10);
      expect(keysOf(first)).toBe("abc");
      const [lane] = await t.pawl.lanes.list();
      expect(lane).toMatchObject({ limit: 3, each: { limit: 1, rate: null }, limitsChanged: by });
      await t.pawl.lanes.putLimit(limited, { limit: { each: null }, reason: "fine" });
      await t.pawl.lanes.putLimit(limited, { limit: 100 });
      const gates = gatesOf(t.kernel, ["limited@1/pending"]);
      expect(gates).toMatchObject([{ limit: 100, keys: { limit: 2 } }]);
      expect(keysOf(await claim("limited@1/pending", 10))).toBe("abcdd");
      const history = await t.db.rows(
        sql`select limit_all, limit_each, actor, replaced_at is null as holds from pawl.lane_limits order by id`,
      );
      expect(history).toEqual([
        { limit_all: 3, limit_each: 1, actor: "grace", holds: false },
        { limit_all: 3, limit_each: null, actor: null, holds: false },
        { limit_all: 100, limit_each: null, actor: null, holds: true },
      ]);
    });

    test("changes at the same time follow each other", async () => {
      await using t = await store.open({ lifecycles: [limited] });
      await Promise.all([1, 2, 3, 4].map((limit) => t.pawl.lanes.putLimit(limited, { limit })));
      expect(await t.db.rows(sql`select id from pawl.lane_limits`)).toHaveLength(4);
      expect(await t.db.rows(sql`select id from pawl.lane_limits where replaced_at is null`)).toHaveLength(1);
    });

    test.each([
      [{}, /nothing to change/],
      [{ limit: 0 }, /from 1 to 1,000,000/],
      [{ limit: { eash: 1 } }, /each/],
      [{ rate: "5/s" }, /declares no `rate`/],
      [{ rate: { each: "5/week" } }, /such as "100\/m"/],
      [{ state: "nowhere", limit: 1 }, /has no state `nowhere`/],
    ])("%j is refused", async (options, problem) => {
      await using t = await store.open({ lifecycles: [limited] });
      await expect(t.pawl.lanes.putLimit(limited, options as never)).rejects.toThrow(problem);
    });
  });

  test("an explanation says that a step waits because its key is at its limit, or at its rate", async () => {
    await using t = await store.open({ lifecycles: [limited, rated] });
    await t.db.script(`insert into pawl.workers (id, host, pid, pawl, started_at, heartbeat_at, loop, stopping, concurrency, slots, tasks, lanes)
      values ('w', 'h', 1, '1', pawl.now(), pawl.now(), 'Idle', false, 1, '{}', '{}', '{limited@1/pending,rated@1/pending}')`);
    const made = await t.pawl.enqueueMany(limited, payloads("aaab"));
    const claim = claims(t);
    await claim("limited@1/pending", 10);
    const explanation = await t.pawl.explain(limited, { id: made[2]!.id });
    expect(explanation.waitingFor).toMatchObject([{ notClaimed: { reason: "limit", limit: 2, key: "a" } }]);
    expect(explanation.waitingFor[0]!.sentence).toContain('the limit of 2 running at a time for key "a" is reached');
    const others = await t.pawl.enqueueMany(rated, payloads("aaaa"));
    await claim("rated@1/pending", 10);
    const [wait] = (await t.pawl.explain(rated, { id: others[3]!.id })).waitingFor;
    expect(wait).toMatchObject({ notClaimed: { reason: "rate", rate: "3/m", key: "a" } });
    expect(wait!.until!.getTime() - t.now().getTime()).toBe(60_000);
  });

  test("random keys, weights, limits, claims and ends: no limit is exceeded at any moment, no key waits for long", async () => {
    const dice = new Dice(Number(process.env.PAWL_SEED ?? 17));
    const mixed = job("mixed", {
      payload: school,
      run: () => {},
      retry: { maxAttempts: 1_000, backoff: () => 0 },
      limit: { total: 9, per: ({ data }) => data.school, each: 3 },
      rate: { total: "60/m", per: ({ data }) => data.school, each: "12/m" },
      share: ({ data }) => ({ key: data.school, weight: data.weight ?? 1 }),
    });
    await using t = await store.open({ lifecycles: [mixed] });
    const workers = Array.from({ length: 4 }, (_, index) => claims(t, `w${index}`));
    const held: ClaimedTask[][] = workers.map(() => []);
    for (let turn = 0; turn < 60; turn++) {
      if (dice.chance(`fill ${turn}`, 0.5))
        await t.pawl.enqueueMany(
          mixed,
          Array.from({ length: dice.between(`n ${turn}`, 1, 12) }, (_, index) => ({
            payload: {
              school: dice.pick(`key ${turn} ${index}`, ["a", "a", "a", "a", "b", "c", "d"]),
              weight: dice.between(`weight ${turn} ${index}`, 1, 4),
            },
          })),
        );
      const some = workers.map((claim, index) => ({ claim, index }));
      await Promise.all(
        some.map(async ({ claim, index }) => {
          held[index]!.push(...(await claim("mixed@1/pending", dice.between(`size ${turn} ${index}`, 1, 6))));
        }),
      );
      for (const [index, tasks] of held.entries()) {
        const ends = tasks.splice(0, dice.between(`ends ${turn} ${index}`, 0, 4));
        const kind = dice.pick(`kind ${turn} ${index}`, ["done", "released", "failed", "killed"]);
        if (kind === "done") await reportAll(t, ends, done);
        if (kind === "released") await reportAll(t, ends, { kind });
        if (kind === "failed") await reportAll(t, ends, { kind, error: new Error("x") });
      }
      await t.advance(dice.between(`time ${turn}`, 0, 15_000)); // What was killed lapses later.
    }
    await exceededNowhere(t, { total: 9, each: 3, rate: 60, rateEach: 12 });
    expect(await t.pawl.inspect.verify()).toEqual([]);
  });
});

/** Checks the limits at every moment, from the intervals of all attempts. */
async function exceededNowhere(
  t: TestPawl,
  limits: { total: number; each: number; rate: number; rateEach: number },
): Promise<void> {
  const rows = await t.db.rows<{ task_id: string; what: string; at: number; position: number; key: string }>(sql`
    select attempt.task_id::text as task_id, attempt.what, pawl.ms(attempt.at) as at, attempt.position::float8 as position,
      instance.data ->> 'school' as key
    from pawl.attempts as attempt join pawl.instances as instance on instance.id = attempt.instance_id
    union all
    select move.task_id::text, 'moved', pawl.ms(move.at), 1e15, instance.data ->> 'school'
    from pawl.journal as move join pawl.instances as instance on instance.id = move.instance_id
    where move.task_id is not null
    order by at, position`);
  expect(rows.filter((row) => row.what === "claimed").length).toBeGreaterThan(60);
  // Ends come before beginnings of the same millisecond: these were possible only after them.
  const begins = rows.filter((row) => row.what === "claimed");
  const intervals = begins.map((row) => {
    const end = rows.find(
      (one) =>
        one.task_id === row.task_id && one.what !== "claimed" && (one.at > row.at || one.position > row.position),
    );
    return { key: row.key, from: row.at, to: end?.at ?? Number.POSITIVE_INFINITY };
  });
  for (const { from, key } of intervals) {
    const now = intervals.filter((one) => one.from <= from && one.to > from);
    expect(now.length).toBeLessThanOrEqual(limits.total);
    expect(now.filter((one) => one.key === key).length).toBeLessThanOrEqual(limits.each);
    const lately = begins.filter((one) => one.at <= from && one.at > from - 60_000);
    expect(lately.length).toBeLessThanOrEqual(limits.rate);
    expect(lately.filter((one) => one.key === key).length).toBeLessThanOrEqual(limits.rateEach);
  }
}
