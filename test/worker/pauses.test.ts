import { job, lifecycle } from "pawl";
import { expect, test } from "vitest";
import { sql } from "../../src/store/port/db.ts";
import { freshMs, Lanes } from "../../src/worker/lanes.ts";
import { eachStore } from "../support/each-store.ts";
import { gateOf } from "../support/gate.ts";
import { openSecondProcess } from "../support/second-process.ts";

const ran: string[] = [];
/** What the step of `writing` waits for. */
const held = { by: Promise.resolve() };

const letter = lifecycle("letter", {
  initial: "writing",
  states: {
    writing: {
      run: async () => {
        ran.push("writing");
        await held.by;
      },
      on: { written: { to: "sending", after: () => void ran.push("after") } },
    },
    sending: { run: () => void ran.push("sending"), limit: 10, on: { sent: "done" } },
    done: { final: "success" },
  },
});
const sweep = job("sweep", { run: () => void ran.push("sweep") });

eachStore((store) => {
  const open = () => {
    ran.splice(0);
    held.by = Promise.resolve();
    return store.open({ lifecycles: [letter, sweep] });
  };

  test("a paused state is not worked on, all else goes on, and resumed it goes on where it was", async () => {
    await using t = await open();
    await t.pawl.lanes.pause(letter, { state: "sending", reason: "out of stamps", actor: "ada" });
    const { id } = await t.pawl.start(letter, {});
    await t.pawl.enqueue(sweep);
    await t.work();
    expect(ran.sort()).toEqual(["after", "sweep", "writing"]);
    expect(await t.pawl.lanes.resume(letter, { state: "sending", reason: "stamps came", actor: "grace" })).toBe(true);
    await t.work();
    expect(await t.pawl.get(letter, { id })).toMatchObject({ state: "done" });
    expect(await t.db.rows(sql`select reason, paused_by, resume_reason, resumed_by from pawl.pauses`)).toEqual([
      { reason: "out of stamps", paused_by: "ada", resume_reason: "stamps came", resumed_by: "grace" },
    ]);
  });

  test("a lifecycle, its after-effects and a job can each be paused, and a lifecycle is resumed with all its parts", async () => {
    await using t = await open();
    await t.pawl.lanes.pause(letter, { effects: true, reason: "a" });
    await t.pawl.lanes.pause(sweep, { reason: "b" });
    await t.pawl.start(letter, {});
    await t.pawl.enqueue(sweep);
    await t.work();
    expect(ran).toEqual(["writing", "sending"]);
    await t.pawl.lanes.pause(letter, { reason: "c" });
    await t.pawl.start(letter, {});
    expect(await t.work()).toBe(0);
    expect(await t.pawl.lanes.resume(sweep)).toBe(true);
    expect(await t.pawl.lanes.resume(sweep)).toBe(false);
    expect(await t.work()).toBe(1);
    await expect(t.pawl.lanes.resume(letter, { state: "writing" })).rejects.toThrow("paused as a whole");
    expect(await t.pawl.lanes.resume(letter)).toBe(true);
    await t.work();
    expect(ran.filter((one) => one === "after")).toHaveLength(2);
  });

  test("a pause reaches the workers of other processes within a second, and so does its end", async () => {
    await using t = await open();
    await using other = await openSecondProcess(t, [letter, sweep]);
    expect(freshMs).toBeLessThanOrEqual(500);
    const lanes = new Lanes(other.kernel);
    await lanes.read();
    await lanes.refresh();
    expect(lanes.closed.size).toBe(0);
    await t.pawl.lanes.pause(letter, { state: "writing", reason: "x", actor: "ada" });
    while (!lanes.closed.has("letter@1/writing")) await lanes.refresh();
    expect(lanes.closed.get("letter@1/writing")).toMatchObject({ by: "pause", reason: "x", actor: "ada" });
    expect(lanes.freeInTurn().sort()).toEqual(["letter@1:after", "letter@1:send", "sweep@1/pending", "sweep@1:send"]);
    const { id } = await t.pawl.start(letter, {});
    const worker = other.pawl.work({ pollInterval: 50 });
    await t.pawl.enqueue(sweep, {}, { key: "s" });
    await t.pawl.wait(sweep, "s");
    expect(ran).toEqual(["sweep"]);
    await t.pawl.lanes.resume(letter, { state: "writing" });
    await t.pawl.wait(letter, { id });
    await worker.stop();
  });

  test("a pause lets what runs finish, and takes what only waits in a worker out of its hands, unspent", async () => {
    await using t = await open();
    const begun = gateOf();
    const end = gateOf();
    held.by = end.promise.then(() => begun.resolve());
    await t.pawl.startMany(letter, [{}, {}, {}]);
    const worker = t.pawl.work({ concurrency: 1, prefetch: 2, pollInterval: 20 });
    const laneNow = async () => (await t.pawl.lanes.list()).find((one) => one.state === "writing")!;
    while ((await laneNow()).running < 3) await new Promise(setImmediate);
    await t.pawl.lanes.pause(letter, { state: "writing", reason: "x" });
    while ((await laneNow()).running > 1) await new Promise(setImmediate);
    expect(await laneNow()).toMatchObject({ running: 1, ready: 2 });
    end.resolve();
    await begun.promise;
    await worker.stop();
    expect(ran.filter((one) => one === "writing")).toHaveLength(1);
    expect(await t.db.rows(sql`select attempt from pawl.tasks where lane = 'letter@1/writing'`)).toEqual([
      { attempt: 0 },
      { attempt: 0 },
    ]);
  });

  test("the next step of a chain is not granted into a paused lane", async () => {
    await using t = await open();
    const chain = lifecycle("chain", {
      initial: "one",
      states: {
        one: { run: () => {}, on: { next: "two" } },
        two: { run: () => {}, on: { next: "done" } },
        done: { final: "success" },
      },
    });
    await using other = await openSecondProcess(t, [chain]);
    await other.pawl.lanes.pause(chain, { state: "two", reason: "x" });
    const { id } = await other.pawl.start(chain, {});
    const worker = other.pawl.work();
    await other.pawl.wait(chain, { id }, { until: "two" });
    await worker.stop();
    expect(await other.pawl.lanes.list()).toMatchObject([
      { lane: "chain@1/one" },
      { lane: "chain@1/two", ready: 1, running: 0 },
      {},
    ]);
  });

  test("lanes tell what is in them, what holds them back, and why they are closed", async () => {
    await using t = await open();
    await t.pawl.startMany(letter, [{}, {}, {}]);
    await t.pawl.enqueue(sweep, {}, { after: "1h" });
    await (await t.claim("letter/writing")).report("written");
    await t.claim("letter/writing");
    await t.advance("10s");
    await t.pawl.lanes.pause(letter, { state: "sending", reason: "out of stamps", actor: "ada" });
    const since = t.now();
    await t.advance("5s");
    await t.pawl.lanes.pause(letter, { state: "sending", reason: "still out of stamps", actor: "ada" });
    const asDefined = { each: null, limitsChanged: null };
    const none = {
      ready: 0,
      scheduled: 0,
      running: 0,
      oldestMs: null,
      limit: null,
      rate: null,
      closed: null,
      ...asDefined,
    };
    const of = { lifecycle: "letter", version: 1 };
    expect(await t.pawl.lanes.list()).toEqual([
      {
        ...none,
        ...of,
        lane: "letter@1/sending",
        state: "sending",
        ready: 1,
        oldestMs: 15_000,
        limit: 10,
        closed: { by: "pause", since, reason: "still out of stamps", actor: "ada" },
      },
      { ...none, ...of, lane: "letter@1/writing", state: "writing", ready: 1, running: 1, oldestMs: 15_000 },
      { ...none, ...of, lane: "letter@1:after", state: null, ready: 1, oldestMs: 15_000 },
      { ...none, lifecycle: "sweep", version: 1, lane: "sweep@1/pending", state: "pending", scheduled: 1 },
    ]);
  });

  test("recovery by itself can be paused, too: what failed stays failed until it is resumed", async () => {
    const brittle = lifecycle("brittle", {
      initial: "trying",
      recovery: { after: "1m", maxFailures: 5 },
      states: {
        trying: {
          run: (step) => step.giveUp("not yet"),
          retry: { maxAttempts: 1, backoff: () => 0 },
          on: { done: "done" },
        },
        done: { final: "success" },
      },
    });
    await using t = await store.open({ lifecycles: [brittle] });
    const { id } = await t.pawl.start(brittle, {});
    await t.work();
    await t.pawl.lanes.pause(brittle, { state: "failed", reason: "look at it first" });
    await t.advance("2m");
    await t.work();
    expect(await t.pawl.get(brittle, { id })).toMatchObject({ state: "failed", version: 2 });
    expect(await t.pawl.lanes.list()).toContainEqual(expect.objectContaining({ lane: "brittle@1/failed", ready: 1 }));
    await t.pawl.lanes.resume(brittle, { state: "failed" });
    await t.work();
    expect((await t.pawl.get(brittle, { id }))!.version).toBeGreaterThan(2);
  });

  test("a worker can be for some lanes only, and takes the next task of those", async () => {
    await using t = await open();
    await t.pawl.start(letter, { key: "l" });
    await t.pawl.enqueue(sweep, {}, { key: "s" });
    const worker = t.pawl.work({ lanes: ["letter/writing", "sweep"] });
    await t.pawl.wait(sweep, "s");
    await t.pawl.wait(letter, "l", { until: "sending" });
    await worker.stop();
    expect(ran.sort()).toEqual(["sweep", "writing"]);
    for (const lanes of [["lettre"], ["letter/done"], ["letter/", "sweep"], [7]]) {
      expect(() => t.pawl.work({ lanes: lanes as string[] })).toThrow("`lanes` names");
    }
  });

  test("what cannot be paused is said, and nothing is written", async () => {
    await using t = await open();
    const invalid = { code: "option_invalid" };
    await expect(t.pawl.lanes.pause(letter, {} as never)).rejects.toMatchObject(invalid);
    await expect(t.pawl.lanes.pause(letter, { reason: "" })).rejects.toMatchObject(invalid);
    await expect(t.pawl.lanes.pause(letter, { reason: "x", state: "done" })).rejects.toThrow(
      "these do: writing, sending",
    );
    await expect(t.pawl.lanes.pause(letter, { reason: "x", state: "nowhere" as never })).rejects.toMatchObject(invalid);
    await expect(t.pawl.lanes.pause(letter, { reason: "x", state: "writing", effects: true })).rejects.toMatchObject(
      invalid,
    );
    await expect(t.pawl.lanes.pause(letter, { reason: "x", stat: "writing" } as never)).rejects.toThrow(
      "Unknown option `stat`",
    );
    await expect(t.pawl.lanes.pause({} as never, { reason: "x" })).rejects.toMatchObject({ code: "lifecycle_unknown" });
    await expect(t.pawl.lanes.resume(letter, { actor: 7 as never })).rejects.toMatchObject(invalid);
    expect(await t.db.rows(sql`select id from pawl.pauses`)).toEqual([]);
  });
});
