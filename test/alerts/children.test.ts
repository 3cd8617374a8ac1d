import { constant, lifecycle, type Step } from "pawl";
import { expect, test } from "vitest";
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
    await t.tellAlerts();
    expect(await t.pawl.get(parent, "p")).toMatchObject({
      state: "failed",
      failure: { reason: "child_failed", state: "joining", error: { name: "ChildFailed" } },
    });
    expect(alerts).toEqual([]);
    expect(await t.pawl.deadLetters.list()).toEqual([]);
    expect((await t.pawl.inspect.overview()).needs.filter(({ what }) => what === "dead_letters")).toEqual([]);
    await t.advance("10m");
    await t.work();
    await t.tellAlerts();
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
    await t.tellAlerts();
    expect(await t.pawl.get(parent, "p")).toMatchObject({ state: "built" });
    expect(alerts).toEqual([]);
    expect(await t.pawl.deadLetters.list()).toEqual([]);
    expect(await t.pawl.inspect.verify()).toEqual([]);
  });

  test("a child that its parent waits for needs a person, and raises an alert", async () => {
    const waiting = await failedPart("wait");
    await using _ = waiting.t;
    await waiting.t.work();
    await waiting.t.tellAlerts();
    expect(waiting.alerts).toMatchObject([{ lifecycle: "part", kind: "instance_failed" }]);
    expect(await waiting.t.pawl.deadLetters.list()).toMatchObject([{ lifecycle: "part" }]);
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
