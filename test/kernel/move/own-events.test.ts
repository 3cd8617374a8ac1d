import { lifecycle, queue } from "pawl";
import { expect, test } from "vitest";
import { z } from "zod";
import type { TestPawl } from "../../../src/testing/test-pawl.ts";
import { started } from "../../people/labeling.ts";
import { CapturedLog } from "../../support/captured-log.ts";
import { eachStore } from "../../support/each-store.ts";

/** What the definitions throw at, changed by the tests. */
const broken = { guard: false, hook: false, answer: false };

const page = lifecycle("page", {
  initial: "open",
  states: { open: { forever: true, on: { close: "closed" } }, closed: { final: "success" } },
});

const book = lifecycle("book", {
  data: z.object({ notes: z.number().default(0) }),
  initial: "starting",
  states: {
    starting: { run: (step) => step.start(page, { key: "p" }), on: { started: "joining" } },
    joining: {
      join: {},
      on: {
        joined: {
          to: "done",
          guard: () => {
            if (broken.guard) throw new Error("the calendar is gone");
            return true;
          },
          before: async ({ tx, id }) => {
            await tx.query("insert into joins (id) values ($1)", [id]);
            if (broken.hook) throw new Error("the bank is gone");
          },
        },
        note: { to: "joining", set: ({ data }) => ({ notes: data.notes + 1 }) },
      },
    },
    done: { final: "success" },
  },
});

const words = queue("words", { label: z.object({ word: z.string() }), labelers: ["ada"] });

const scan = lifecycle("scan", {
  data: z.object({ word: z.string().default("") }),
  initial: "asking",
  states: {
    asking: {
      ask: { queue: words, sample: () => ({ text: "…" }) },
      timeout: { after: "30d", send: "fail" },
      on: {
        answered: {
          to: "read",
          set: ({ payload }) => {
            if (broken.answer) throw new Error("the dictionary is gone");
            return { word: payload.consensus.word };
          },
        },
        unanswered: "read",
      },
    },
    read: { final: "success" },
  },
});

eachStore((store) => {
  async function open(breaks: Partial<typeof broken>) {
    Object.assign(broken, { guard: false, hook: false, answer: false }, breaks);
    const log = new CapturedLog();
    const t = await store.open({ lifecycles: [page, book, scan], logger: log });
    await t.db.script("create table if not exists public.joins (id uuid); truncate public.joins");
    return { t, log };
  }

  /** A book whose only page has ended, and which has been checked. */
  async function join(t: TestPawl): Promise<void> {
    await t.pawl.start(book, { key: "b" });
    await t.work();
    const { first } = await t.pawl.children(book, "b");
    await t.pawl.send(page, { id: first[0]!.id }, "close");
    await t.maintain();
  }

  async function failures(t: TestPawl, of: typeof book | typeof scan, key: string) {
    const history = await t.pawl.history(of as typeof book, key);
    return history.filter((entry) => entry.kind === "attempt" && entry.what === "failed");
  }

  for (const [what, breaks, error] of [
    ["guard", { guard: true }, "the calendar is gone"],
    ["`before` hook", { hook: true }, "the bank is gone"],
  ] as const) {
    test(`a \`joined\` whose ${what} throws is retried with pauses and ends as one dead letter, which a requeue delivers`, async () => {
      const { t, log } = await open(breaks);
      await using _ = t;
      await join(t);
      // However often maintenance runs, it is not tried again before its time.
      for (let round = 0; round < 5; round++) await t.maintain();
      expect(await failures(t, book, "b")).toMatchObject([
        { attempt: 1, detail: { event: "joined", source: "pawl", reason: "event_failed" } },
      ]);
      expect(await t.pawl.inspect.verify()).toEqual([]);
      await t.advance("1m");
      await t.advance("1d");
      expect((await failures(t, book, "b")).map((one) => "attempt" in one && one.attempt)).toEqual([1, 2, 3, 4]);
      const [letter, ...others] = await t.pawl.deadLetters.list();
      expect(others).toEqual([]);
      expect(letter).toMatchObject({
        reason: "event_failed",
        attempts: 4,
        error: { message: expect.stringContaining(error) },
        payload: [{ event: "joined", payload: { total: 1 } }],
      });
      expect(log.lines.filter(({ level }) => level === "error")).toMatchObject([{ fields: { alert: "event_failed" } }]);
      expect(await t.pawl.inspect.verify()).toEqual([]);
      Object.assign(broken, { guard: false, hook: false });
      await t.pawl.deadLetters.requeue(letter!.id);
      await t.work();
      expect(await t.pawl.get(book, "b")).toMatchObject({ state: "done" });
      const { rows } = await t.pawl.transaction((tx) => tx.query("select id from joins"));
      expect(rows).toHaveLength(1);
    });
  }

  test("a `joined` that throws keeps no call from its instance, and moves it once its guard holds again", async () => {
    const { t } = await open({ guard: true });
    await using _ = t;
    await join(t);
    expect(await t.pawl.send(book, "b", "note")).toMatchObject({ state: "joining", data: { notes: 1 } });
    broken.guard = false;
    await t.advance("1m");
    expect(await t.pawl.get(book, "b")).toMatchObject({ state: "done", data: { notes: 1 } });
    const journal = await t.pawl.journal(book, "b");
    expect(journal.at(-1)).toMatchObject({ event: "joined", source: "pawl", payload: { total: 1 } });
    expect(await t.pawl.deadLetters.list()).toEqual([]);
    expect(await t.pawl.inspect.verify()).toEqual([]);
  });

  test("an `answered` whose `set` throws is retried with pauses and ends as one dead letter, which a requeue delivers", async () => {
    const { t, log } = await open({ answer: true });
    await using _ = t;
    await t.pawl.start(scan, { key: "s" });
    await t.maintain();
    const { id } = await started(t, "words", "ada");
    await t.pawl.people.submit(id, "ada", { word: "owl" });
    for (let round = 0; round < 5; round++) await t.maintain();
    expect(await failures(t, scan, "s")).toMatchObject([{ attempt: 1, detail: { event: "answered", source: "pawl" } }]);
    await t.advance("1m");
    await t.advance("1d");
    const [letter, ...others] = await t.pawl.deadLetters.list();
    expect(others).toEqual([]);
    expect(letter).toMatchObject({ lifecycle: "scan", reason: "event_failed", attempts: 4 });
    expect(log.lines.filter(({ level }) => level === "error")).toMatchObject([{ fields: { alert: "event_failed" } }]);
    broken.answer = false;
    await t.pawl.deadLetters.requeue(letter!.id);
    await t.work();
    expect(await t.pawl.get(scan, "s")).toMatchObject({ state: "read", data: { word: "owl" } });
    expect(await t.pawl.inspect.verify()).toEqual([]);
  });
});
