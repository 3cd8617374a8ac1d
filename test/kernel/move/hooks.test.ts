import { lifecycle } from "pawl";
import { expect, test } from "vitest";
import { z } from "zod";
import type { TestPawl } from "../../../src/testing/test-pawl.ts";
import { eachStoreAndPooler } from "../../support/each-store.ts";

const seen: string[] = [];

interface Queries {
  query(text: string): Promise<{ rows: unknown[] }>;
}
/** What a test asks from within the hooks of an order. */
const probes: { before?: (tx: unknown) => Promise<void>; after?: () => Promise<void> } = {};

const order = lifecycle("order", {
  data: z.object({ amount: z.number(), effects: z.number().default(0) }),
  events: { pay: z.object({ sum: z.number() }) },
  initial: "open",
  states: {
    open: {
      timeout: { after: "1d", send: "lapse" },
      on: {
        pay: {
          to: "paid",
          guard: ({ data, payload }) => {
            seen.push("guard");
            return payload.sum >= data.amount || "too little";
          },
          set: ({ payload }) => {
            seen.push("set");
            return { amount: payload.sum };
          },
          before: async ({ tx, payload, id }) => {
            seen.push("before");
            await probes.before?.(tx);
            await tx.query("insert into ledger (id, sum) values ($1, $2)", [id, payload.sum]);
            if (payload.sum === 13) throw new Error("the bank says no");
          },
          after: async (effect) => {
            seen.push(`after ${effect.attempt} ${(effect.payload as { sum: number }).sum}`);
            await probes.after?.();
            if (effect.attempt === 1) throw new Error("the mail server is down");
          },
        },
        lapse: {
          to: "lapsed",
          before: async ({ tx, id }) => {
            await tx.query("insert into ledger (id, sum) values ($1, 0)", [id]);
          },
        },
      },
    },
    paid: { final: "success" },
    lapsed: { final: "failure" },
  },
});

const nested = lifecycle("nested", {
  data: z.object({ order: z.string() }),
  initial: "open",
  states: {
    open: { forever: true, on: { pay: { to: "done", before: ({ tx, data }) => hooks.pay?.(tx, data.order) } } },
    done: { final: "success" },
  },
});
const hooks: { pay?: (tx: unknown, order: string) => Promise<unknown> } = {};

function fail(message: string): never {
  throw new Error(message);
}

eachStoreAndPooler((store) => {
  async function open(): Promise<TestPawl> {
    const t = await store.open({ lifecycles: [order, nested] });
    await t.db.script("create table public.ledger (id uuid, sum int)");
    await t.pawl.start(order, { key: "o", data: { amount: 5 } });
    seen.length = 0;
    delete probes.before;
    delete probes.after;
    return t;
  }
  const ledger = async (t: TestPawl) => (await t.pawl.transaction((tx) => tx.query("select sum from ledger"))).rows;

  test("R2 an event is checked, then its before-hook runs, then the state is changed and saved, then its after-effect runs, and the call answers whether it went", async () => {
    await using t = await open();
    // What others see of the order, and what its own transaction sees, at each point.
    const stateSeen = async () => (await t.pawl.get(order, "o"))!.state;
    const trace: string[] = [];
    probes.before = async (tx) => {
      const { rows } = await (tx as Queries).query("select state from pawl.instances where key = 'o'");
      trace.push(`before: ${(rows[0] as { state: string }).state}`);
    };
    probes.after = async () => void trace.push(`after: ${await stateSeen()}`);
    // Not allowed: nothing runs, nothing changes, and the answer is no.
    const refused = await t.pawl.trySend(order, "o", "pay", { sum: 1 });
    expect(refused.ok).toBe(false);
    expect([...new Set(seen)]).toEqual(["guard"]);
    expect(trace).toEqual([]);
    expect(await stateSeen()).toBe("open");
    expect(await t.work()).toBe(0);
    // Its before-hook throws: nothing was changed or saved, and no after-effect comes.
    await expect(t.pawl.trySend(order, "o", "pay", { sum: 13 })).rejects.toMatchObject({ code: "hook_failed" });
    expect(await stateSeen()).toBe("open");
    expect(await t.work()).toBe(0);
    // Allowed: each in its turn, and the answer is yes.
    seen.length = 0;
    trace.length = 0;
    const sent = await t.pawl.trySend(order, "o", "pay", { sum: 7 });
    expect(sent).toMatchObject({ ok: true, instance: { state: "paid", data: { amount: 7 } } });
    expect(trace).toEqual(["before: open"]);
    expect(await ledger(t)).toEqual([{ sum: 7 }]);
    expect(seen.lastIndexOf("guard")).toBeLessThan(seen.indexOf("before"));
    expect(seen.filter((word) => word === "before")).toHaveLength(1);
    expect(seen).not.toContain("after 1 7");
    await t.work();
    expect(seen.at(-1)).toBe("after 1 7");
    expect(trace).toEqual(["before: open", "after: paid"]);
  });

  test("a before-hook that throws leaves nothing behind", async () => {
    await using t = await open();
    await expect(t.pawl.send(order, "o", "pay", { sum: 13 })).rejects.toMatchObject({
      code: "hook_failed",
      message: expect.stringContaining("the bank says no"),
    });
    expect(await ledger(t)).toEqual([]);
    expect(await t.pawl.get(order, "o")).toMatchObject({ state: "open", version: 1, data: { amount: 5 } });
    expect(await t.pawl.send(order, "o", "pay", { sum: 6 })).toMatchObject({ state: "paid" });
  });

  test("A54 a call whose before-hook, guard or set throws gets the error, and the history of its instance tells of it", async () => {
    const parcel = lifecycle("parcel", {
      initial: "open",
      states: {
        open: {
          forever: true,
          on: {
            weigh: { to: "open", guard: () => fail("the scale is gone") },
            label: { to: "open", set: () => fail("the printer is gone") },
            hand: { to: "open", before: async () => fail("the door is gone") },
            drop: { to: "open", guard: () => "not from here" },
            close: "closed",
          },
        },
        closed: { final: "success" },
      },
    });
    await using t = await store.open({ lifecycles: [parcel] });
    await t.pawl.startMany(parcel, [{ key: "p" }, { key: "q" }]);
    const codes = {
      weigh: "guard_failed",
      label: "set_failed",
      hand: "hook_failed",
      drop: "transition_refused",
    } as const;
    const events = ["weigh", "label", "hand", "drop"] as const;
    const actor = "ada";
    for (const event of events)
      await expect(t.pawl.send(parcel, "p", event, { actor })).rejects.toMatchObject({ code: codes[event] });
    // A batch, and a transaction that goes on without what failed in it.
    const sent = await Promise.allSettled(events.map((event) => t.pawl.send(parcel, "q", event, { actor })));
    expect(sent.map((one) => one.status)).toEqual(events.map(() => "rejected"));
    await t.pawl.transaction(async (tx) => {
      await expect(t.pawl.send(parcel, "q", "hand", { tx, actor })).rejects.toMatchObject({ code: "hook_failed" });
    });
    const noted = events.slice(0, 3).map((event) => ({
      what: "failed",
      lane: null,
      detail: {
        event,
        source: "call",
        actor,
        reason: codes[event],
        error: { message: expect.stringContaining("is gone") },
      },
    }));
    const notesOf = async (key: string) => {
      const history = await t.pawl.history(parcel, key);
      return history.filter((one) => one.kind === "attempt");
    };
    expect(await notesOf("p")).toMatchObject(noted);
    const ofBatch = (await notesOf("q")).map((one) => (one.detail as { event: string }).event);
    expect(ofBatch.sort()).toEqual(["hand", "hand", "label", "weigh"]);
    expect(await t.pawl.inspect.verify()).toEqual([]);
    expect(await t.pawl.send(parcel, "p", "close")).toMatchObject({ state: "closed", version: 2 });
  });

  test("a refused event runs no hook", async () => {
    await using t = await open();
    await expect(t.pawl.send(order, "o", "pay", { sum: 1 })).rejects.toMatchObject({ code: "transition_refused" });
    expect(seen).not.toContain("before");
  });

  test("a timer's hook runs in the transaction of its move", async () => {
    await using t = await open();
    await t.advance("1d");
    expect(await t.pawl.get(order, "o")).toMatchObject({ state: "lapsed" });
    expect(await ledger(t)).toEqual([{ sum: 0 }]);
  });

  test("R34 an after-effect is a task of its own, seen only once the new state is saved, and retried on its own", async () => {
    await using t = await open();
    await expect(t.claim("order:after")).rejects.toThrow("Nothing is ready");
    await t.pawl.send(order, "o", "pay", { sum: 7 });
    expect(await t.work()).toBe(1);
    expect(await t.pawl.get(order, "o")).toMatchObject({ state: "paid", outcome: "success" });
    await t.advance("10s");
    expect(await t.work()).toBe(1);
    expect(seen.slice(-2)).toEqual(["after 1 7", "after 2 7"]);
    await t.advance("1d");
    expect(await t.work()).toBe(0);
    const history = await t.pawl.history(order, "o");
    expect(history.filter((one) => one.kind === "attempt").map((one) => one.what)).toEqual([
      "claimed",
      "failed",
      "claimed",
    ]);
  });

  test("R31 the application's callback and the engine's own work are tasks apart: each fails and is repeated alone", async () => {
    const calls = { callback: 0, work: 0 };
    const review = lifecycle("review", {
      initial: "open",
      states: {
        open: {
          forever: true,
          on: {
            decide: {
              to: "closing",
              after: () => {
                calls.callback += 1;
                if (calls.callback < 3) throw new Error("the application is down");
              },
            },
          },
        },
        closing: {
          run: () => {
            calls.work += 1;
            if (calls.work < 2) throw new Error("the marketplace is down");
          },
          on: { closed: "done" },
        },
        done: { final: "success" },
      },
    });
    await using t = await store.open({ lifecycles: [review] });
    await t.pawl.start(review, { key: "r" });
    await t.pawl.send(review, "r", "decide");
    await t.work();
    expect(calls).toEqual({ callback: 1, work: 1 });
    await t.advance("1m"); // The work succeeds at its second try, while the callback still fails.
    await t.work();
    expect(await t.pawl.get(review, "r")).toMatchObject({ state: "done" });
    expect(calls).toEqual({ callback: 2, work: 2 });
    await t.advance("1m");
    await t.work();
    expect(calls).toEqual({ callback: 3, work: 2 });
    await t.advance("1d");
    expect(await t.work()).toBe(0);
  });

  test("a hook moves other instances in its own transaction, with its tx", async () => {
    await using t = await open();
    await t.pawl.start(nested, { key: "n", data: { order: "o" } });
    hooks.pay = (tx, key) => t.pawl.send(order, key, "pay", { sum: 9 }, { tx: tx as never });
    await t.pawl.send(nested, "n", "pay");
    expect(await t.pawl.get(order, "o")).toMatchObject({ state: "paid" });
    expect(await ledger(t)).toEqual([{ sum: 9 }]);
  });

  test("a call without tx inside a hook is refused instead of waiting for itself", async () => {
    await using t = await open();
    await t.pawl.start(nested, { key: "n", data: { order: "o" } });
    for (const call of [
      () => t.pawl.send(order, "o", "pay", { sum: 9 }),
      () => t.pawl.start(order, { data: { amount: 1 } }),
      () => t.pawl.get(order, "o"),
      () => t.pawl.list(order),
      () => t.pawl.transaction(async () => {}),
    ]) {
      hooks.pay = call;
      const refused = t.pawl.send(nested, "n", "pay");
      await expect(refused).rejects.toMatchObject({ code: "hook_failed", cause: { code: "transaction_required" } });
    }
    expect(await t.pawl.get(nested, "n")).toMatchObject({ state: "open", version: 1 });
  });

  test("many sends of which some have a hook: each gets its own answer", async () => {
    await using t = await open();
    await t.pawl.startMany(
      order,
      Array.from({ length: 20 }, (_, index) => ({ key: `m${index}`, data: { amount: 5 } })),
    );
    const sent = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        t.pawl.trySend(order, `m${index}`, "pay", { sum: index }).catch((error) => error.code),
      ),
    );
    const answers = sent.map((one) => (typeof one === "string" ? one : one.ok ? one.instance.state : one.error.code));
    expect(answers).toEqual(
      Array.from({ length: 20 }, (_, index) =>
        index < 5 ? "transition_refused" : index === 13 ? "hook_failed" : "paid",
      ),
    );
    expect(await ledger(t)).toHaveLength(14);
  });
});
