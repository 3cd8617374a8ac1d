import { lifecycle } from "pawl";
import { expect, test } from "vitest";
import type { TestPawl } from "../../../src/testing/test-pawl.ts";
import { eachStore } from "../../support/each-store.ts";
import { attemptWith, note, plan, solve } from "../../support/family.ts";

const attempt = attemptWith("count");

eachStore((store) => {
  async function open(): Promise<TestPawl> {
    plan.during = undefined;
    const t = await store.open({ lifecycles: [attempt, solve, note] });
    await t.pawl.start(attempt, { key: "a", data: { questions: ["q1", "q2"], notes: 1 } });
    await t.work();
    return t;
  }

  const ways: Record<string, (t: TestPawl) => Promise<unknown>> = {
    discarded: (t) => t.pawl.send(attempt, "a", "discard"),
    restarted: (t) => t.pawl.send(attempt, "a", "restart"),
    ended: async (t) => {
      await t.pawl.send(attempt, "a", "skip");
      await t.pawl.send(attempt, "a", "finish");
    },
  };
  for (const [how, end] of Object.entries(ways)) {
    test(`when a parent is ${how}, its open children get the event that they have for it, and no other`, async () => {
      await using t = await open();
      const [q2, q1] = await t.pawl.list(solve);
      const [other] = await t.pawl.list(note);
      await t.pawl.send(solve, { id: q1!.id }, "verdict", { score: 1 });
      await end(t);
      await t.work();
      expect(await t.pawl.get(solve, { id: q1!.id })).toMatchObject({ state: "checked" });
      expect(await t.pawl.get(solve, { id: q2!.id })).toMatchObject({ state: "called_off" });
      expect(await t.pawl.get(note, { id: other!.id })).toMatchObject({ state: "open" });
      expect((await t.pawl.journal(solve, { id: q2!.id })).at(-1)).toMatchObject({
        event: "call_off",
        source: "pawl",
        actor: `attempt:${q2!.parent!.id}`,
      });
      // A restarted parent has started new ones meanwhile, which go on.
      expect(await t.pawl.inspect.counts(solve)).toEqual({
        checked: 1,
        called_off: 1,
        ...(how === "restarted" ? { checking: 2 } : {}),
      });
      expect(await t.pawl.inspect.verify()).toEqual([]);
    });
  }

  test("a parent that fails has not ended: its children go on, and a recovery finds them", async () => {
    await using t = await open();
    await t.pawl.send(attempt, "a", "fail");
    await t.work();
    expect(await t.pawl.inspect.counts(solve)).toEqual({ checking: 2 });
  });

  test("a child that does not take the event keeps that in its history, and nobody else is held up", async () => {
    await using t = await open();
    const [q2, q1] = await t.pawl.list(solve);
    await t.pawl.send(solve, { id: q2!.id }, "fail");
    await t.pawl.send(solve, { id: q2!.id }, "resubmit");
    await t.pawl.send(solve, { id: q1!.id }, "fail");
    await t.pawl.send(attempt, "a", "discard");
    await t.work();
    expect(await t.pawl.get(solve, { id: q2!.id })).toMatchObject({ state: "called_off" });
    // In `failed` for good it has ended for its parent, and is not asked: nobody would deal with it any more.
    expect(await t.pawl.get(solve, { id: q1!.id })).toMatchObject({ state: "discarded" });
    expect(await t.pawl.inspect.verify()).toEqual([]);
  });

  test("children's children are called off in their turn", async () => {
    const leaf = lifecycle("leaf", {
      initial: "growing",
      onParentEnd: "fall",
      states: { growing: { forever: true, on: { fall: "fallen" } }, fallen: { final: "success" } },
    });
    const twig = lifecycle("twig", {
      initial: "sprouting",
      onParentEnd: "discard",
      states: {
        sprouting: { run: (step) => step.start(leaf), on: { sprouted: "green" } },
        green: { forever: true, on: { cut: "gone" } },
        gone: { final: "success" },
      },
    });
    const tree = lifecycle("tree", {
      initial: "sprouting",
      states: {
        sprouting: { run: (step) => step.start(twig), on: { sprouted: "green" } },
        green: { forever: true, on: { felled: "gone" } },
        gone: { final: "success" },
      },
    });
    await using t = await store.open({ lifecycles: [tree, twig, leaf] });
    await t.pawl.start(tree, { key: "t" });
    await t.work();
    await t.pawl.send(tree, "t", "felled");
    await t.work();
    expect(await t.pawl.inspect.counts(twig)).toEqual({ discarded: 1 });
    expect(await t.pawl.inspect.counts(leaf)).toEqual({ fallen: 1 });
  });

  test("children that an after-effect starts when the run is over are called off at once", async () => {
    const visit = lifecycle("visit", {
      initial: "waiting",
      states: {
        waiting: {
          forever: true,
          on: {
            called: {
              after: (effect) => {
                effect.start(solve, { key: "late", data: { question: "l" } });
                effect.start(note, { key: "cleaning" });
              },
            },
            left: "over",
          },
        },
        over: { final: "success" },
      },
    });
    await using t = await store.open({ lifecycles: [visit, solve, note] });
    for (const end of ["discard", "restart"] as const) {
      const { id } = await t.pawl.start(visit, {});
      await t.pawl.send(visit, { id }, "called");
      if (end === "restart") await t.pawl.send(visit, { id }, "left");
      await t.pawl.send(visit, { id }, end);
      await t.work();
      expect(await t.pawl.list(solve, { parent: { id } }), end).toMatchObject([{ key: "late", state: "called_off" }]);
      expect(await t.pawl.list(note, { parent: { id } }), end).toMatchObject([{ key: "cleaning", state: "open" }]);
    }
    expect(await t.pawl.inspect.verify()).toEqual([]);
  });

  test("a thousand open children are told in batches", async () => {
    await using t = await store.open({ lifecycles: [attempt, solve, note] });
    const questions = Array.from({ length: 1_100 }, (_, place) => `q${place}`);
    await t.pawl.start(attempt, { key: "a", data: { questions } });
    await t.work();
    await t.pawl.send(attempt, "a", "discard");
    const before = t.faults.visits("commit.before");
    await t.work();
    expect(t.faults.visits("commit.before") - before).toBe(3);
    expect(await t.pawl.inspect.counts(solve)).toEqual({ called_off: 1_100 });
  });
});
