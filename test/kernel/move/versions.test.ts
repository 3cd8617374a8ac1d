import { lifecycle } from "pawl";
import { expect, test } from "vitest";
import { z } from "zod";
import { sql } from "../../../src/store/port/db.ts";
import type { TestPawl } from "../../../src/testing/test-pawl.ts";
import { eachStore } from "../../support/each-store.ts";
import { openSecondProcess } from "../../support/second-process.ts";

const data = z.object({ note: z.string().optional(), notes: z.number().default(0) });
const counting = ({ data: { notes } }: { data: { notes: number } }) => ({ notes: notes + 1 });

/** The first version: written by a worker, then waiting for a person. */
const first = lifecycle("essay", {
  data,
  initial: "drafting",
  on: { noted: { set: counting } },
  states: {
    drafting: { run: (step) => step.set({ note: "by 1" }), on: { drafted: "waiting" } },
    waiting: {
      timeout: [
        { after: "1d", send: "remind" },
        { after: "7d", send: "expire" },
      ],
      on: { remind: { set: counting }, approve: "approved", expire: "expired" },
    },
    approved: { final: "success" },
    expired: { final: "failure" },
  },
});

/** Under the same number it has gained a state and edges. */
const grown = lifecycle("essay", {
  data,
  initial: "drafting",
  on: { noted: { set: counting } },
  states: {
    drafting: {
      run: (step) => {
        step.set({ note: "by 1+" });
        return step.go("drafted");
      },
      on: { drafted: "waiting", skip: "waiting" },
    },
    waiting: {
      timeout: [
        { after: "1d", send: "remind" },
        { after: "7d", send: "expire" },
      ],
      on: { remind: { set: counting }, approve: "approved", expire: "expired", park: "parked" },
    },
    parked: { forever: true, on: { unpark: "waiting" } },
    approved: { final: "success" },
    expired: { final: "failure" },
  },
});

/** Under the same number an edge leads elsewhere. */
const redirected = lifecycle("essay", {
  data,
  initial: "drafting",
  on: { noted: { set: counting } },
  states: {
    drafting: { run: (step) => step.go("drafted"), on: { drafted: "approved", later: "waiting" } },
    waiting: { timeout: { after: "7d", send: "expire" }, on: { remind: {}, approve: "approved", expire: "expired" } },
    approved: { final: "success" },
    expired: { final: "failure" },
  },
});

function second(renamed: Record<string, "writing" | "reviewing" | "done"> | undefined) {
  return lifecycle("essay", {
    data,
    version: 2,
    initial: "writing",
    renamed,
    on: { noted: { set: counting } },
    states: {
      writing: { run: (step) => step.set({ note: "by 2" }), on: { written: "reviewing" } },
      reviewing: {
        timeout: { after: "30d", send: "expire" },
        on: { remind: { set: counting }, accept: "done", expire: "done" },
      },
      done: { final: "success" },
    },
  });
}

const lost = second(undefined);
const renamed = second({ drafting: "writing", waiting: "reviewing", approved: "done", expired: "done" });

eachStore((store) => {
  async function open(): Promise<TestPawl> {
    return store.open({ lifecycles: [first] });
  }
  const lanes = async (t: TestPawl) =>
    (await t.db.rows<{ lane: string }>(sql`select lane from pawl.tasks order by lane`)).map((task) => task.lane);
  const timers = async (t: TestPawl) =>
    (
      await t.db.rows<{ event: string; ms: number }>(
        sql`select event, pawl.ms(due_at) - pawl.ms(pawl.now()) as ms from pawl.timers order by due_at`,
      )
    ).map(({ event, ms }) => `${event} in ${ms / 86_400_000}d`);

  test("the same number may gain states and edges, and goes on with what is there", async () => {
    await using t = await open();
    await t.pawl.start(first, { key: "e", data: {} });
    await using next = await openSecondProcess(t, [grown]);
    await next.work();
    await next.pawl.send(grown, "e", "park");
    await next.pawl.send(grown, "e", "unpark");
    expect(await t.pawl.send(first, "e", "approve")).toMatchObject({
      state: "approved",
      definition: 1,
      data: { note: "by 1+" },
    });
  });

  test("a process of an earlier deploy is welcome back, also after the definition has grown", async () => {
    await using t = await open();
    await using _next = await openSecondProcess(t, [grown]);
    await using back = await openSecondProcess(t, [first]);
    await back.pawl.start(first, { key: "e", data: {} });
    expect(await back.work()).toBe(1);
    await using _again = await openSecondProcess(t, [grown]);
  });

  test("losing or redirecting an edge under the same number is refused, with what is missing and what to do", async () => {
    await using t = await open();
    await using _next = await openSecondProcess(t, [grown]);
    await expect(openSecondProcess(t, [redirected])).rejects.toMatchObject({
      code: "definition_changed",
      message: expect.stringMatching(/version 1 lacks .*drafting -drafted-> waiting.* raise `version` to 2/),
      details: { lifecycle: "essay", version: 1, lost: expect.arrayContaining(["waiting -park-> parked"]) },
    });
    // It left nothing: who was there before goes on.
    await t.pawl.start(first, { key: "e", data: {} });
    expect(await t.work()).toBe(1);
  });

  test("a new version without a state in which live instances stand is refused, with how many stand where", async () => {
    await using t = await open();
    await t.pawl.startMany(first, [{ data: {} }, { data: {} }, { key: "e", data: {} }]);
    await t.work();
    await t.pawl.start(first, { data: {} });
    const refusal = {
      code: "states_removed",
      message: expect.stringMatching(
        /no place for live instances: 1 in `drafting`, 3 in `waiting`.*`renamed: \{ drafting: "…" \}`/,
      ),
      details: {
        stranded: [
          { lifecycle: "essay", state: "drafting", instances: 1 },
          { lifecycle: "essay", state: "waiting", instances: 3 },
        ],
      },
    };
    await expect(openSecondProcess(t, [lost])).rejects.toMatchObject(refusal);
    await expect(openSecondProcess(t, [lost])).rejects.toMatchObject(refusal);
    expect(await t.pawl.send(first, "e", "approve")).toMatchObject({ definition: 1 });
  });

  test("who has ended does not stand in the way of a new version, and stays as it ended", async () => {
    await using t = await open();
    await t.pawl.start(first, { key: "e", data: {} });
    await t.work();
    await t.pawl.send(first, "e", "approve");
    await using next = await openSecondProcess(t, [lost]);
    expect(await next.pawl.get(lost, "e")).toMatchObject({ state: "approved", outcome: "success", definition: 1 });
    expect(await next.pawl.list(lost)).toHaveLength(1);
    await expect(next.pawl.send(lost, "e", "accept")).rejects.toMatchObject({ code: "transition_refused" });
  });

  test("each start looks again whether someone stands where the new version has no place", async () => {
    await using t = await open();
    await using _next = await openSecondProcess(t, [lost]);
    await t.pawl.start(first, { key: "e", data: {} });
    await expect(openSecondProcess(t, [lost])).rejects.toMatchObject({ code: "states_removed" });
    await using _renamed = await openSecondProcess(t, [renamed]);
  });

  test("under a new name an instance goes on: the journal says so, and its timers are as they were", async () => {
    await using t = await open();
    await t.pawl.start(first, { key: "e", data: {} });
    await t.work();
    await t.advance("2d");
    expect(await timers(t)).toEqual(["expire in 5d"]);
    await using next = await openSecondProcess(t, [renamed]);
    expect(await next.pawl.get(renamed, "e")).toMatchObject({ state: "reviewing", version: 3, definition: 1 });
    expect(await next.pawl.inspect.counts(renamed)).toEqual({ reviewing: 1 });
    expect(await next.pawl.list(renamed, { state: "reviewing" })).toHaveLength(1);
    expect(await next.pawl.inspect.metrics()).toMatch(/pawl_instances\{[^}]*state="reviewing"[^}]*\} 1/);
    expect(await next.pawl.inspect.metrics()).not.toMatch(/pawl_instances\{[^}]*state="waiting"/);
    expect(await next.pawl.allowedEvents(renamed, "e")).toContainEqual({ event: "accept", permitted: "yes" });
    await next.pawl.send(renamed, "e", "noted");
    expect(await timers(t)).toEqual(["expire in 5d"]);
    expect((await next.pawl.journal(renamed, "e")).slice(-2)).toMatchObject([
      { version: 4, event: "rename", from: "waiting", to: "reviewing", source: "pawl", definition: 2, patch: null },
      { version: 5, event: "noted", from: "reviewing", to: "reviewing", source: "call", definition: 2 },
    ]);
    await next.advance("5d");
    expect(await next.pawl.get(renamed, "e")).toMatchObject({ state: "done", version: 6 });
    expect(await next.pawl.inspect.counts(renamed)).toEqual({ done: 1 });
  });

  test("a timer that fell due meanwhile comes first, under the new name", async () => {
    await using t = await open();
    await t.pawl.start(first, { key: "e", data: {} });
    await t.work();
    await using next = await openSecondProcess(t, [renamed]);
    await next.advance("1d");
    expect((await next.pawl.journal(renamed, "e")).slice(2)).toMatchObject([
      { event: "rename", from: "waiting", to: "reviewing" },
      { event: "remind", source: "timer", from: "reviewing" },
    ]);
    expect(await timers(t)).toEqual(["expire in 6d"]);
  });

  test("the work of a state with a new name is done by the new version's workers, in its lane", async () => {
    await using t = await open();
    await t.pawl.startMany(first, [
      { key: "e", data: {} },
      { key: "f", data: {} },
    ]);
    expect(await lanes(t)).toEqual(["essay@1/drafting", "essay@1/drafting"]);
    await using next = await openSecondProcess(t, [renamed]);
    expect(await next.pawl.list(renamed, { state: "writing" })).toHaveLength(2);
    await next.pawl.send(renamed, "f", "noted");
    expect(await lanes(t)).toEqual(["essay@1/drafting", "essay@2/writing"]);
    expect(await next.work()).toBe(2);
    for (const key of ["e", "f"]) {
      expect(await next.pawl.get(renamed, key)).toMatchObject({ state: "reviewing", data: { note: "by 2" } });
      const journal = await next.pawl.journal(renamed, key);
      expect(journal.filter((move) => move.event === "rename")).toHaveLength(1);
      expect(journal.at(-1)).toMatchObject({ event: "written", source: "worker", definition: 2 });
    }
    expect(await timers(t)).toEqual(["expire in 30d", "expire in 30d"]);
  });

  test("a step under way when its state is renamed has lost its lease, and is run again by the new version", async () => {
    await using t = await open();
    await t.pawl.start(first, { key: "e", data: {} });
    const old = await t.claim("essay/drafting");
    await using next = await openSecondProcess(t, [renamed]);
    await next.pawl.send(renamed, "e", "noted");
    await expect(old.report("drafted")).rejects.toMatchObject({ code: "lease_lost" });
    expect(await next.work()).toBe(1);
    expect(await next.pawl.get(renamed, "e")).toMatchObject({ state: "reviewing", data: { note: "by 2", notes: 1 } });
  });

  test("the step of a worker that died under the old name is run again under the new one", async () => {
    await using t = await open();
    await t.pawl.start(first, { key: "e", data: {} });
    await t.claim("essay/drafting");
    await using next = await openSecondProcess(t, [renamed]);
    await next.advance("31s");
    expect(await next.work()).toBe(1);
    expect(await next.pawl.get(renamed, "e")).toMatchObject({ state: "reviewing" });
  });

  test("an after-effect of the old version is carried out by the new one, under its names", async () => {
    const told: string[] = [];
    const after = () => void told.push("told");
    const parts = { forever: true, on: { send: { to: "sent", after } } } as const;
    const old = lifecycle("post", { initial: "open", states: { open: parts, sent: { final: "success" } } });
    const now = lifecycle("post", {
      version: 2,
      renamed: { open: "ready" },
      initial: "ready",
      states: { ready: parts, sent: { final: "success" } },
    });
    await using t = await store.open({ lifecycles: [old] });
    await t.pawl.start(old, { key: "p" });
    await t.pawl.send(old, "p", "send");
    await using next = await openSecondProcess(t, [now]);
    expect(await next.work()).toBe(1);
    expect(told).toEqual(["told"]);
  });

  test("what has ended under an old name is shown by the new one, and can be restarted there", async () => {
    await using t = await open();
    await t.pawl.start(first, { key: "e", data: {} });
    await t.work();
    await t.pawl.send(first, "e", "expire");
    await using next = await openSecondProcess(t, [renamed]);
    expect(await next.pawl.get(renamed, "e")).toMatchObject({ state: "done", outcome: "failure", version: 3 });
    expect(await next.pawl.wait(renamed, "e", { until: "done" })).toMatchObject({ state: "done" });
    expect(await next.pawl.send(renamed, "e", "restart")).toMatchObject({ state: "writing", outcome: null });
    expect(await next.work()).toBe(1);
  });

  test("what failed under an old name recovers under the new one, in the same visit", async () => {
    await using t = await open();
    await t.pawl.start(first, { key: "e", data: {} });
    await t.work();
    await t.pawl.send(first, "e", "fail");
    await using next = await openSecondProcess(t, [renamed]);
    expect(await next.pawl.send(renamed, "e", "recover")).toMatchObject({ state: "reviewing", definition: 2 });
    const [row] = await t.db.rows<{ visit: number }>(sql`select visit from pawl.instances`);
    expect(row).toEqual({ visit: 2 });
  });

  test("a process whose definition has not grown leaves instances in a new state, and their timers, to those that have it", async () => {
    const without = lifecycle("visit", {
      initial: "open",
      states: { open: { forever: true, on: { leave: "gone" } }, gone: { final: "success" } },
    });
    const withIt = lifecycle("visit", {
      initial: "open",
      states: {
        open: { forever: true, on: { leave: "gone", wait: "waiting" } },
        waiting: { timeout: { after: "1h", send: "leave" }, on: { leave: "gone" } },
        gone: { final: "success" },
      },
    });
    await using t = await store.open({ lifecycles: [without] });
    await using grownOne = await openSecondProcess(t, [withIt]);
    await grownOne.pawl.start(withIt, { key: "v" });
    await grownOne.pawl.send(withIt, "v", "wait");
    await t.advance("2h");
    await t.maintain();
    expect(await t.pawl.get(without, "v")).toMatchObject({ state: "waiting" });
    await expect(t.pawl.send(without, "v", "leave")).rejects.toMatchObject({
      code: "state_undeclared",
      fault: "environment",
      message: expect.stringMatching(/is in state `waiting`, which version 1 of `visit` in this process does not have/),
    });
    expect((await grownOne.maintain()).fired).toBe(1);
    expect(await t.pawl.get(without, "v")).toMatchObject({ state: "gone", outcome: "success" });
    expect(await t.pawl.inspect.verify()).toEqual([]);
  });

  test("an old process refuses to move what a newer definition moved, and goes on with all else", async () => {
    await using t = await open();
    await t.pawl.startMany(first, [
      { key: "old", data: {} },
      { key: "new", data: {} },
    ]);
    await t.work();
    await using next = await openSecondProcess(t, [renamed]);
    await next.pawl.send(renamed, "new", "noted");
    const refusal = {
      code: "definition_newer",
      message: expect.stringMatching(/version 2 of `essay`, and this process has version 1. Upgrade/),
    };
    await expect(t.pawl.send(first, "new", "approve")).rejects.toMatchObject(refusal);
    await expect(t.pawl.allowedEvents(first, "new")).rejects.toMatchObject({ code: "definition_newer" });
    const sent = await t.pawl.sendMany(first, [
      { to: "new", event: "approve" },
      { to: "old", event: "approve" },
    ]);
    expect(sent).toMatchObject([
      { ok: false, error: refusal },
      { ok: true, instance: { state: "approved" } },
    ]);
    await t.pawl.transaction(async (tx) => {
      await expect(t.pawl.send(first, "new", "approve", { tx })).rejects.toMatchObject({ code: "definition_newer" });
    });
    expect(await t.pawl.get(first, "new")).toMatchObject({ state: "reviewing", definition: 2 });
  });

  test("an old process leaves to the new one what is due, and says nothing of it as a failure", async () => {
    await using t = await open();
    await t.pawl.startMany(first, [
      { key: "old", data: {} },
      { key: "new", data: {} },
    ]);
    await t.work();
    await using next = await openSecondProcess(t, [renamed]);
    await next.pawl.send(renamed, "new", "noted");
    await t.advance("8d");
    expect(await t.maintain()).toMatchObject({ newer: 1, failures: [] });
    expect(await t.pawl.get(first, "old")).toMatchObject({ state: "expired" });
    expect(await next.pawl.get(renamed, "new")).toMatchObject({ state: "reviewing" });
    await next.maintain();
    expect(await next.pawl.get(renamed, "new")).toMatchObject({ state: "done" });
  });

  test("an event that stays, sent by the new version, takes the work of the instance over", async () => {
    const keeps = lifecycle("essay", {
      data,
      version: 2,
      initial: "drafting",
      renamed: { waiting: "reviewing", expired: "done", approved: "done" },
      on: { noted: { set: counting } },
      states: {
        drafting: { run: (step) => step.set({ note: "by 2" }), on: { drafted: "reviewing" } },
        reviewing: { forever: true, on: { accept: "done" } },
        done: { final: "success" },
      },
    });
    await using t = await open();
    await t.pawl.startMany(first, [
      { key: "held", data: {} },
      { key: "lies", data: {} },
    ]);
    const held = await t.claim("essay/drafting");
    await using next = await openSecondProcess(t, [keeps]);
    for (const key of ["held", "lies"]) await next.pawl.send(keeps, key, "noted");
    expect(await lanes(t)).toEqual(["essay@2/drafting", "essay@2/drafting"]);
    await expect(held.report("drafted")).rejects.toMatchObject({ code: "lease_lost" });
    expect(await t.work()).toBe(0);
    expect(await next.work()).toBe(2);
    expect(await next.pawl.inspect.counts(keeps)).toEqual({ reviewing: 2 });
  });

  test("two versions side by side share the work: each instance ends, moved by no older one than before", async () => {
    await using t = await open();
    await using next = await openSecondProcess(t, [renamed]);
    const olds = await t.pawl.startMany(
      first,
      Array.from({ length: 20 }, (_, index) => ({ key: `a${index}`, data: {} })),
    );
    await next.pawl.startMany(
      renamed,
      Array.from({ length: 20 }, (_, index) => ({ key: `b${index}`, data: {} })),
    );
    // Each claims what it can; the older one never gets what is not its own.
    await Promise.all([t.work(), next.work()]);
    await next.work();
    const all = await next.pawl.list(renamed, { state: "reviewing" });
    expect(all).toHaveLength(40);
    for (const one of all.filter((each) => each.key!.startsWith("b")))
      expect(one).toMatchObject({ definition: 2, data: { note: "by 2" } });
    await next.pawl.send(renamed, olds[0]!, "accept");
    await Promise.all(
      all.map(async (one, index) => {
        const byOld =
          index % 2 === 0 && one.definition === 1
            ? await t.pawl.trySend(first, one, "approve").catch(() => undefined)
            : undefined;
        if (byOld?.ok !== true) await next.pawl.trySend(renamed, one, "accept");
      }),
    );
    expect(await next.pawl.list(renamed, { state: "done", limit: 100 })).toHaveLength(40);
    const [strays] = await t.db.rows<{ count: number }>(sql`
      select count(*)::int as count from pawl.journal as move
      join pawl.journal as earlier on earlier.instance_id = move.instance_id and earlier.version = move.version - 1
      where move.definition < earlier.definition`);
    expect(strays).toEqual({ count: 0 });
  });

  test("how long ended instances are kept may change under the same number", async () => {
    const kept = (retention: "7d" | "30d" | undefined) =>
      lifecycle("slip", {
        retention,
        initial: "open",
        states: { open: { forever: true, on: { shut: "shut" } }, shut: { final: "success" } },
      });
    await using t = await store.open({ lifecycles: [kept("7d")] });
    const keep = async () =>
      (
        await t.db.rows<{ keep: string | null }>(
          sql`select (extract(epoch from keep_closed) / 86400)::text as keep from pawl.lifecycles`,
        )
      ).map(({ keep: days }) => (days === null ? null : Number(days)));
    expect(await keep()).toEqual([7]);
    await using _next = await openSecondProcess(t, [kept("30d")]);
    expect(await keep()).toEqual([30]);
    await using _forever = await openSecondProcess(t, [kept(undefined)]);
    expect(await keep()).toEqual([null]);
  });
});
