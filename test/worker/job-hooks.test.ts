import { job, lifecycle } from "pawl";
import { expect, test } from "vitest";
import { eachStore } from "../support/each-store.ts";

const outcome: { fails: boolean } = { fails: false };
const task = job("task", {
  retry: { maxAttempts: 1, backoff: () => 0 },
  run: () => {
    if (outcome.fails) throw new Error("no ink");
  },
});
const errand = lifecycle("errand", {
  builtIns: false,
  initial: "open",
  states: {
    open: { timeout: { after: "1h", send: "lose" }, on: { finish: "done", lose: "error" } },
    done: { final: "success" },
    error: { final: "failure" },
  },
});

eachStore((store) => {
  test("R99 whatever becomes done or error carries the time of that change, whoever made it", async () => {
    await using t = await store.open({ lifecycles: [task, errand] });
    const ends = async (end: () => Promise<unknown>, read: () => Promise<unknown>, state: string) => {
      const before = t.now();
      await t.advance("5m");
      await end();
      const ended = { state, movedAt: t.now(), closedAt: t.now() };
      expect(await read()).toMatchObject(ended);
      expect(t.now().getTime()).toBeGreaterThan(before.getTime());
    };
    for (const [key, fails] of [
      ["good", false],
      ["bad", true],
    ] as const) {
      await t.pawl.enqueue(task, {}, { key });
      outcome.fails = fails;
      await ends(
        () => t.work(),
        () => t.pawl.get(task, key),
        fails ? "error" : "done",
      );
    }
    await t.pawl.start(errand, { key: "called", data: {} });
    await ends(
      () => t.pawl.send(errand, "called", "finish"),
      () => t.pawl.get(errand, "called"),
      "done",
    );
    await t.pawl.start(errand, { key: "late", data: {} });
    await ends(
      () => t.advance("55m").then(() => t.maintain()),
      () => t.pawl.get(errand, "late"),
      "error",
    );
    // Neither time can be set apart from the move itself.
    await expect(
      t.db.script("update pawl.instances set moved_at = now() - interval '1 day' where key = 'called'"),
    ).rejects.toThrow();
  });
});
