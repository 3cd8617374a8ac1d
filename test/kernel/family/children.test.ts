import { job, lifecycle, PawlError } from "pawl";
import { expect, test } from "vitest";
import { z } from "zod";
import type { TestPawl } from "../../../src/testing/test-pawl.ts";
import { eachStoreAndPooler } from "../../support/each-store.ts";
import { attemptWith, note, plan, solve } from "../../support/family.ts";

const attempt = attemptWith("count");
const lifecycles = [attempt, solve, note];

eachStoreAndPooler((store) => {
  async function open(data: { questions?: string[]; notes?: number } = {}): Promise<TestPawl> {
    plan.during = undefined;
    const t = await store.open({ lifecycles });
    await t.pawl.start(attempt, {
      key: "a",
      data: { questions: data.questions ?? ["q1", "q2"], notes: data.notes ?? 0 },
    });
    return t;
  }

  test("children are started with the outcome of the step, and know their parent", async () => {
    await using t = await open({ notes: 2 });
    const worker = await t.claim("attempt/preparing");
    expect(await t.pawl.list(solve)).toEqual([]);
    await worker.run();
    const parent = { lifecycle: "attempt", id: worker.id };
    expect(await t.pawl.list(solve, { parent })).toMatchObject([
      { key: "q2", state: "checking", parent, data: { question: "q2", runs: 0 } },
      { key: "q1", state: "checking", parent },
    ]);
    expect(await t.pawl.list(solve, { parent, state: "checked" })).toEqual([]);
    expect(await t.pawl.list(note, { parent })).toMatchObject([
      { key: null, parent },
      { key: null, parent },
    ]);
    const [child] = await t.pawl.list(solve);
    expect(await t.pawl.journal(solve, { id: child!.id })).toMatchObject([
      { event: "start", source: "pawl", actor: `attempt:${worker.id}` },
    ]);
    expect(await t.pawl.get(attempt, "a")).toMatchObject({ parent: null });
    expect(await t.pawl.inspect.verify()).toEqual([]);
  });

  test("an attempt that fails after its starts has started nothing", async () => {
    await using t = await open();
    plan.during = () => {
      throw new Error("after the starts");
    };
    await (await t.claim("attempt/preparing")).run();
    expect(await t.pawl.list(solve)).toEqual([]);
    plan.during = undefined;
    await t.advance("1s");
    await t.work();
    expect(await t.pawl.list(solve)).toHaveLength(2);
  });

  test("a worker that lost its lease starts nothing", async () => {
    await using t = await open({ notes: 1 });
    const slow = await t.claim("attempt/preparing");
    await t.advance("31s");
    await expect(slow.run()).rejects.toMatchObject({ code: "lease_lost" });
    expect(await t.pawl.list(solve)).toEqual([]);
    await (await t.claim("attempt/preparing")).run();
    await expect(slow.run()).rejects.toMatchObject({ code: "lease_lost" });
    expect(await t.pawl.list(solve)).toHaveLength(2);
    expect(await t.pawl.list(note)).toHaveLength(1);
  });

  test("a recovered parent finds its children again, a restarted one gets new ones", async () => {
    await using t = await open();
    await (await t.claim("attempt/preparing")).run();
    const before = await t.pawl.list(solve);
    await t.pawl.send(attempt, "a", "fail");
    await t.pawl.send(attempt, "a", "recover");
    await (await t.claim("attempt/preparing")).run();
    expect(await t.pawl.list(solve)).toEqual(before);
    await t.pawl.send(attempt, "a", "restart");
    await (await t.claim("attempt/preparing")).run();
    expect(await t.pawl.list(solve)).toHaveLength(4);
    const { total, first } = await t.pawl.children(attempt, "a");
    expect(total).toBe(2);
    expect(first.map((child) => child.key)).toEqual(["q1", "q2"]);
    expect(first.some((child) => before.some((old) => old.id === child.id))).toBe(false);
    expect(await t.pawl.inspect.verify()).toEqual([]);
  });

  test("a step sees the children of its run, of one lifecycle or all, as they are", async () => {
    await using t = await open({ notes: 1 });
    await (await t.claim("attempt/preparing")).run();
    const [q2, q1] = await t.pawl.list(solve);
    await t.pawl.send(solve, { id: q1!.id }, "verdict", { score: 1 });
    await t.pawl.send(solve, { id: q2!.id }, "fail");
    await t.pawl.send(attempt, "a", "fail");
    await t.pawl.send(attempt, "a", "recover");
    let seen: unknown;
    let all: unknown;
    plan.during = async (step) => {
      seen = await step.children(solve);
      all = await step.children();
    };
    await (await t.claim("attempt/preparing")).run();
    expect(seen).toEqual([
      { id: q1!.id, lifecycle: "solve", key: "q1", state: "checked", outcome: "success", data: q1!.data },
      { id: q2!.id, lifecycle: "solve", key: "q2", state: "failed", outcome: "failure", data: q2!.data },
    ]);
    expect(all).toMatchObject([{ key: "q1" }, { key: "q2" }, { lifecycle: "note", state: "open", outcome: null }]);
    expect(await t.pawl.children(attempt, "a", { limit: 1 })).toMatchObject({
      total: 4,
      open: 2,
      succeeded: 1,
      failed: 1,
      discarded: 0,
      first: [{ key: "q1" }],
    });
  });

  test("a child's key is its own among its siblings: it is no name for everyone, and no bar to others", async () => {
    await using t = await open();
    await t.pawl.start(attempt, { key: "b", data: { questions: ["q1"] } });
    const named = await t.pawl.start(solve, { key: "q2", data: { question: "mine" } });
    await t.work();
    expect(await t.pawl.list(solve)).toHaveLength(4);
    expect(await t.pawl.get(solve, "q1")).toBeUndefined();
    expect(await t.pawl.get(solve, "q2")).toMatchObject({ id: named.id });
  });

  test("the same key twice in one step is one child", async () => {
    await using t = await open({ questions: ["q1", "q1", "q2"] });
    await t.work();
    expect((await t.pawl.list(solve)).map((one) => one.key)).toEqual(["q2", "q1"]);
  });

  test("an after-effect starts children of the run whose move it follows, once", async () => {
    const visit = lifecycle("visit", {
      initial: "waiting",
      states: {
        waiting: {
          forever: true,
          on: {
            called: {
              after: (effect) => {
                effect.start(solve, { key: "q", data: { question: "q" } });
                effect.start(note);
              },
            },
            left: "over",
          },
        },
        over: { final: "success" },
      },
    });
    await using t = await store.open({ lifecycles: [visit, solve, note] });
    const { id } = await t.pawl.start(visit, { key: "v" });
    await t.pawl.send(visit, "v", "called");
    const slow = await t.claim("visit:after");
    await t.advance("31s");
    await expect(slow.run()).rejects.toMatchObject({ code: "lease_lost" });
    expect(await t.pawl.list(solve)).toEqual([]);
    await t.work();
    await t.pawl.send(visit, "v", "called");
    await t.work();
    expect(await t.pawl.list(solve, { parent: { id } })).toMatchObject([
      { key: "q", parent: { lifecycle: "visit", id } },
    ]);
    expect(await t.pawl.list(note, { parent: { id } })).toHaveLength(2);
    expect(await t.pawl.inspect.verify()).toEqual([]);
  });

  test("a step that stays and runs again starts further children without a key", async () => {
    const crawl = lifecycle("crawl", {
      data: z.object({ page: z.number().default(0) }),
      initial: "reading",
      states: {
        reading: {
          run: (step) => {
            step.start(note);
            step.set({ page: step.data.page + 1 });
            return step.data.page < 2 ? step.go("next") : step.go("done");
          },
          on: { next: {}, done: "read" },
        },
        read: { final: "success" },
      },
    });
    await using t = await store.open({ lifecycles: [crawl, note] });
    await t.pawl.start(crawl, { key: "c", data: {} });
    await t.work();
    expect(await t.pawl.children(crawl, "c")).toMatchObject({ total: 3, open: 3 });
  });

  test("a job can be a child, and its work is done", async () => {
    const sent: unknown[] = [];
    const mail = job("mail", { payload: z.object({ to: z.string() }), run: (step) => void sent.push(step.payload) });
    const order = lifecycle("order", {
      initial: "paid",
      states: {
        paid: { run: (step) => step.start(mail, { key: "m", data: { to: "ada" } }), on: { thanked: "done" } },
        done: { final: "success" },
      },
    });
    await using t = await store.open({ lifecycles: [order, mail] });
    await t.pawl.start(order, { key: "o" });
    await t.work();
    expect(sent).toEqual([{ to: "ada" }]);
    expect(await t.pawl.children(order, "o")).toMatchObject({ total: 1, succeeded: 1 });
    expect(await t.pawl.jobs.get(mail, "m")).toBeUndefined();
  });

  test("all reports of a batch that start children are written together", async () => {
    await using t = await open({ notes: 1 });
    await t.pawl.startMany(
      attempt,
      Array.from({ length: 49 }, () => ({ data: { questions: ["q1", "q2"] } })),
    );
    const before = t.faults.visits("transaction.committed");
    await t.work();
    expect(t.faults.visits("transaction.committed") - before).toBe(1);
    expect(await t.pawl.inspect.counts(solve)).toEqual({ checking: 100 });
  });

  test("nothing is lost and nothing doubled when the database goes away on the way", async () => {
    await using t = await open({ notes: 2 });
    const points = ["commit.before", "commit.after", "start.before", "start.after", "transaction.written"] as const;
    for (const point of points) {
      t.faults.plant(point, () => Promise.reject(new PawlError("database_unreachable", "It is gone.")));
      const worker = await t.claim("attempt/preparing");
      await expect(worker.run(), point).rejects.toMatchObject({ code: "database_unreachable" });
      expect(await t.pawl.list(solve), point).toEqual([]);
      expect(await t.pawl.get(attempt, "a"), point).toMatchObject({ state: "preparing" });
      await worker.release();
    }
    await t.work();
    expect(await t.pawl.children(attempt, "a")).toMatchObject({ total: 4 });
    expect(await t.pawl.inspect.verify()).toEqual([]);
  });

  test("a lost reply to the commit that starts children is settled by looking, and starts none twice", async () => {
    await using t = await open({ notes: 2 });
    t.faults.plant("transaction.committed", () => Promise.reject(new PawlError("outcome_unknown", "No reply.")));
    await (await t.claim("attempt/preparing")).run();
    expect(await t.pawl.children(attempt, "a")).toMatchObject({ total: 4 });
    expect((await t.pawl.journal(attempt, "a")).map((move) => move.event).slice(0, 2)).toEqual(["start", "prepared"]);
  });

  const refused: Record<string, [(step: Parameters<NonNullable<typeof plan.during>>[0]) => unknown, string]> = {
    "an unknown lifecycle": [(step) => step.start(attemptWith("wait"), { data: { questions: [] } }), "another value"],
    "no lifecycle at all": [(step) => step.start(undefined as never, undefined as never), "The lifecycle given"],
    "data of the wrong kind": [
      (step) => step.start(solve, { data: { question: 7 } as never }),
      "`solve` was not started",
    ],
    "data that cannot be stored": [
      (step) => step.start(solve, { data: { question: "\u0000" } }),
      "The data of `solve`",
    ],
    "a key that is too long": [
      (step) => step.start(solve, { key: "k".repeat(501), data: { question: "q" } }),
      "The key of a child must be a text of 1 to 500 characters",
    ],
    "a misspelt option": [(step) => step.start(solve, { kye: "k", data: { question: "q" } } as never), "`kye`"],
    "options that are none": [(step) => step.start(note, "k" as never), "takes an object with `key`, `data`"],
  };
  test("a start with bad input is an attempt that failed, and starts nothing", async () => {
    await using t = await open();
    for (const [what, [during, message]] of Object.entries(refused)) {
      const { id } = await t.pawl.start(attempt, { data: { questions: ["q"] } });
      plan.during = during;
      await t.work();
      const history = await t.pawl.history(attempt, { id });
      expect(history.at(-1), what).toMatchObject({
        what: "failed",
        detail: { error: { message: expect.stringContaining(message) } },
      });
    }
    expect(await t.pawl.list(solve)).toEqual([]);
  });

  test("`verify` finds children without a parent, doubles, wrong ends, and joins that nobody will look at", async () => {
    const past = (change: string) =>
      t.db.script(`set session_replication_role = replica; ${change}; set session_replication_role = origin;`);
    await using t = await open();
    await t.work();
    const [q2, q1] = await t.pawl.list(solve);
    const messages = async () =>
      (await t.pawl.inspect.verify()).map((one) => `${one.invariant} ${one.instance} ${one.message}`);
    expect(await messages()).toEqual([]);
    await past(`update pawl.instances set key = 'q1' where id = '${q2!.id}'`);
    expect(await messages()).toEqual([
      `children ${q1!.id} It is a child under the key "q1", and so is ${q2!.id}.`,
      `children ${q2!.id} It is a child under the key "q1", and so is ${q1!.id}.`,
    ]);
    await past(`update pawl.instances set key = 'q2', child_outcome = 'success' where id = '${q2!.id}'`);
    expect(await messages()).toEqual([
      `children ${q2!.id} It is in "checking", and counts as "success" for its parent.`,
    ]);
    await past(`update pawl.instances set child_outcome = 'success' where id = '${q1!.id}'`);
    expect(await messages()).toContain(
      `children ${q1!.parent!.id} Its children have ended, it is in "solving", and it has no open check.`,
    );
    await past(`update pawl.instances set parent_id = '${q2!.id}', child_outcome = null where id = '${q1!.id}'`);
    expect(await messages()).toContain(`children ${q1!.id} It is a child of a "attempt", and its parent is a "solve".`);
    await past(`update pawl.instances set parent_id = gen_random_uuid(), child_outcome = null where id = '${q1!.id}'`);
    expect((await messages())[0]).toMatch(/It is a child of .*, which does not exist/);
  });

  test("a child that is kept for longer than its parent has none any more", async () => {
    const brief = lifecycle("brief", {
      initial: "starting",
      retention: "1d",
      states: {
        starting: { run: (step) => step.start(note, { key: "n" }), on: { started: "done" } },
        done: { final: "success" },
      },
    });
    await using t = await store.open({ lifecycles: [brief, note] });
    const { id } = await t.pawl.start(brief, {});
    await t.work();
    await t.advance("25h");
    await t.db.script(`delete from pawl.instances where id = '${id}'`);
    expect(await t.pawl.list(note)).toMatchObject([{ key: "n", parent: null, state: "open" }]);
    expect(await t.pawl.inspect.verify()).toEqual([]);
  });

  test("whose child an instance is cannot be changed by hand", async () => {
    await using t = await open();
    await t.work();
    for (const change of ["parent_id = id", "parent_run = 7", "child_name = '=x'", "parent_id = null"]) {
      await expect(t.db.script(`update pawl.instances set ${change} where parent_id is not null`)).rejects.toThrow();
    }
    expect(await t.pawl.children(attempt, "a")).toMatchObject({ total: 2 });
  });
});
