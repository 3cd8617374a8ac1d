import { lifecycle, PawlError } from "pawl";
import { expect, test } from "vitest";
import { checkParents } from "../../../src/kernel/family/check-parents.ts";
import type { TestPawl } from "../../../src/testing/test-pawl.ts";
import { eachStore } from "../../support/each-store.ts";
import { attemptWith, note, plan, solve } from "../../support/family.ts";
import { openSecondProcess } from "../../support/second-process.ts";

const counting = attemptWith("count");
const failing = attemptWith("fail");
const waiting = attemptWith("wait");

eachStore((store) => {
  async function open(attempt = counting, questions = ["q1", "q2"], notes = 0): Promise<TestPawl> {
    plan.during = undefined;
    const t = await store.open({ lifecycles: [attempt, solve, note] });
    await t.pawl.start(attempt, { key: "a", data: { questions, notes } });
    await t.work();
    return t;
  }

  async function childOf(t: TestPawl, key: string): Promise<{ id: string }> {
    const { first } = await t.pawl.children(counting, "a").catch(() => t.pawl.children(t.pawl.lifecycles[0]!, "a"));
    return { id: first.find((child) => child.key === key)!.id };
  }

  test("`joined` comes with the counts when all children have ended, whichever way", async () => {
    await using t = await open(counting, ["q1", "q2", "q3", "q4"], 1);
    const { first } = await t.pawl.children(counting, "a");
    const [q1, q2, q3, q4, last] = first.map(({ id }) => ({ id }));
    await t.pawl.send(solve, q1!, "verdict", { score: 1 });
    await t.pawl.send(solve, q2!, "wrong");
    await t.pawl.send(solve, q3!, "discard");
    await t.pawl.send(solve, q4!, "fail");
    await t.work();
    expect(await t.pawl.get(counting, "a")).toMatchObject({ state: "solving" });
    await t.pawl.send(note, last!, "close");
    await t.work();
    expect(await t.pawl.get(counting, "a")).toMatchObject({
      state: "solved",
      data: { counts: { total: 5, succeeded: 2, failed: 2, discarded: 1 } },
    });
    expect((await t.pawl.journal(counting, "a")).at(-1)).toMatchObject({
      event: "joined",
      source: "pawl",
      payload: { total: 5, succeeded: 2, failed: 2, discarded: 1 },
    });
    expect(await t.pawl.inspect.verify()).toEqual([]);
  });

  test("a parent without children joins at once, also when it starts in its join", async () => {
    const gate = lifecycle("gate", {
      initial: "joining",
      states: { joining: { join: {}, on: { joined: "passed" } }, passed: { final: "success" } },
    });
    await using t = await store.open({ lifecycles: [counting, solve, note, gate] });
    await t.pawl.start(counting, { key: "a", data: { questions: [] } });
    await t.pawl.start(gate, { key: "g" });
    await t.work();
    expect(await t.pawl.get(counting, "a")).toMatchObject({ state: "solved", data: { counts: { total: 0 } } });
    expect(await t.pawl.get(gate, "g")).toMatchObject({ state: "passed" });
  });

  test("children that ended before their parent entered the join count", async () => {
    await using t = await open();
    await t.pawl.send(counting, "a", "skip");
    for (const key of ["q1", "q2"]) await t.pawl.send(solve, await childOf(t, key), "verdict", { score: 1 });
    await t.work();
    expect(await t.pawl.get(counting, "a")).toMatchObject({ state: "idle" });
    await t.pawl.send(counting, "a", "again");
    await t.work();
    expect(await t.pawl.get(counting, "a")).toMatchObject({ state: "solved", data: { counts: { succeeded: 2 } } });
  });

  test('`failed: "fail"` fails the parent at the first failed child, and says which one', async () => {
    await using t = await open(failing);
    const q2 = await childOf(t, "q2");
    await t.pawl.send(solve, q2, "wrong");
    await t.work();
    expect(await t.pawl.get(failing, "a")).toMatchObject({ state: "failed" });
    expect((await t.pawl.journal(failing, "a")).at(-1)).toMatchObject({
      event: "fail",
      reason: "child_failed",
      payload: {
        reason: "child_failed",
        error: { name: "ChildFailed", message: 'child solve "q2" failed in checking: wrong' },
        child: { lifecycle: "solve", id: q2.id, key: "q2" },
      },
    });
    expect(await t.pawl.inspect.verify()).toEqual([]);
  });

  test("a child that a person discards fails nobody, and is not waited for", async () => {
    for (const attempt of [failing, waiting]) {
      await using t = await open(attempt);
      await t.pawl.send(solve, await childOf(t, "q1"), "discard");
      await t.pawl.send(solve, await childOf(t, "q2"), "verdict", { score: 1 });
      await t.work();
      expect(await t.pawl.get(attempt, "a")).toMatchObject({
        state: "solved",
        data: { counts: { total: 2, succeeded: 1, failed: 0, discarded: 1 } },
      });
    }
  });

  test('`failed: "wait"` waits until a failed child was recovered and has succeeded', async () => {
    await using t = await open(waiting);
    const [q1, q2] = [await childOf(t, "q1"), await childOf(t, "q2")];
    await t.pawl.send(solve, q1, "fail");
    await t.pawl.send(solve, q2, "verdict", { score: 1 });
    await t.work();
    expect(await t.pawl.get(waiting, "a")).toMatchObject({ state: "solving" });
    expect(await t.pawl.inspect.verify()).toEqual([]);
    await t.pawl.send(solve, q1, "recover");
    await t.pawl.send(solve, q1, "verdict", { score: 1 });
    await t.work();
    expect(await t.pawl.get(waiting, "a")).toMatchObject({ state: "solved" });
  });

  test("a recovered join looks again: at children that were mended meanwhile", async () => {
    await using t = await open(failing);
    const [q1, q2] = [await childOf(t, "q1"), await childOf(t, "q2")];
    await t.pawl.send(solve, q1, "fail");
    await t.pawl.send(solve, q2, "verdict", { score: 1 });
    await t.work();
    expect(await t.pawl.get(failing, "a")).toMatchObject({ state: "failed" });
    await t.pawl.send(failing, "a", "recover");
    await t.work();
    expect(await t.pawl.get(failing, "a")).toMatchObject({ state: "failed" });
    await t.pawl.send(solve, q1, "resubmit");
    await t.pawl.send(solve, q1, "verdict", { score: 1 });
    await t.pawl.send(failing, "a", "recover");
    await t.work();
    expect(await t.pawl.get(failing, "a")).toMatchObject({ state: "solved", data: { counts: { succeeded: 2 } } });
  });

  test("a restarted parent joins its new children, and those of the run before are none of its business", async () => {
    await using t = await open();
    const old = await childOf(t, "q1");
    await t.pawl.send(counting, "a", "restart");
    await t.work();
    await t.pawl.send(solve, old, "discard");
    for (const key of ["q1", "q2"]) await t.pawl.send(solve, await childOf(t, key), "verdict", { score: 1 });
    await t.work();
    expect(await t.pawl.get(counting, "a")).toMatchObject({ state: "solved", data: { counts: { total: 2 } } });
  });

  test("a join waits for the `after` of the move that led there, which may start children, and not for one that is given up", async () => {
    const late = lifecycle("late", {
      initial: "ready",
      states: {
        ready: { forever: true, on: { go: { to: "joining", after: (work) => work.start(note, { key: "n" }) } } },
        joining: { join: {}, on: { joined: { to: "done" } } },
        done: { final: "success" },
      },
    });
    await using t = await store.open({ lifecycles: [late, note] });
    await t.pawl.startMany(late, [{ key: "run" }, { key: "given up" }]);
    const state = async (key: string) => (await t.pawl.get(late, key))!.state;
    for (const key of ["run", "given up"]) {
      await t.pawl.send(late, key, "go");
      await checkParents(t.kernel, 500);
      expect(await state(key)).toBe("joining");
      const effect = await t.claim("late:after");
      await (key === "run" ? effect.run() : effect.giveUp("nobody is to be told"));
      await checkParents(t.kernel, 500);
    }
    expect(await state("given up")).toBe("done");
    expect(await state("run")).toBe("joining");
    const { first } = await t.pawl.children(late, "run");
    await t.pawl.send(note, { id: first[0]!.id }, "close");
    await t.work();
    expect(await state("run")).toBe("done");
    expect(await t.pawl.inspect.verify()).toEqual([]);
  });

  test("what is due comes first: a join whose time is over does not join any more", async () => {
    const hasty = lifecycle("hasty", {
      initial: "starting",
      states: {
        starting: { run: (step) => step.start(note, { key: "n" }), on: { started: "joining" } },
        joining: { join: {}, timeout: { after: "30m", send: "late" }, on: { joined: "done", late: "over" } },
        done: { final: "success" },
        over: { final: "failure" },
      },
    });
    await using t = await store.open({ lifecycles: [hasty, note] });
    await t.pawl.start(hasty, { key: "h" });
    await t.work();
    const { first } = await t.pawl.children(hasty, "h");
    await t.db.script("update pawl.test_clock set now = now + interval '31 minutes'");
    await t.pawl.send(note, { id: first[0]!.id }, "close");
    await checkParents(t.kernel, 500);
    expect(await t.pawl.get(hasty, "h")).toMatchObject({ state: "over" });
  });

  test("an edge of `joined` may have guards and a hook, and a refusal is kept with its blockers", async () => {
    const strict = lifecycle("strict", {
      initial: "starting",
      states: {
        starting: {
          run: (step) => {
            step.start(note, { key: "n1" });
            step.start(note, { key: "n2" });
          },
          on: { started: "joining" },
        },
        joining: {
          join: { failed: "count" },
          on: {
            joined: {
              to: "done",
              guard: ({ payload }) => payload.discarded === 0 || "one was discarded",
              before: ({ tx, payload }) => tx.query("insert into joins (total) values ($1)", [payload.total]),
            },
          },
        },
        done: { final: "success" },
      },
    });
    await using t = await store.open({ lifecycles: [strict, note] });
    await t.db.script("create table public.joins (total int)");
    await t.pawl.startMany(strict, [{ key: "a" }, { key: "b" }]);
    await t.work();
    for (const key of ["a", "b"]) {
      const { first } = await t.pawl.children(strict, key);
      await t.pawl.send(note, { id: first[0]!.id }, "close");
      await t.pawl.send(note, { id: first[1]!.id }, key === "a" ? "close" : "discard");
    }
    await t.work();
    expect(await t.pawl.get(strict, "a")).toMatchObject({ state: "done" });
    expect(await t.pawl.get(strict, "b")).toMatchObject({ state: "joining" });
    const history = await t.pawl.history(strict, "b");
    expect(history.find((one) => one.kind === "attempt" && one.what === "refused")).toMatchObject({
      detail: { event: "joined", blockers: [{ reason: "one was discarded" }] },
    });
    const { rows } = await t.pawl.transaction((tx) => tx.query("select total from joins"));
    expect(rows).toEqual([{ total: 2 }]);
    expect(await t.pawl.inspect.verify()).toEqual([]);
  });

  test("a check is not lost when the process that makes it dies, and one that comes meanwhile is made next", async () => {
    await using t = await open();
    const [q1, q2] = [await childOf(t, "q1"), await childOf(t, "q2")];
    await t.pawl.send(solve, q1, "verdict", { score: 1 });
    t.faults.plant("check.read", () => Promise.reject(new PawlError("database_unreachable", "It is gone.")));
    await expect(checkParents(t.kernel, 500)).rejects.toMatchObject({ code: "database_unreachable" });
    await t.pawl.send(solve, q2, "verdict", { score: 1 });
    t.faults.plant("commit.before", () => Promise.reject(new PawlError("database_unreachable", "It is gone.")));
    await expect(checkParents(t.kernel, 500)).rejects.toMatchObject({ code: "database_unreachable" });
    expect(await t.pawl.get(counting, "a")).toMatchObject({ state: "solving" });
    expect(await t.pawl.inspect.verify()).toEqual([]);
    expect(await checkParents(t.kernel, 500)).toMatchObject({ joined: 1 });
    expect(await t.pawl.get(counting, "a")).toMatchObject({ state: "solved" });
  });

  test("a child that ends while its parent is looked at is not missed", async () => {
    await using t = await open();
    const [q1, q2] = [await childOf(t, "q1"), await childOf(t, "q2")];
    await t.pawl.send(solve, q1, "verdict", { score: 1 });
    t.faults.plant("check.read", async () => {
      await t.pawl.send(solve, q2, "verdict", { score: 1 });
    });
    expect(await checkParents(t.kernel, 1)).toMatchObject({ joined: 1 });
    expect(await checkParents(t.kernel, 1)).toMatchObject({ joined: 0 });
    expect(await t.pawl.get(counting, "a")).toMatchObject({ state: "solved" });
  });

  test("children that end while many processes look join exactly once", async () => {
    await using t = await open(counting, []);
    await using other = await openSecondProcess(t, [counting, solve, note]);
    const rounds = store.kind === "postgres" ? 40 : 5;
    for (let round = 0; round < rounds; round++) {
      const { id } = await t.pawl.start(counting, { data: { questions: ["q1", "q2"] } });
      await t.work();
      const [one, two] = await t.pawl.list(solve, { parent: { id } });
      await Promise.all([
        t.pawl.send(solve, { id: one!.id }, "verdict", { score: 1 }).then(() => checkParents(t.kernel, 500)),
        other.pawl.send(solve, { id: two!.id }, "verdict", { score: 1 }).then(() => checkParents(other.kernel, 500)),
      ]);
      await t.work();
      const moves = (await t.pawl.journal(counting, { id })).map((move) => move.event);
      expect(moves).toEqual(["start", "prepared", "joined"]);
    }
    expect(await t.pawl.inspect.verify()).toEqual([]);
  });

  test("a worker joins at once: it does not wait for its next round of maintenance", async () => {
    await using t = await open(counting, []);
    const worker = t.pawl.work({ maintenanceInterval: "1h", pollInterval: "1h" });
    const { id } = await t.pawl.start(counting, { data: { questions: ["q1"] } });
    await t.pawl.wait(counting, { id }, { until: "solving" });
    const [q1] = await t.pawl.list(solve, { parent: { id } });
    await t.pawl.send(solve, { id: q1!.id }, "verdict", { score: 1 });
    expect(await t.pawl.wait(counting, { id }, { timeout: "20s" })).toMatchObject({ state: "solved" });
    await worker.stop();
  });

  test("many children of one parent are few checks, and siblings' ends do not wait for each other", async () => {
    const questions = Array.from({ length: store.kind === "postgres" ? 2_000 : 200 }, (_, place) => `q${place}`);
    await using t = await open(counting, questions);
    const { rows } = await t.pawl.transaction((tx) =>
      tx.query<{ id: string }>("select id::text as id from pawl.instances where parent_id is not null order by id"),
    );
    // Somebody holds the end of one child open in a transaction of his own: its siblings end all the same.
    await using other = await openSecondProcess(t, [counting, solve, note]);
    const [first, ...others] = rows;
    const end = (to: { id: string }) => ({ to, event: "verdict" as const, payload: { score: 1 } });
    if (store.kind === "pglite") await t.pawl.sendMany(solve, [end(first!), ...others.map(end)]);
    else {
      await t.pawl.transaction(async (tx) => {
        await t.pawl.sendMany(solve, [end(first!)], { tx });
        const answers = await other.pawl.sendMany(solve, others.map(end));
        expect(answers.every((answer) => answer.ok)).toBe(true);
        expect(await checkParents(other.kernel, 500)).toMatchObject({ joined: 0 });
      });
    }
    const checks = await t.pawl.transaction((tx) => tx.query("select id from pawl.checks"));
    expect(checks.rows.length).toBeLessThan(20);
    await t.work();
    expect(await t.pawl.get(counting, "a")).toMatchObject({
      state: "solved",
      data: { counts: { total: questions.length, succeeded: questions.length } },
    });
  });
});
