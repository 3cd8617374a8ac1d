import { createPawl, crowd, lifecycle } from "pawl";
import { memoryMarketplace } from "pawl/testing";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { eachStore } from "../support/each-store.ts";
import { openReceipts } from "../support/receipts.ts";

const label = z.object({ total: z.number() });
const nobody = "0190d5ea-0000-7000-8000-000000000000";
const call = { signal: new AbortController().signal };

describe("createPawl", () => {
  const receipts = crowd("receipts", { label, marketplace: "memory" });
  const asking = (asked: typeof receipts) =>
    lifecycle("expense", {
      initial: "reading",
      states: {
        reading: { ask: { crowd: asked, sample: () => ({}) }, on: { answered: "read", unanswered: "read" } },
        read: { final: "success" },
      },
    });
  const marketplaces = { memory: memoryMarketplace() };

  test.each<[string, object, string]>([
    ["a marketplace that is not there", { crowds: [receipts] }, 'createPawl({ marketplaces: { "memory": … } })'],
    ["one that only a lifecycle asks", { lifecycles: [asking(receipts)] }, "uses the marketplace `memory`"],
    ["two crowds of one name", { crowds: [receipts, receipts], marketplaces }, "Two crowds have the name `receipts`"],
    ["what is no crowd", { crowds: [label], marketplaces }, "return values of crowd()"],
    ["what are no marketplaces", { crowds: [receipts], marketplaces: [] }, "must be an object"],
    ["what is no marketplace", { crowds: [receipts], marketplaces: { memory: {} } }, "is not a marketplace"],
    [
      "two values under one name",
      { crowds: [receipts], lifecycles: [asking(crowd("receipts", { label, marketplace: "memory" }))], marketplaces },
      "another crowd `receipts`",
    ],
    [
      "a lifecycle with the name of a crowd's own",
      {
        crowds: [receipts],
        marketplaces,
        lifecycles: [
          lifecycle("pawl_crowd_receipts", {
            initial: "a",
            states: { a: { forever: true, on: { x: "b" } }, b: { final: "success" } },
          }),
        ],
      },
      "`pawl_crowd_receipts`",
    ],
  ])("refuses %s, before it opens anything", async (_, options, message) => {
    const refused = createPawl({ lifecycles: [], folder: "/nowhere/at/all", ...options });
    await expect(refused).rejects.toMatchObject({ code: "option_invalid", message: expect.stringContaining(message) });
  });

  test("refuses what the marketplace says it cannot do", async () => {
    const picky = Object.assign(memoryMarketplace(), { check: () => ["It needs a `reward`."] });
    const refused = createPawl({
      lifecycles: [],
      crowds: [receipts],
      marketplaces: { memory: picky },
      folder: "/nowhere",
    });
    await expect(refused).rejects.toThrow("cannot use the in-memory marketplace: It needs a `reward`.");
  });
});

eachStore((store) => {
  test("what is asked for wrongly is refused, with what to do, and nothing is written", async () => {
    await using it = await openReceipts(store);
    const { crowd: verbs } = it.t.pawl;
    const other = crowd("others", { label, marketplace: "memory" });
    const refusals: [string, () => Promise<unknown>, string][] = [
      ["option_invalid", () => verbs.ask(other, { content: {} }), "`others` is not registered in this process"],
      [
        "option_invalid",
        () => verbs.ask(crowd("receipts", { label, marketplace: "memory" }), { content: {} }),
        "receipts",
      ],
      ["option_invalid", () => verbs.ask(undefined as never, { content: {} }), "Name the crowd"],
      ["option_invalid", () => verbs.ask("receipts", undefined as never), "`content`"],
      ["value_not_serializable", () => verbs.ask("receipts", { content: { at: () => {} } }), "content"],
      ["key_invalid", () => verbs.ask("receipts", { content: {}, key: "" }), "key"],
      ["option_invalid", () => verbs.jobs("receipts", { state: "walking" as never }), "`walking`"],
      ["option_invalid", () => verbs.jobs("receipts", { limit: 0 }), "`limit`"],
      ["option_invalid", () => verbs.submissions({ job: "x" }), "by its id"],
      ["instance_unknown", () => verbs.submissions({ job: nobody }), nobody],
      ["instance_unknown", () => verbs.approve(nobody), nobody],
      ["option_invalid", () => verbs.approve("x"), "Name the submission by its id"],
      ["option_invalid", () => verbs.reject(nobody, { feedback: " " }), "`feedback`"],
      ["option_invalid", () => verbs.reject(nobody, {} as never), "`feedback` must be a string"],
      ["instance_unknown", () => verbs.sync(nobody), nobody],
      ["instance_unknown", () => verbs.bonus(nobody, { amount: "1", reason: "well done" }), nobody],
      ["option_invalid", () => verbs.balance("mturk"), "Known marketplaces: memory"],
      ["option_invalid", () => verbs.handleNotification("mturk", "1"), "Known marketplaces: memory"],
      ["option_invalid", () => verbs.reconcile({ marketplace: "mturk" }), "Known marketplaces: memory"],
    ];
    for (const [code, refused, message] of refusals) {
      await expect(refused(), message).rejects.toMatchObject({ code, message: expect.stringContaining(message) });
    }
    expect(await verbs.job(nobody)).toBeUndefined();
    expect(await verbs.submission(nobody)).toBeUndefined();
    expect(await verbs.handleNotification("memory", "unheard-of")).toBe(false);
    expect(await verbs.jobs("receipts")).toEqual([]);
    expect(verbs.list()).toMatchObject([
      { name: "receipts", marketplace: "memory", paysBonuses: true, sandbox: false },
    ]);
  });

  test("jobs and submissions come in pages, newest first", async () => {
    await using it = await openReceipts(store, { submissions: 3 });
    const ids = [await it.ask("a"), await it.ask("b"), await it.ask("c")];
    const { crowd: verbs } = it.t.pawl;
    const first = await verbs.jobs("receipts", { limit: 2 });
    expect(first.map((one) => one.id)).toEqual([ids[2], ids[1]]);
    expect((await verbs.jobs("receipts", { limit: 2, after: first[1]! })).map((one) => one.id)).toEqual([ids[0]]);
    expect(await verbs.jobs("receipts", { state: ["finished", "failed"] })).toEqual([]);
    it.submit(ids[0]!, { W1: 1, W2: "x" });
    await it.look(ids[0]!);
    expect(await verbs.submissions({ job: ids[0]! }, { state: "errored" })).toMatchObject([{ worker: "W2" }]);
    expect(await verbs.submissions(it.receipts)).toHaveLength(2);
    expect(await verbs.submissions({ job: ids[1]! })).toEqual([]);
  });

  test("a bonus is paid once, also when its reply is lost, and another one by another key", async () => {
    await using it = await openReceipts(store);
    const job = await it.ask();
    it.submit(job, { W1: 1 });
    await it.look(job);
    const [one] = await it.t.pawl.crowd.submissions({ job });
    const bonus = { amount: "0.50", reason: "well read", actor: "ada" };
    it.market.fail("bonus", { after: new Error("reset") });
    expect(await it.t.pawl.crowd.bonus(one!.id, bonus)).toMatchObject({ created: true });
    expect(await it.t.pawl.crowd.bonus(one!.id, bonus)).toMatchObject({ created: false });
    await it.t.work();
    await it.t.advance("1m");
    await it.t.work();
    expect(it.market.bonuses).toMatchObject([{ amount: "0.50", worker: "W1", submission: one!.submission }]);
    await it.t.pawl.crowd.bonus(one!.id, { ...bonus, key: "again" });
    await it.t.work();
    expect(it.market.bonuses).toHaveLength(2);
    for (const amount of ["0", "-1", "1.234", 1 as never]) {
      await expect(it.t.pawl.crowd.bonus(one!.id, { ...bonus, amount })).rejects.toMatchObject({
        code: "option_invalid",
      });
    }
  });

  test("a second bonus with another amount or reason is refused unless it has a key of its own", async () => {
    await using it = await openReceipts(store);
    const job = await it.ask();
    it.submit(job, { W1: 1 });
    await it.look(job);
    const [one] = await it.t.pawl.crowd.submissions({ job });
    const bonus = { amount: "0.50", reason: "well read" };
    await it.t.pawl.crowd.bonus(one!.id, bonus);
    await it.t.pawl.crowd.bonus(one!.id, { ...bonus, amount: "0.5" });
    for (const other of [{ amount: "2.00" }, { reason: "very well read" }]) {
      await expect(it.t.pawl.crowd.bonus(one!.id, { ...bonus, ...other })).rejects.toMatchObject({
        code: "idempotency_conflict",
        message: expect.stringContaining("0.50"),
      });
    }
    await expect(it.t.pawl.crowd.bonus(one!.id, { ...bonus, reason: " " })).rejects.toThrow(
      "`reason` must be a string",
    );
    await it.t.work();
    expect(it.market.bonuses).toHaveLength(1);
  });

  test("a notification that comes while the marketplace is away fails nothing, and the sweep finds what it was about", async () => {
    await using it = await openReceipts(store);
    const job = await it.ask();
    const [posting] = it.market.workers.jobsOf(job);
    it.submit(job, { W1: 1 });
    it.market.fail("job", { before: new Error("503 Service Unavailable") });
    expect(await it.t.pawl.crowd.handleNotification("memory", posting!.id)).toBe(false);
    await expect(it.t.pawl.crowd.handleNotification("nowhere", posting!.id)).rejects.toMatchObject({
      code: "option_invalid",
    });
    await it.t.advance("10m");
    await it.t.work();
    expect(await it.state(job)).toBe("finished");
  });

  test("reconcile finds postings that no job knows of, and jobs whose posting is gone, and mends them", async () => {
    await using it = await openReceipts(store, { whenExpired: "finish" });
    const [kept, lost] = [await it.ask("kept"), await it.ask("lost")];
    const posting = { crowd: it.receipts, form: {}, content: {}, places: 1, lifetimeMs: 3_600_000, excludes: [] };
    const stray = await it.market.publish({ ...posting, token: "stray", owner: kept }, call);
    const orphan = await it.market.publish({ ...posting, token: "orphan", owner: nobody }, call);
    const [gone] = it.market.workers.jobsOf(lost);
    await it.market.close(gone!.id, call);
    await it.market.dispose(gone!.id, call);
    const found = await it.t.pawl.crowd.reconcile();
    expect(found).toMatchObject([
      { kind: "posting", posting: stray.id, jobId: kept, repaired: false },
      { kind: "posting", posting: orphan.id, jobId: nobody, repaired: false },
      { kind: "job", posting: gone!.id, jobId: lost, repaired: false },
    ]);
    expect(await it.state(lost)).toBe("running");
    const repaired = await it.t.pawl.crowd.reconcile({ marketplace: "memory", repair: true });
    expect(repaired.map((one) => one.repaired)).toEqual([true, false, true]);
    await it.t.work();
    expect(await it.state(lost)).toBe("incomplete");
    // What may be another Pawl's is left alone.
    expect(it.market.workers.openJobs().map((one) => one.owner)).toEqual([kept, nobody]);
    expect(await it.state(kept)).toBe("running");
  });
});
