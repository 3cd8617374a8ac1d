import { lifecycle } from "pawl";
import { expect, test } from "vitest";
import { z } from "zod";
import { eachStoreAndPooler } from "../../support/each-store.ts";
import { parcel } from "../../support/parcel.ts";

eachStoreAndPooler((store) => {
  test("a started instance stands in its first state, with its start in the journal", async () => {
    await using t = await store.open({ lifecycles: [parcel] });
    const started = await t.pawl.start(parcel, { key: "p1", data: { address: "Elm 3" } });
    expect(started).toMatchObject({ created: true, key: "p1", state: "labeling", version: 1, outcome: null });
    expect(started.data).toEqual({ address: "Elm 3", weight: 1, notes: 0 });
    expect(await t.pawl.get(parcel, "p1")).toMatchObject({ id: started.id, state: "labeling", createdAt: t.now() });
    expect(await t.pawl.journal(parcel, "p1")).toMatchObject([
      { version: 1, event: "start", from: null, to: "labeling", source: "call", patch: started.data },
    ]);
  });

  test("a second start with the same key is the same instance", async () => {
    await using t = await store.open({ lifecycles: [parcel] });
    const first = await t.pawl.start(parcel, { key: "p1", data: { address: "Elm 3" } });
    const second = await t.pawl.start(parcel, { key: "p1", data: { address: "Oak 9" } });
    expect(second).toMatchObject({ created: false, id: first.id, data: { address: "Elm 3" } });
    expect(await t.pawl.inspect.counts(parcel)).toEqual({ labeling: 1 });
  });

  test("fifty parallel starts with one key make one instance and get fifty equal answers", async () => {
    await using t = await store.open({ lifecycles: [parcel] });
    const starts = Array.from({ length: 50 }, (_, index) =>
      index % 2 === 0
        ? t.pawl.start(parcel, { key: "one", data: { address: `Elm ${index}` } })
        : t.pawl.startMany(parcel, [{ key: "one", data: { address: `Elm ${index}` } }]).then(([only]) => only!),
    );
    const answers = await Promise.all(starts);
    expect(new Set(answers.map((one) => one.id)).size).toBe(1);
    expect(answers.filter((one) => one.created)).toHaveLength(1);
    const { created: _, ...stored } = { ...answers[0]!, ...(await t.pawl.get(parcel, "one")) };
    for (const { created: __, ...answer } of answers) expect(answer).toEqual(stored);
    expect(await t.pawl.journal(parcel, "one")).toHaveLength(1);
  });

  test("thousands are started in their order, those with a taken key among them", async () => {
    await using t = await store.open({ lifecycles: [parcel] });
    await t.pawl.start(parcel, { key: "k7", data: { address: "first" } });
    const items = Array.from({ length: 1_200 }, (_, index) => ({ key: `k${index}`, data: { address: `a${index}` } }));
    const started = await t.pawl.startMany(parcel, [...items, { key: "k3", data: { address: "again" } }]);
    expect(started.map((one) => one.key)).toEqual([...items.map((item) => item.key), "k3"]);
    expect(started.filter((one) => !one.created).map((one) => one.key)).toEqual(["k7", "k3"]);
    expect(started.at(-1)!.id).toBe(started[3]!.id);
    expect(await t.pawl.inspect.counts(parcel)).toEqual({ labeling: 1_200 });
  });

  test("the deadline of a lifecycle is fixed at its start", async () => {
    const claim = lifecycle("claim", {
      data: z.object({ fast: z.boolean() }),
      initial: "open",
      deadline: { within: ({ data }) => (data.fast ? "20m" : null), late: "keep" },
      states: { open: { on: { settle: "settled" } }, settled: { final: "success" } },
    });
    await using t = await store.open({ lifecycles: [claim] });
    const fast = await t.pawl.start(claim, { key: "fast", data: { fast: true } });
    expect(fast.deadlineAt).toEqual(new Date(t.now().getTime() + 20 * 60_000));
    expect((await t.pawl.start(claim, { key: "slow", data: { fast: false } })).deadlineAt).toBeNull();
    await t.advance("19m");
    expect(await t.pawl.get(claim, "fast")).toMatchObject({ state: "open" });
    await t.advance("1m");
    expect(await t.pawl.get(claim, "fast")).toMatchObject({ state: "failed" });
    expect(await t.pawl.journal(claim, "fast")).toMatchObject([
      {},
      { event: "fail", source: "timer", payload: { reason: "deadline" } },
    ]);
    await t.advance("60d");
    expect(await t.pawl.get(claim, "slow")).toMatchObject({ state: "open" });
  });
});
