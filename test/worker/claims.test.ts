import { job } from "pawl";
import { expect, test, vi } from "vitest";
import { claimFromLanes } from "../../src/kernel/tasks/claim.ts";
import { report } from "../../src/kernel/tasks/report.ts";
import { Claimer } from "../../src/worker/claimer.ts";
import { Lanes } from "../../src/worker/lanes.ts";
import { Random, repeat, seed } from "../faults/harm/random.ts";
import { eachStoreAndPooler } from "../support/each-store.ts";

const errand = job("errand", { run: () => {} });
const other = job("other", { run: () => {} });
const holder = { worker: "w", leaseMs: 30_000 };

eachStoreAndPooler((store) => {
  test("a claim that is given a place looks behind it only", async () => {
    await using t = await store.open({ lifecycles: [errand] });
    const made = await t.pawl.enqueueMany(
      errand,
      [0, 0, 1, -1].map((priority) => ({ payload: {}, priority })),
    );
    const lane = "errand@1/pending";
    const after = new Map([[lane, { priority: 0, id: made[0]!.id }]]);
    const tasks = await claimFromLanes(t.kernel, { lanes: [lane], limit: 10, share: 10, after, ...holder });
    expect(tasks.map((one) => one.row.id)).toEqual([made[1]!.id, made[2]!.id]);
  });

  test("what is more urgent than what waits in a full lane is taken after two seconds at the latest", async () => {
    await using t = await store.open({ lifecycles: [errand] });
    let now = 0;
    const clock = vi.spyOn(performance, "now").mockImplementation(() => now);
    try {
      const lanes = new Lanes(t.kernel);
      await lanes.read();
      const claims = new Claimer(t.kernel, lanes, holder);
      await t.pawl.enqueueMany(
        errand,
        Array.from({ length: 30 }, () => ({ payload: {} })),
      );
      expect(await claims.claim(5)).toHaveLength(5);
      const urgent = await t.pawl.enqueue(errand, {}, { priority: -1 });
      const ids = async () => (await claims.claim(5)).map((one) => one.row.id);
      expect(await ids()).not.toContain(urgent.id);
      now += 1_999;
      expect(await ids()).not.toContain(urgent.id);
      now += 1;
      expect((await ids())[0]).toBe(urgent.id);
    } finally {
      clock.mockRestore();
    }
  });

  test("looking behind what was claimed last hides nothing: not what is more urgent, nor what was put back", async () => {
    await using t = await store.open({ lifecycles: [errand, other] });
    const random = new Random(seed);
    const lanes = new Lanes(t.kernel);
    await lanes.read();
    const claims = new Claimer(t.kernel, lanes, holder);
    const enqueue = (count: number) =>
      t.pawl.enqueueMany(
        random.pick([errand, other]),
        Array.from({ length: count }, () => ({ payload: {}, priority: random.below(5) - 2 })),
      );
    let made = 0;
    let ended = 0;
    for (let turn = 0; turn < 40 || ended < made; turn++) {
      if (turn < 40) {
        const count = random.below(25);
        await enqueue(count);
        made += count;
      }
      const tasks = await claims.claim(1 + random.below(10));
      if (tasks.length === 0 && turn >= 40) break;
      const outcomes = tasks.map((one) =>
        random.below(3) === 0
          ? { task: one, outcome: { kind: "released" as const } }
          : { task: one, outcome: { kind: "event" as const, event: "done", payload: undefined, ...nothingSaid } },
      );
      await report(t.kernel, outcomes);
      ended += outcomes.filter(({ outcome }) => outcome.kind === "event").length;
    }
    expect(ended, `a claim that found nothing said so while ${made - ended} waited; ${repeat}`).toBe(made);
    expect((await t.pawl.lanes.list()).filter((lane) => lane.ready + lane.running > 0)).toEqual([]);
  });
});

const nothingSaid = { patch: {}, messages: [], starts: [], sends: [] };
