import { lifecycle, type TransactionLike } from "pawl";
import { expect, test } from "vitest";
import { z } from "zod";
import { CapturedLog } from "../../support/captured-log.ts";
import { eachStore } from "../../support/each-store.ts";

/** What throws, changed by the tests. */
const broken = { guard: false, set: false, hook: false };

const order = lifecycle("order", {
  data: z.object({ paid: z.number().default(0), note: z.string().optional() }),
  events: { shipped: z.object({ parcel: z.string() }) },
  initial: "open",
  deadline: { within: "1h", late: "accept" },
  states: {
    open: {
      on: {
        shipped: {
          to: "shipped",
          guard: () => {
            if (broken.guard) throw new Error("the guard is broken");
            return true;
          },
          set: ({ payload }) => {
            if (broken.set) throw new Error("the set is broken");
            return { note: payload.parcel };
          },
        },
        charged: {
          to: "charged",
          before: async ({ tx, id }) => {
            await tx.query("insert into charges (id) values ($1)", [id]);
            if (broken.hook) throw new Error("the bank is gone");
          },
        },
        pay: { to: "open", set: ({ data }) => ({ paid: data.paid + 1 }) },
        asked: "asking",
      },
    },
    asking: { run: () => {}, on: { answered_there: "open" } },
    charged: { forever: true, on: { shipped: "shipped" } },
    shipped: { final: "success" },
  },
});

eachStore((store) => {
  async function open() {
    Object.assign(broken, { guard: false, set: false, hook: false });
    const log = new CapturedLog();
    const t = await store.open({ lifecycles: [order], logger: log });
    await t.db.script("create table if not exists public.charges (id uuid); truncate public.charges");
    await t.pawl.start(order, { key: "o" });
    const receive = (dedupe = "r") =>
      t.pawl.receive(order, "o", "shipped", { parcel: `parcel of ${dedupe}` }, { dedupeKey: dedupe });
    const charge = (dedupe = "c") => t.pawl.receive(order, "o", "charged", { dedupeKey: dedupe });
    const failures = async () =>
      (await t.pawl.history(order, "o")).filter((one) => "what" in one && one.what === "failed");
    const get = async () => (await t.pawl.get(order, "o"))!;
    return { t, log, receive, charge, failures, get };
  }

  for (const part of ["guard", "set", "hook"] as const) {
    test(`a callback whose ${part} throws is retried with a backoff, and ends refused with a dead letter and one alert`, async () => {
      const { t, log, receive, charge, failures } = await open();
      await using _ = t;
      broken[part] = true;
      const stored = await (part === "hook" ? charge() : receive());
      expect(stored).toMatchObject({ accepted: true, status: "waiting", reason: expect.stringMatching(/broken|gone/) });
      expect(await failures()).toHaveLength(1);
      // Its pause is not over: no round tries it.
      for (let round = 0; round < 3; round++) expect((await t.maintain()).matched).toBe(0);
      expect(await failures()).toHaveLength(1);
      await t.advance("3s");
      expect(await failures()).toHaveLength(2);
      await t.advance("1m");
      expect((await failures()).map((one) => "attempt" in one && one.attempt)).toEqual([1, 2, 3, 4]);
      expect(await t.pawl.callbacks.get(stored.id)).toMatchObject({
        status: "refused",
        reason: expect.stringMatching(/broken|gone/),
      });
      expect(await t.pawl.deadLetters.list()).toMatchObject([
        {
          kind: "effect",
          reason: "event_failed",
          attempts: 4,
          details: { event: part === "hook" ? "charged" : "shipped", source: "callback", callback: stored.id },
          error: { message: expect.stringMatching(/broken|gone/) },
        },
      ]);
      await t.advance("30m");
      expect(await failures()).toHaveLength(4);
      expect(log.lines.filter(({ level }) => level === "warn")).toHaveLength(3);
      expect(log.lines.filter(({ level }) => level === "error")).toMatchObject([{ fields: { alert: "event_failed" } }]);
      expect((await t.pawl.transaction((tx) => tx.query("select id from charges"))).rows).toEqual([]);
      expect(await t.pawl.inspect.verify()).toEqual([]);
    });
  }

  test("a callback that is given up is applied by a requeue, as it came in time, also after the deadline", async () => {
    const { t, receive, get } = await open();
    await using _ = t;
    broken.set = true;
    const { id, receivedAt } = await receive();
    await t.advance("1m");
    expect(await t.pawl.callbacks.get(id)).toMatchObject({ status: "refused" });
    await t.advance("2h");
    expect(await get()).toMatchObject({ state: "failed" });
    broken.set = false;
    const [letter] = (await t.pawl.deadLetters.list()).filter(({ reason }) => reason === "event_failed");
    await t.pawl.deadLetters.requeue(letter!.id);
    await t.work();
    expect(await get()).toMatchObject({ state: "shipped", data: { note: "parcel of r" } });
    expect(await t.pawl.callbacks.get(id)).toMatchObject({ status: "applied", late: false, receivedAt });
    expect(await t.pawl.inspect.verify()).toEqual([]);
  });

  test("a requeue that fails again is retried as often, and leaves another dead letter", async () => {
    const { t, receive, failures } = await open();
    await using _ = t;
    broken.guard = true;
    const { id } = await receive();
    await t.advance("1m");
    const [letter] = await t.pawl.deadLetters.list();
    await t.pawl.deadLetters.requeue(letter!.id);
    await t.work();
    expect(await t.pawl.callbacks.get(id)).toMatchObject({ status: "waiting" });
    await t.advance("1m");
    expect((await failures()).map((one) => "attempt" in one && one.attempt)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    const letters = await t.pawl.deadLetters.list();
    expect(letters).toMatchObject([{ attempts: 8 }]);
    expect(letters[0]!.id).not.toBe(letter!.id);
    expect(await t.pawl.inspect.verify()).toEqual([]);
  });

  test("a callback that fails keeps no other callback, event, report or timer from its instance", async () => {
    const { t, receive, charge, get } = await open();
    await using _ = t;
    broken.guard = true;
    broken.hook = true;
    await receive("first");
    await charge();
    await t.pawl.send(order, "o", "asked", { after: "10m" });
    expect(await t.pawl.send(order, "o", "pay")).toMatchObject({ data: { paid: 1 } });
    await t.pawl.transaction((tx) => t.pawl.send(order, "o", "pay", { tx }));
    await t.advance("10m");
    expect(await get()).toMatchObject({ state: "asking", data: { paid: 2 } });
    await t.work();
    expect(await get()).toMatchObject({ state: "open" });
    broken.guard = false;
    expect(await receive("second")).toMatchObject({ status: "applied" });
    expect(await get()).toMatchObject({ state: "shipped", data: { note: "parcel of second" } });
    expect(await t.pawl.inspect.verify()).toEqual([]);
  });

  test("a callback whose hook throws while its caller's event, or a due one, comes after it fails for itself", async () => {
    const { t, charge, get, failures } = await open();
    await using _ = t;
    t.faults.plant("receive.stored", "throw");
    await expect(charge()).rejects.toThrow();
    await t.pawl.send(order, "o", "pay", { after: "10s" });
    broken.hook = true;
    // No maintenance: the call itself meets both.
    await t.db.script("update pawl.test_clock set now = now + interval '10 seconds'");
    expect(await t.pawl.send(order, "o", "pay")).toMatchObject({ data: { paid: 2 } });
    expect(await failures()).toHaveLength(1);
    broken.hook = false;
    await t.advance("1m");
    expect(await get()).toMatchObject({ state: "charged" });
  });

  test("a callback that was refused for good reasons has no dead letter, and one that waits for its state no failures", async () => {
    const { t, receive, failures } = await open();
    await using _ = t;
    await t.pawl.send(order, "o", "asked");
    broken.guard = true;
    expect(await receive()).toMatchObject({ status: "waiting", reason: null });
    await t.advance("5m");
    expect(await failures()).toEqual([]);
    expect(await t.pawl.deadLetters.list()).toEqual([]);
  });

  test("a hook of a callback that moves its own instance fails, and is not repeated for ever", async () => {
    const move: { itself?: (id: string, tx: TransactionLike) => Promise<unknown> } = {};
    const own = lifecycle("self_mover", {
      initial: "open",
      states: {
        open: {
          forever: true,
          on: {
            noted: {},
            go: { to: "done", before: ({ tx, id }) => move.itself!(id, tx) },
          },
        },
        done: { final: "success" },
      },
    });
    await using t = await store.open({ lifecycles: [own] });
    const { pawl } = t;
    move.itself = (id, tx) => pawl.send(own, { id }, "noted", { tx });
    await pawl.start(own, { key: "s" });
    expect(await pawl.receive(own, "s", "go", { dedupeKey: "g" })).toMatchObject({ status: "waiting" });
    await t.advance("1m");
    expect(await pawl.callbacks.list({ lifecycle: own, instance: "s" })).toMatchObject([{ status: "refused" }]);
    expect(await pawl.deadLetters.list()).toMatchObject([{ reason: "event_failed", attempts: 4 }]);
    expect(await pawl.inspect.verify()).toEqual([]);
  });
});
