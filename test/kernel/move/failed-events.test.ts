import { lifecycle } from "pawl";
import { expect, test } from "vitest";
import { z } from "zod";
import { KeptLog } from "../../support/captured-log.ts";
import { eachStore } from "../../support/each-store.ts";

/** What the guard and the hooks throw at, changed by the tests. */
const broken = { guard: true, hook: true };

const invoice = lifecycle("invoice", {
  data: z.object({ paid: z.number().default(0) }),
  initial: "open",
  states: {
    open: {
      forever: true,
      on: {
        remind: {
          to: "reminded",
          guard: () => {
            if (broken.guard) throw new Error("the calendar is gone");
            return true;
          },
        },
        charge: {
          to: "paid",
          before: async ({ tx, id }) => {
            await tx.query("insert into charges (id) values ($1)", [id]);
            if (broken.hook) throw new Error("the bank is gone");
          },
        },
        pay: { to: "open", set: ({ data }) => ({ paid: data.paid + 1 }) },
      },
    },
    reminded: { forever: true, on: { pay: "paid" } },
    paid: { final: "success" },
  },
});

const offer = lifecycle("offer", {
  initial: "open",
  states: {
    open: {
      timeout: { after: "1h", send: "lapse" },
      on: {
        lapse: {
          to: "lapsed",
          guard: () => {
            throw new Error("no idea");
          },
        },
        accept: "accepted",
      },
    },
    lapsed: { final: "failure" },
    accepted: { final: "success" },
  },
});

eachStore((store) => {
  async function open() {
    broken.guard = true;
    broken.hook = true;
    const log = new KeptLog();
    const t = await store.open({ lifecycles: [invoice, offer], logger: log });
    await t.db.script("create table if not exists public.charges (id uuid); truncate public.charges");
    await t.pawl.start(invoice, { key: "i" });
    return { t, log };
  }

  test("A54 a delayed event whose guard throws is retried four times and ends as a dead letter with the error", async () => {
    const { t, log } = await open();
    await using _ = t;
    await t.pawl.send(invoice, "i", "remind", { after: "1h" });
    await t.advance("1h");
    expect(await t.pawl.deadLetters.list()).toEqual([]);
    expect(log.lines).toMatchObject([
      { level: "warn", fields: { event: "remind", attempt: 1 }, message: expect.stringContaining("calendar is gone") },
    ]);
    await t.advance("1m");
    const [letter, ...others] = await t.pawl.deadLetters.list();
    expect(others).toEqual([]);
    expect(letter).toMatchObject({
      kind: "effect",
      reason: "event_failed",
      attempts: 4,
      error: { message: expect.stringContaining("the calendar is gone") },
      payload: [{ event: "remind" }],
    });
    const history = await t.pawl.history(invoice, "i");
    const failures = history.filter((entry) => "what" in entry && entry.what === "failed");
    expect(failures.map((entry) => "attempt" in entry && entry.attempt)).toEqual([1, 2, 3, 4]);
    expect(failures[0]).toMatchObject({
      detail: { event: "remind", reason: "event_failed", error: { message: expect.stringContaining("calendar") } },
    });
    const overview = await t.pawl.inspect.overview();
    expect(overview.needs.map(({ what }) => what)).toContain("dead_letters");
    // Nothing is left that would be tried again.
    await t.advance("1d");
    expect(await t.pawl.deadLetters.list()).toHaveLength(1);
    expect(log.lines.filter(({ level }) => level === "error")).toMatchObject([{ fields: { alert: "event_failed" } }]);
  });

  test("a delayed event whose guard holds again is delivered once, and what comes from its call is not sent twice", async () => {
    const { t } = await open();
    await using _ = t;
    await t.pawl.send(invoice, "i", "remind", { after: "1h" });
    await t.advance("1h");
    broken.guard = false;
    await t.advance("1m");
    expect(await t.pawl.get(invoice, "i")).toMatchObject({ state: "reminded" });
    expect(await t.pawl.deadLetters.list()).toEqual([]);
  });

  test("a due event that throws keeps no other event from its instance", async () => {
    const { t } = await open();
    await using _ = t;
    for (const event of ["remind", "charge"] as const) {
      await t.pawl.send(invoice, "i", event, { after: "1h" });
    }
    // No maintenance: the call itself meets what is due.
    await t.db.script("update pawl.test_clock set now = now + interval '1 hour'");
    expect(await t.pawl.send(invoice, "i", "pay")).toMatchObject({ state: "open", data: { paid: 1 } });
    await t.pawl.transaction(async (tx) => {
      expect(await t.pawl.send(invoice, "i", "pay", { tx })).toMatchObject({ data: { paid: 2 } });
    });
    expect((await t.pawl.transaction((tx) => tx.query("select id from charges"))).rows).toEqual([]);
    const failures = (await t.pawl.history(invoice, "i")).filter((entry) => "what" in entry);
    // Both happened in the same moment, in which their order says nothing.
    const events = failures.map((entry) => [entry.what, (entry.detail as { event: string }).event]);
    expect(events.toSorted()).toEqual([
      ["failed", "charge"],
      ["failed", "remind"],
    ]);
  });

  test("A54 a `before` hook that throws when its time has come is rolled back, retried and given up; a requeue delivers it", async () => {
    const { t } = await open();
    await using _ = t;
    await t.pawl.send(invoice, "i", "charge", { after: "1h" });
    await t.advance("1h");
    await t.advance("1m");
    const [letter] = await t.pawl.deadLetters.list();
    expect(letter).toMatchObject({ reason: "event_failed", error: { code: "hook_failed" } });
    broken.hook = false;
    await t.pawl.deadLetters.requeue(letter!.id);
    await t.work();
    expect(await t.pawl.get(invoice, "i")).toMatchObject({ state: "paid" });
    expect(await t.pawl.deadLetters.list()).toEqual([]);
  });

  test("the timeout of a state that throws ends as a dead letter, and goes with its visit", async () => {
    const { t } = await open();
    await using _ = t;
    await t.pawl.start(offer, { key: "stays" });
    await t.pawl.start(offer, { key: "goes" });
    await t.advance("1h");
    await t.pawl.send(offer, "goes", "accept");
    await t.advance("1m");
    expect(await t.pawl.deadLetters.list()).toMatchObject([{ lifecycle: "offer", reason: "event_failed" }]);
    expect(await t.pawl.get(offer, "goes")).toMatchObject({ state: "accepted" });
  });
});
