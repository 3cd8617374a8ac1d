import { type AnyLifecycle, lifecycle } from "pawl";
import { explore, testPawl } from "pawl/testing";
import { expect, test } from "vitest";

const done = { final: "success" } as const;

/** Where an instance is after a time in which all ready work is done and everything due happens. */
async function stateAfter(one: AnyLifecycle, days: number): Promise<{ state: string; events: string[] }> {
  await using t = await testPawl({ lifecycles: [one] });
  await t.pawl.start(one, { key: "x" } as never);
  for (let day = 0; day < days; day++) {
    await t.work();
    await t.advance("1d");
  }
  const { state } = (await t.pawl.get(one, "x"))!;
  return { state, events: (await t.pawl.journal(one, "x")).map(({ event }) => event) };
}

test("what `explore` says of a timeout with a guard is what the engine does: it fires once, is refused, and the wait goes on", async () => {
  const one = lifecycle("one", {
    initial: "waiting",
    states: {
      waiting: { timeout: { after: "1h", send: "expire" }, on: { expire: { to: "done", guard: () => "not yet" } } },
      done,
    },
  });
  expect(explore(one).findings).toMatchObject([{ code: "exit_guarded", severity: "error" }]);
  expect((await stateAfter(one, 10)).state).toBe("waiting");
});

test("what `explore` says of a caught failure that leads back is what the engine does: it goes round and is never given up", async () => {
  const one = lifecycle("one", {
    initial: "charging",
    states: {
      charging: { run: (step) => step.giveUp("no money"), on: { charged: "done", fail: "resting" } },
      resting: { timeout: { after: "12h", send: "again" }, on: { again: "charging" } },
      done,
    },
  });
  const [finding] = explore(one).findings;
  expect(finding).toMatchObject({ code: "loop_unbounded", severity: "error" });
  const { events } = await stateAfter(one, 10);
  expect(events.filter((event) => event === "fail").length).toBeGreaterThan(5);
});

test("what `explore` says of a recovery behind the deadline is what the engine does: a person is asked at once", async () => {
  const one = lifecycle("one", {
    initial: "charging",
    deadline: { within: "10m" },
    recovery: { maxFailures: 3, after: "10m" },
    states: { charging: { run: (step) => step.giveUp("no money"), on: { charged: "done" } }, done },
  });
  expect(explore(one).findings).toMatchObject([{ code: "recovery_too_late", severity: "error" }]);
  expect(await stateAfter(one, 2)).toMatchObject({ state: "failed", events: ["start", "fail"] });
});
