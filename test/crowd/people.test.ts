import { crowd, lifecycle, queue, RejectSubmission } from "pawl";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import type { Marketplace } from "../../src/crowd/marketplace.ts";
import { peopleMarketplace } from "../../src/crowd/marketplaces/people.ts";
import { queuesOfCrowds } from "../../src/crowd/marketplaces/people-queues.ts";
import type { AnyCrowd } from "../../src/definition/crowd.ts";
import { Verbs } from "../../src/kernel/verbs.ts";
import { Postings } from "../../src/people/postings.ts";
import { type TestPawl, testPawl } from "../../src/testing/test-pawl.ts";
import { expectSound, labeled, started } from "../people/labeling.ts";
import { eachStore, type Store } from "../support/each-store.ts";
import { aPosting, marketplaceConformance, type Specimen } from "./conformance.ts";

async function amongPeople(store: Store, crowds: readonly AnyCrowd[]): Promise<Specimen> {
  const queues = queuesOfCrowds(crowds, []);
  const t = await store.open({ lifecycles: [], queues });
  const { people } = t.pawl;
  const labelers = new Map<string, string>();
  return {
    marketplace: peopleMarketplace(queues, () => new Postings(t.kernel, new Verbs(t.kernel), queues)),
    accept: async (job, worker) => {
      const { queue } = await people.sample(job);
      for (;;) {
        const next = await people.next(queue, worker);
        if (next.assignment === null) throw new Error(next.why.sentence);
        const { id } = next.assignment;
        if (next.sample.id !== job) {
          await people.skip(id, worker);
          continue;
        }
        labelers.set(id, worker);
        await people.start(id, worker);
        return id;
      }
    },
    submit: (held, answer) => people.submit(held, labelers.get(held)!, answer),
    giveBack: (held) => people.skip(held, labelers.get(held)!),
    advance: (ms) => t.advance(ms),
    approvesByItself: true,
    excludes: false,
    close: async () => {
      await expectSound(t);
      await t.close();
    },
  };
}

eachStore((store) => {
  marketplaceConformance("of Pawl's own people", (crowds) => amongPeople(store, crowds));
});

describe("crowds among Pawl's own people", () => {
  const receipts = crowd("receipts", {
    marketplace: "people",
    label: z.object({ total: z.string().transform(Number), paid: z.boolean().default(false) }),
    submissions: 2,
    workTime: "20m",
  });
  const call = { signal: new AbortController().signal };
  const [name, yes, no] = [
    "crowd-receipts",
    { verdict: "approved", feedback: null } as const,
    { verdict: "rejected", feedback: "It says 13." } as const,
  ];
  let t: TestPawl;
  let market: Marketplace;
  beforeAll(async () => {
    const queues = queuesOfCrowds([receipts], []);
    t = await testPawl({ lifecycles: [], queues });
    market = peopleMarketplace(queues, () => new Postings(t.kernel, new Verbs(t.kernel), queues));
  });
  afterAll(async () => {
    await expectSound(t);
    await t.close();
  });

  function publish(places: number) {
    return market.publish(aPosting({ crowd: receipts, form: receipts.form, places, content: { scan: 1 } }), call);
  }

  test("work in the queue of their crowd, on what was published, and no label is taken that does not fit", async () => {
    const { id } = await publish(1);
    expect(await t.pawl.people.queue(name)).toMatchObject({ review: true, finishWithinMs: 1_200_000, overlap: 2 });
    const next = await t.pawl.people.next(name, "ada");
    expect(next).toMatchObject({ sample: { id, data: { scan: 1 } } });
    const { id: held } = await started(t, name, "ada");
    await expect(t.pawl.people.submit(held, "ada", { total: 12 })).rejects.toMatchObject({ code: "label_invalid" });
    await t.pawl.people.submit(held, "ada", { total: "12" });
    // As it was filled in: the crowd reads it by its own schema, which would not take what it makes of it.
    expect(await market.submissions(id, call)).toMatchObject([{ worker: "ada", answer: { total: "12" } }]);
    await market.close(id, call);
  });

  test("correct what was rejected; left lying, the place goes to somebody else", async () => {
    const { id } = await publish(1);
    const { label: first } = await labeled(t, name, "ada", { total: "12" });
    await market.decide(first.id, no, call);
    expect(await t.pawl.people.next(name, "ada")).toMatchObject({ resumed: true, sample: { id } });
    const { label: second } = await labeled(t, name, "ada", { total: "14" });
    await market.decide(second.id, no, call);
    expect(await market.job(id, call)).toMatchObject({ open: false, pending: 1, places: 1 });
    await t.advance("21m");
    expect(await market.job(id, call)).toMatchObject({ open: true, pending: 0, places: 1 });
    await labeled(t, name, "ben", { total: "13" });
    expect((await market.submissions(id, call)).map((one) => [one.worker, one.status])).toEqual([
      ["ada", "rejected"],
      ["ada", "rejected"],
      ["ben", "submitted"],
    ]);
  });

  test("what a lead decides by hand is adopted, and what came late is an answer once a lead accepts it", async () => {
    const { id } = await publish(2);
    const { label: one } = await labeled(t, name, "ada", { total: "12" });
    await t.pawl.people.accept(one.id, { actor: "lea" });
    expect(await market.decide(one.id, no, call)).toEqual({ verdict: "approved", already: true });
    const { id: held } = await started(t, name, "ben");
    await t.advance("21m");
    const { label: late } = await t.pawl.people.submit(held, "ben", { total: "12" });
    expect(await market.submissions(id, call)).toHaveLength(1);
    await expect(market.decide(late.id, yes, call)).rejects.toThrow(`Submission ${late.id} does not exist`);
    await t.pawl.people.accept(late.id, { actor: "lea" });
    expect(await market.submissions(id, call)).toMatchObject([{}, { worker: "ben", status: "submitted" }]);
    await market.close(id, call);
  });

  test("labels that tie are for the crowd to conclude: a sample ends when its job does", async () => {
    const [tied, agreed] = [await publish(2), await publish(1)];
    for (const [worker, total] of [
      ["ada", "12"],
      ["ben", "13"],
      ["cleo", "14"],
    ] as const) {
      const { label } = await labeled(t, name, worker, { total });
      await market.decide(label.id, yes, call);
    }
    await t.maintain();
    for (const { id } of [tied, agreed]) expect(await t.pawl.people.sample(id)).toMatchObject({ state: "open" });
    for (const { id } of [tied, agreed]) await market.dispose(id, call);
    expect(await t.pawl.people.sample(tied.id)).toMatchObject({ state: "closed", labeled: 2 });
    expect(await t.pawl.people.sample(agreed.id)).toMatchObject({ state: "agreed", consensus: { total: "14" } });
    expect(await t.pawl.deadLetters.list()).toEqual([]);
  });

  test("a job may have more places than a sample has tries, also when it is opened again", async () => {
    const { id } = await publish(1);
    expect(await market.extend(id, { token: "more", places: 1_500, until: null }, call)).toMatchObject({ open: true });
    await market.close(id, call);
    const again = { token: "again", places: 1_500, until: new Date(t.now().getTime() + 60_000) };
    expect(await market.extend(id, again, call)).toMatchObject({ open: true, places: 1_500 });
    await market.close(id, call);
  });

  test("what is disposed of is not published once more by the same token", async () => {
    const posting = aPosting({ crowd: receipts });
    const { id } = await market.publish(posting, call);
    await market.close(id, call);
    await market.dispose(id, call);
    expect(await market.publish(posting, call)).toMatchObject({ id, open: false });
    expect(await market.job(id, call)).toBeUndefined();
    await expect(market.submissions(id, call)).rejects.toThrow(`Job ${id} does not exist`);
  });

  test("no other sample is taken for a job, and no other queue for a crowd's", async () => {
    await t.pawl.people.createQueue("others", { label: { type: "string" } });
    const { id } = await t.pawl.people.add("others", { data: 1 });
    expect(await market.job(id, call)).toBeUndefined();
    const { label } = await labeled(t, "others", "ada", "x");
    await expect(market.decide(label.id, yes, call)).rejects.toThrow("does not exist");
    const same = queue(name, { label: { type: "string" } });
    expect(() => queuesOfCrowds([receipts], [same])).toThrow("one of that name is declared");
  });
});

eachStore((store) => {
  test("a state asks a crowd of Pawl's own people, which needs no configuring, and hears of each label at once", async () => {
    const scans = crowd("scans", {
      label: z.object({ total: z.number() }),
      marketplace: "people",
      submissions: 2,
      onSubmitted({ label }) {
        if (label.total < 0) throw new RejectSubmission("A total is not below zero.");
      },
    });
    const expense = lifecycle("expense", {
      data: z.object({ total: z.number().optional() }),
      initial: "reading",
      states: {
        reading: {
          ask: { crowd: scans, sample: () => ({ scan: "a.png" }) },
          on: {
            answered: { to: "read", set: ({ payload }) => ({ total: payload.consensus.total }) },
            unanswered: "unread",
          },
        },
        read: { final: "success" },
        unread: { final: "failure" },
      },
    });
    await using t = await store.open({ lifecycles: [expense] });
    await t.pawl.start(expense, { key: "e", data: {} });
    await t.work();
    const label = async (who: string, total: number) => {
      const { assignment } = await t.pawl.people.next("crowd-scans", who);
      await t.pawl.people.start(assignment!.id, who);
      await t.pawl.people.submit(assignment!.id, who, { total });
      await t.work();
    };
    await label("ada", -5);
    const [job] = await t.pawl.crowd.jobs(scans);
    expect(await t.pawl.crowd.submissions({ job: job!.id })).toMatchObject([{ worker: "ada", state: "rejected" }]);
    await label("ada", 5); // She finds it on her desk again.
    await label("bob", 5);
    expect(await t.pawl.crowd.job(job!.id)).toMatchObject({ state: "finished", approved: 2, rejected: 1 });
    expect(await t.pawl.get(expense, "e")).toMatchObject({ state: "read", data: { total: 5 } });
    await t.advance("31d");
    await t.work();
    expect(await t.pawl.people.samples("crowd-scans")).toMatchObject([{ state: "agreed" }]);
    expect(await t.pawl.inspect.verify()).toEqual([]);
  });
});
