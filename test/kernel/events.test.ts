import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { setImmediate } from "node:timers/promises";
import { lifecycle, type MovedEvent, PermanentError } from "pawl";
import { expect, test } from "vitest";
import { z } from "zod";
import type { TestPawl } from "../../src/testing/test-pawl.ts";
import { eachStore } from "../support/each-store.ts";

const child = lifecycle("child", {
  initial: "open",
  states: { open: { forever: true, on: { shut: "over" } }, over: { final: "success" } },
});

const order = lifecycle("order", {
  data: z.object({ total: z.number().default(0) }),
  initial: "open",
  states: {
    open: { forever: true, on: { pay: "packing", hold: { to: "packing", before: () => {} } } },
    packing: {
      run: (step) => {
        if (step.data.total < 0) throw new PermanentError("nothing to pack");
        step.start(child, { key: "c" });
      },
      on: { packed: "done" },
    },
    done: { final: "success" },
  },
});

eachStore((store) => {
  async function open(): Promise<{ t: TestPawl; seen: string[] }> {
    const t = await store.open({ lifecycles: [order, child] });
    const seen: string[] = [];
    const told = ({ lifecycle: name, key, event, from, to, version }: MovedEvent) =>
      `${name} ${key}: ${event} ${from} ${to} ${version}`;
    t.pawl.on("moved", (event) => seen.push(told(event)));
    t.pawl.on("failed", (event) => seen.push(`failed ${event.key} in ${event.from}`));
    t.pawl.on("deadLettered", (event) => seen.push(`dead ${event.key} in ${event.state}: ${event.reason}`));
    t.pawl.on("alert", (event) => seen.push(`alert ${event.kind} ${event.key}`));
    return { t, seen };
  }

  test("what a process commits is announced once, each instance's moves in their order: starts, moves, children, failures", async () => {
    const { t, seen } = await open();
    await using _ = t;
    await t.pawl.start(order, { key: "a", data: {} });
    await t.pawl.start(order, { key: "a", data: {} });
    await t.pawl.send(order, "a", "pay", { actor: "ada" });
    await t.work();
    await t.pawl.start(order, { key: "b", data: { total: -1 } });
    await t.pawl.send(order, "b", "hold");
    await t.work();
    await setImmediate();
    expect(seen).toEqual([
      "order a: start null open 1",
      "order a: pay open packing 2",
      "child c: start null open 1",
      "order a: packed packing done 3",
      "order b: start null open 1",
      "order b: hold open packing 2",
      "order b: fail packing failed 3",
      "failed b in packing",
      "dead b in packing: permanent_error",
      "alert instance_failed b",
    ]);
  });

  test("a transaction is announced when it is committed, and not at all when it is rolled back", async () => {
    const { t, seen } = await open();
    await using _ = t;
    const work = async (fails: boolean) => {
      await t.pawl.transaction(async (tx) => {
        await t.pawl.start(order, { key: fails ? "x" : "y", data: {}, tx });
        await t.pawl.send(order, fails ? "x" : "y", "pay", { tx });
        await setImmediate();
        expect(seen).toEqual([]);
        if (fails) throw new Error("no");
      });
    };
    await expect(work(true)).rejects.toThrow("no");
    await work(false);
    await setImmediate();
    expect(seen).toEqual(["order y: start null open 1", "order y: pay open packing 2"]);
  });

  test("a listener that throws, rejects or never ends harms nothing; one that is removed hears no more", async () => {
    const { t, seen } = await open();
    await using _ = t;
    t.pawl.on("moved", () => {
      throw new Error("no");
    });
    t.pawl.on("moved", () => Promise.reject(new Error("no")));
    t.pawl.on("moved", () => new Promise(() => {}));
    const heard: unknown[] = [];
    const off = t.pawl.on("moved", ({ id }) => heard.push(id));
    const { id } = await t.pawl.start(order, { key: "a", data: {} });
    await setImmediate();
    off();
    await t.pawl.send(order, "a", "pay");
    await setImmediate();
    expect(heard).toEqual([id]);
    expect(seen).toHaveLength(2);
    expect(() => t.pawl.on("move" as never, () => {})).toThrow(/needs one of "moved", "failed"/);
    expect(() => t.pawl.on("moved", undefined as never)).toThrow(/and a function/);
  });

  test("the same is published on diagnostics channels", async () => {
    const { t } = await open();
    await using _ = t;
    const heard: unknown[] = [];
    const hear = (message: unknown) => void heard.push(message);
    subscribe("pawl:moved", hear);
    const { id } = await t.pawl.start(order, { key: "a", data: {} });
    await setImmediate();
    unsubscribe("pawl:moved", hear);
    expect(heard).toMatchObject([{ lifecycle: "order", id, key: "a", event: "start", from: null, to: "open" }]);
  });
});
