import { lifecycle, type Step } from "pawl";
import { expect, test } from "vitest";
import type { TestPawl } from "../../../src/testing/test-pawl.ts";
import { eachStore } from "../../support/each-store.ts";

const reading: { run: (step: Pick<Step, "progress">) => unknown } = { run: () => {} };

const book = lifecycle("book", {
  initial: "unread",
  states: {
    unread: {
      run: (step) => reading.run(step) as undefined,
      retry: { maxAttempts: 3, backoff: () => 0 },
      on: { read: { to: "read", after: (effect) => reading.run(effect) } },
    },
    read: { forever: true, on: { shelved: "away" } },
    away: { final: "success" },
  },
});

eachStore((store) => {
  async function open(): Promise<TestPawl> {
    const t = await store.open({ lifecycles: [book] });
    await t.pawl.start(book, { key: "b" });
    return t;
  }

  /** Reads until the word has arrived, and shows how the instance stands then. */
  const seen = async (t: TestPawl, wanted: boolean) => {
    for (;;) {
      const found = (await t.pawl.get(book, "b"))!;
      if ((found.progress !== undefined) === wanted) return found;
    }
  };

  test("how far a step is shows while it runs, and no longer", async () => {
    await using t = await open();
    let shown: unknown;
    reading.run = async (step) => {
      step.progress(0.4, "page 12 of 30");
      for (let page = 0; page < 10_000; page++) step.progress(0.9999999999);
      shown = await seen(t, true);
    };
    await (await t.claim("book/unread")).run();
    expect(shown).toMatchObject({ state: "unread", progress: { fraction: 0.4, note: "page 12 of 30", at: t.now() } });
    expect(await t.pawl.get(book, "b")).not.toHaveProperty("progress");
  });

  test("an after-effect's word shows as well, and that of an attempt that is over does not", async () => {
    await using t = await open();
    let shown: unknown;
    reading.run = () => {};
    await (await t.claim("book/unread")).run();
    reading.run = async (effect) => {
      effect.progress(0.5);
      shown = await seen(t, true);
      throw new Error("fell asleep");
    };
    await (await t.claim("book:after")).run();
    expect(shown).toMatchObject({ state: "read", progress: { fraction: 0.5, note: null } });
    expect(await t.pawl.get(book, "b")).not.toHaveProperty("progress");
  });

  test("a worker that lost its lease has no word any more", async () => {
    await using t = await open();
    const slow = await t.claim("book/unread");
    await t.advance("31s");
    const quick = await t.claim("book/unread");
    reading.run = (step) => step.progress(0.1, "slow");
    await expect(slow.run()).rejects.toMatchObject({ code: "lease_lost" });
    reading.run = async (step) => {
      step.progress(0.2, "quick");
      expect(await seen(t, true)).toMatchObject({ progress: { note: "quick" } });
    };
    await quick.run();
  });

  test("what is no fraction is refused; a note that cannot be stored is cleaned", async () => {
    await using t = await store.open({ lifecycles: [book] });
    for (const fraction of [40, -1, Number.NaN, Number.POSITIVE_INFINITY, "0.5" as never]) {
      const { id } = await t.pawl.start(book, {});
      reading.run = (step) => step.progress(fraction);
      await t.work();
      expect((await t.pawl.history(book, { id })).at(-1), String(fraction)).toMatchObject({
        what: "failed",
        detail: { error: { message: expect.stringContaining("a fraction from 0 to 1") } },
      });
    }
    let shown: unknown;
    reading.run = async (step) => {
      step.progress(1 + 1e-9, `\u0000${"x".repeat(1_000)}`);
      shown = await seen(t, true);
    };
    await t.pawl.start(book, { key: "b" });
    await t.work();
    expect(shown).toMatchObject({ progress: { fraction: 1, note: expect.stringMatching(/^\uFFFDx{400,}/) } });
  });
});
