import { lifecycle } from "pawl";
import { expect, test } from "vitest";
import { z } from "zod";
import { CapturedLog } from "../../support/captured-log.ts";
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

/** An event of the same name ends the waits of two states. */
const bid = lifecycle("bid", {
  initial: "asked",
  states: {
    asked: {
      timeout: { after: "1h", send: "expire" },
      on: {
        answer: "offered",
        expire: {
          to: "lost",
          guard: () => {
            if (broken.guard) throw new Error("the calendar is gone");
            return true;
          },
        },
      },
    },
    offered: { timeout: { after: "30d", send: "expire" }, on: { expire: "lost", accept: "won", withdraw: "asked" } },
    won: { final: "success" },
    lost: { final: "failure" },
  },
});

eachStore((store) => {
  async function open() {
    broken.guard = true;
    broken.hook = true;
    const log = new CapturedLog();
    const t = await store.open({ lifecycles: [invoice, offer, bid], logger: log });
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

  test("the dead letter of a state's timeout is decided when its visit ends, and by whom", async () => {
    const { t } = await open();
    await using _ = t;
    for (const key of ["goes on", "ends", "is discarded"]) await t.pawl.start(bid, { key });
    await t.advance("1h");
    await t.advance("1m");
    expect(await t.pawl.deadLetters.list({ status: "open" })).toHaveLength(3);
    await t.pawl.send(bid, "goes on", "answer", { actor: "ada" });
    await t.pawl.send(bid, "ends", "answer");
    await t.pawl.send(bid, "ends", "accept");
    await t.pawl.send(bid, "is discarded", "discard");
    const letters = await t.pawl.deadLetters.list({ status: "discarded" });
    expect(letters.find(({ key }) => key === "goes on")).toMatchObject({
      decidedBy: "ada",
      decision: "`answer` came first",
    });
    expect(letters).toHaveLength(3);
    expect(await t.pawl.deadLetters.tickets.list()).toEqual([]);
    expect(await t.pawl.inspect.verify()).toEqual([]);
  });

  test("a timeout that is requeued does not end a later visit", async () => {
    const { t } = await open();
    await using _ = t;
    for (const key of ["stays", "goes on", "comes back"]) await t.pawl.start(bid, { key });
    await t.advance("1h");
    await t.advance("1m");
    broken.guard = false;
    // It has been requeued, and its instance goes on before a worker delivers it.
    for (const { id } of await t.pawl.deadLetters.list({ status: "open" })) await t.pawl.deadLetters.requeue(id);
    await t.pawl.send(bid, "goes on", "answer");
    await t.pawl.send(bid, "comes back", "answer");
    await t.pawl.send(bid, "comes back", "withdraw");
    await t.work();
    expect(await t.pawl.get(bid, "stays")).toMatchObject({ state: "lost" });
    expect(await t.pawl.get(bid, "goes on")).toMatchObject({ state: "offered" });
    expect(await t.pawl.get(bid, "comes back")).toMatchObject({ state: "asked" });
    expect((await t.pawl.history(bid, "goes on")).at(-1)).toMatchObject({
      what: "refused",
      detail: { refused: [{ blockers: [{ reason: "It was meant for an earlier visit of its instance." }] }] },
    });
    expect(await t.pawl.deadLetters.list({ status: "open" })).toEqual([]);
  });

  test("the dead letter of a delayed event outlives the visit, and is decided when the run ends or begins anew", async () => {
    const { t } = await open();
    await using _ = t;
    await t.pawl.start(invoice, { key: "j" });
    for (const key of ["i", "j"]) await t.pawl.send(invoice, key, "remind", { after: "1h" });
    await t.advance("1h");
    await t.advance("1m");
    await t.pawl.send(invoice, "i", "pay"); // Enters its state anew.
    expect(await t.pawl.deadLetters.list({ status: "open" })).toHaveLength(2);
    broken.hook = false;
    await t.pawl.send(invoice, "i", "charge");
    await t.pawl.send(invoice, "j", "fail");
    await t.pawl.send(invoice, "j", "restart");
    expect(await t.pawl.deadLetters.list({ status: "open" })).toEqual([]);
    expect((await t.pawl.deadLetters.list({ status: "discarded" })).map(({ decision }) => decision)).toEqual(
      expect.arrayContaining(["`charge` came first", "`restart` came first"]),
    );
    expect(await t.pawl.inspect.verify()).toEqual([]);
  });

  test("of a requeued event that fails once more the last dead letter is decided with the visit, too", async () => {
    const { t } = await open();
    await using _ = t;
    await t.pawl.start(bid, { key: "b" });
    await t.advance("1h");
    await t.advance("1m");
    await t.pawl.deadLetters.requeue((await t.pawl.deadLetters.list())[0]!.id);
    for (let attempt = 0; attempt < 4; attempt++) {
      await t.work();
      await t.advance("1m");
    }
    expect(await t.pawl.deadLetters.list({ status: "open" })).toMatchObject([{ reason: "guard_failed" }]);
    await t.pawl.send(bid, "b", "answer");
    expect(await t.pawl.deadLetters.list({ status: "open" })).toEqual([]);
  });

  test("an event that is given up with the move that ends its visit leaves neither dead letter nor alert", async () => {
    const { t, log } = await open();
    await using _ = t;
    await t.pawl.start(bid, { key: "b" });
    await t.advance("1h");
    await t.advance("8s");
    const failures = (await t.pawl.history(bid, "b")).filter((one) => "what" in one && one.what === "failed");
    expect(failures).toHaveLength(3);
    // No maintenance: the call itself meets the last failure.
    await t.db.script("update pawl.test_clock set now = now + interval '1 minute'");
    expect(await t.pawl.send(bid, "b", "answer")).toMatchObject({ state: "offered" });
    expect((await t.pawl.history(bid, "b")).filter((one) => "what" in one && one.what === "failed")).toHaveLength(4);
    expect(await t.pawl.deadLetters.list()).toEqual([]);
    expect(log.lines.filter(({ level }) => level === "error")).toEqual([]);
  });
});
