import { constant, job, lifecycle, type Step } from "pawl";
import { expect, test } from "vitest";
import { sql } from "../../src/store/port/db.ts";
import type { TestPawl } from "../../src/testing/test-pawl.ts";
import { eachStore } from "../support/each-store.ts";

const once = { maxAttempts: 1, backoff: constant("1s") };

const part = lifecycle("part", {
  initial: "making",
  recovery: { maxFailures: 2, after: "1m" },
  states: {
    making: { run: async () => {}, retry: once, on: { made: "done" } },
    done: { final: "success" },
  },
});

/** A parent that deals with failed children in one of the ways of a join, and recovers itself once. */
function product(failed: "fail" | "count" | "wait") {
  return lifecycle("product", {
    initial: "planning",
    recovery: { maxFailures: 2, after: "10m" },
    states: {
      planning: { run: startParts, on: { planned: "joining" } },
      joining: { join: { failed }, on: { joined: "built" } },
      built: { final: "success" },
    },
  });
}

async function startParts(step: Step): Promise<void> {
  step.start(part, { key: "wheel" });
}

eachStore((store) => {
  const jammed = new Error("the lathe is jammed");

  async function failedPart(policy: "fail" | "count" | "wait") {
    const alerts: { lifecycle: string; kind: string; message: string; details: Readonly<Record<string, unknown>> }[] =
      [];
    const sink = { name: "kept", send: (alert: (typeof alerts)[number]) => void alerts.push(alert) };
    const parent = product(policy);
    const t = await store.open({ lifecycles: [parent, part], alerts: [sink] });
    await t.pawl.start(parent, { key: "p" });
    await (await t.claim("product/planning")).run();
    await (await t.claim("part/making")).fail(jammed);
    await t.advance("1m");
    await (await t.claim("part/failed")).run();
    await (await t.claim("part/making")).fail(jammed);
    return { t, parent, alerts };
  }

  test("A55 a child that its parent fails by raises no alert; the last failure of the parent does, and names the child", async () => {
    const { t, parent, alerts } = await failedPart("fail");
    await using _ = t;
    await t.work();
    await t.deliverAlerts();
    expect(await t.pawl.get(parent, "p")).toMatchObject({
      state: "failed",
      failure: { reason: "child_failed", state: "joining", error: { name: "ChildFailed" } },
    });
    expect(alerts).toEqual([]);
    expect(await t.pawl.deadLetters.list()).toEqual([]);
    expect((await t.pawl.inspect.overview()).needs.filter(({ what }) => what === "dead_letters")).toEqual([]);
    await t.advance("10m");
    await t.work();
    await t.deliverAlerts();
    expect(alerts).toMatchObject([{ lifecycle: "product", kind: "instance_failed" }]);
    expect(alerts[0]!.message).toBe(
      'product "p" failed in joining for good: recovery exhausted; ChildFailed: child part "wheel" failed in making: Error: the lathe is jammed.',
    );
    expect(alerts[0]!.details).toMatchObject({ child: { lifecycle: "part", key: "wheel" } });
    expect(await t.pawl.deadLetters.list()).toMatchObject([{ lifecycle: "product", reason: "recovery_exhausted" }]);
    expect(await t.pawl.inspect.verify()).toEqual([]);
  });

  test("A55 a child that its parent counts raises no alert and leaves no dead letter", async () => {
    const { t, parent, alerts } = await failedPart("count");
    await using _ = t;
    await t.work();
    await t.deliverAlerts();
    expect(await t.pawl.get(parent, "p")).toMatchObject({ state: "built" });
    expect(alerts).toEqual([]);
    expect(await t.pawl.deadLetters.list()).toEqual([]);
    expect(await t.pawl.inspect.verify()).toEqual([]);
  });

  test("a child that its parent waits for needs a person, and raises an alert", async () => {
    const waiting = await failedPart("wait");
    await using _ = waiting.t;
    await waiting.t.work();
    await waiting.t.deliverAlerts();
    expect(waiting.alerts).toMatchObject([{ lifecycle: "part", kind: "instance_failed" }]);
    expect(await waiting.t.pawl.deadLetters.list()).toMatchObject([{ lifecycle: "part" }]);
  });

  const task = job("task", { retry: once, run: async () => {} });
  const hurried = lifecycle("hurried", {
    initial: "planning",
    states: {
      planning: {
        run: async (step) => {
          for (const key of ["wheel", "axle"]) step.start(part, { key });
          step.start(task, { key: "paint" });
        },
        on: { planned: "working" },
      },
      working: { forever: true, on: { worked: "joining", skip: "built" } },
      joining: {
        join: { failed: "count" },
        timeout: { after: "1h", send: "enough" },
        on: { joined: "built", enough: "testing" },
      },
      testing: { forever: true, on: { tested: "built" } },
      built: { final: "success" },
    },
  });

  /** Two of three children have failed for good, and were left to their parent. */
  async function failedInHurry() {
    const t = await store.open({ lifecycles: [hurried, part, task] });
    await t.pawl.start(hurried, { key: "h" });
    await (await t.claim("hurried/planning")).run();
    const failing = await t.claim("part/making");
    await failing.fail(jammed);
    await t.advance("1m");
    await (await t.claim("part/failed")).run();
    for (const step of ["part/making", "part/making"]) {
      const again = await t.claim(step);
      await (again.id === failing.id ? again.fail(jammed) : again.retryLater("9h"));
    }
    await (await t.claim("task/pending")).fail(jammed);
    expect(await t.pawl.deadLetters.list()).toEqual([]);
    return t;
  }
  const reported = [
    { kind: "instance", status: "open", error: { message: jammed.message } },
    { kind: "instance", status: "open", error: { message: jammed.message } },
  ];

  test("A55 a child that was left to a join is reported when its parent ends without that join", async () => {
    await using t = await failedInHurry();
    await t.pawl.send(hurried, "h", "skip");
    for (let round = 0; round < 3; round++) await t.maintain();
    const letters = await t.pawl.deadLetters.list();
    expect(letters).toMatchObject(reported);
    expect(letters.map(({ lifecycle, reason }) => [lifecycle, reason]).sort()).toEqual([
      ["part", "attempts_used_up"],
      ["task", "attempts_used_up"],
    ]);
    expect(letters.map(({ attempts }) => attempts)).toEqual([1, 1]);
    expect(await t.db.rows(sql`select kind from pawl.alerts`)).toEqual([
      { kind: "instance_failed" },
      { kind: "instance_failed" },
    ]);
    // Each can be decided like any other.
    for (const { id } of letters) await t.pawl.deadLetters.requeue(id);
    await t.work();
    expect((await t.pawl.children(hurried, "h")).succeeded).toBe(2);
    expect(await t.pawl.inspect.verify()).toEqual([]);
  });

  test("A55 a child that was left to a join is reported when a timeout ends that join, once", async () => {
    await using t = await failedInHurry();
    await t.pawl.send(hurried, "h", "worked");
    await t.advance("1h");
    expect(await t.pawl.get(hurried, "h")).toMatchObject({ state: "testing" });
    expect(await t.pawl.deadLetters.list()).toMatchObject(reported);
    for (const { id } of await t.pawl.deadLetters.list()) await t.pawl.deadLetters.discard(id, { actor: "ada" });
    await t.pawl.send(hurried, "h", "tested");
    await t.maintain();
    expect(await t.pawl.deadLetters.list()).toEqual([]);
    expect(await t.pawl.inspect.verify()).toEqual([]);
  });

  /** The failed children that nothing reports and nothing will move. */
  async function silentFailures(t: TestPawl): Promise<number> {
    const rows = await t.db.rows(sql`select id from pawl.instances where state = 'failed' and outcome is null`);
    return rows.length;
  }

  test("failed children of a parent that is discarded or restarted are discarded with it, and not reported", async () => {
    for (const event of ["discard", "restart"] as const) {
      await using t = await failedInHurry();
      expect(await silentFailures(t)).toBe(1);
      await t.pawl.send(hurried, "h", event);
      for (let round = 0; round < 2; round++) await t.maintain();
      expect(await silentFailures(t)).toBe(0);
      const [child] = await t.pawl.list(part, { state: "discarded" });
      expect((await t.pawl.journal(part, { id: child!.id })).at(-1)).toMatchObject({
        event: "discard",
        reason: event === "discard" ? "parent_discarded" : "parent_restarted",
      });
      expect(await t.pawl.deadLetters.list()).toEqual([]);
      expect(await t.db.rows(sql`select id from pawl.alerts`)).toEqual([]);
      expect(await t.db.rows(sql`select id from pawl.checks`)).toEqual([]);
      expect(await t.pawl.inspect.verify()).toEqual([]);
    }
  });

  test("a failed child with a dead letter stays for a person when its parent is restarted", async () => {
    const { t, parent } = await failedPart("wait");
    await using _ = t;
    await t.pawl.send(parent, "p", "restart");
    for (let round = 0; round < 3; round++) await t.maintain();
    expect(await t.pawl.deadLetters.list()).toMatchObject([{ lifecycle: "part", status: "open" }]);
    expect(await silentFailures(t)).toBe(1);
    expect(await t.pawl.inspect.verify()).toEqual([]);
  });

  test("a child that was left to a join is reported when its parent goes on to where there is none, without an end", async () => {
    const roaming = lifecycle("roaming", {
      initial: "planning",
      states: {
        planning: { run: startParts, on: { planned: "working" } },
        working: { forever: true, on: { worked: "joining", stray: "idling" } },
        joining: { join: { failed: "count" }, on: { joined: "built" } },
        idling: { forever: true, on: { leave: "built" } },
        built: { final: "success" },
      },
    });
    await using t = await store.open({ lifecycles: [roaming, part] });
    await t.pawl.start(roaming, { key: "r" });
    await (await t.claim("roaming/planning")).run();
    await (await t.claim("part/making")).fail(jammed);
    await t.advance("1m");
    await (await t.claim("part/failed")).run();
    await (await t.claim("part/making")).fail(jammed);
    await t.maintain();
    expect(await t.pawl.deadLetters.list()).toEqual([]);
    await t.pawl.send(roaming, "r", "stray");
    await t.maintain();
    expect(await t.pawl.deadLetters.list()).toMatchObject([{ lifecycle: "part" }]);
    expect(await t.pawl.inspect.verify()).toEqual([]);
  });

  test("verify finds a failed child that has neither a dead letter nor a parent that will handle it", async () => {
    await using t = await failedInHurry();
    const [child] = await t.pawl.list(part, { state: "failed" });
    await t.pawl.send(hurried, "h", "discard");
    await t.db.rows(sql`delete from pawl.checks`);
    const { id: parent } = (await t.pawl.get(hurried, "h"))!;
    expect(await t.pawl.inspect.verify()).toEqual([
      {
        invariant: "I11",
        instance: child!.id,
        message: `It failed in "making" and was left to its parent ${parent}, which has no join ahead for it, and there is no dead letter.`,
      },
    ]);
  });

  test("a child whose parent was discarded raises an alert of its own", async () => {
    const parent = product("fail");
    await using t = await store.open({ lifecycles: [parent, part] });
    await t.pawl.start(parent, { key: "p" });
    await (await t.claim("product/planning")).run();
    await (await t.claim("part/making")).fail(jammed);
    await t.pawl.send(parent, "p", "discard");
    await t.advance("1m");
    await (await t.claim("part/failed")).run();
    await (await t.claim("part/making")).fail(jammed);
    expect(await t.pawl.deadLetters.list()).toMatchObject([{ lifecycle: "part" }]);
  });
});
