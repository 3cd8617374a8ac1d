import { memoryMarketplace } from "pawl/testing";
import { expect, test } from "vitest";
import { aPosting, marketplaceConformance, type Specimen } from "./conformance.ts";

async function inMemory(given: { rejectionReopens?: boolean; staysBelow?: number }): Promise<Specimen> {
  let ms = Date.UTC(2030, 0, 1);
  const marketplace = memoryMarketplace({ now: () => ms, ...given });
  const { workers, bonuses } = marketplace;
  return {
    marketplace,
    accept: async (job, worker) => workers.accept(job, worker),
    submit: async (held, answer) => workers.submit(held, answer),
    giveBack: async (held) => workers.return(held),
    advance: async (by) => {
      ms += by;
    },
    approvesByItself: true,
    excludes: true,
    ...(given.staysBelow === undefined ? {} : { staysBelow: given.staysBelow }),
    bonuses: () => bonuses.length,
    close: async () => {},
  };
}

marketplaceConformance("in memory", () => inMemory({}));
marketplaceConformance("in memory, with rules of its own", () => inMemory({ rejectionReopens: true, staysBelow: 10 }));

const call = { signal: new AbortController().signal };

test("a call of the marketplace in memory can be made to fail, before it is done or after", async () => {
  const market = memoryMarketplace();
  const posting = aPosting();
  market.fail("publish", { before: new Error("reset before"), times: 2 });
  for (const _ of [1, 2]) await expect(market.publish(posting, call)).rejects.toThrow("reset before");
  expect(market.workers.jobsOf(posting.owner)).toEqual([]);
  market.fail("publish", { after: new Error("reset after") });
  await expect(market.publish(posting, call)).rejects.toThrow("reset after");
  const [job] = market.workers.jobsOf(posting.owner);
  expect(await market.publish(posting, call)).toEqual(job);
});

test("workers of the marketplace in memory are told why they may not", async () => {
  const market = memoryMarketplace();
  const { id } = await market.publish(aPosting(), call);
  const held = market.workers.accept(id, "A1");
  const refusals = [
    [() => market.workers.accept("nowhere", "A1"), "the job does not exist"],
    [() => market.workers.accept(id, ""), "a worker needs an id"],
    [() => market.workers.accept(id, "A1"), `the worker already has assignment ${held} of it`],
    [() => market.workers.accept(id, "A2"), "all its 1 places are taken"],
    [() => market.workers.submit("nothing", {}), "it does not exist"],
  ] as const;
  for (const [act, why] of refusals) {
    expect(act).toThrow(expect.objectContaining({ code: "not_allowed", message: expect.stringContaining(why) }));
  }
  market.workers.abandon(held);
  expect(() => market.workers.submit(held, {})).toThrow(`Assignment ${held} cannot be submitted: it is abandoned.`);
  expect(market.workers.openJobs().map((job) => job.id)).toEqual([id]);
  await market.close(id, call);
  expect(() => market.workers.accept(id, "A3")).toThrow("it has expired");
});

test("what the marketplace in memory cannot make sense of is refused", async () => {
  const market = memoryMarketplace();
  expect(() => memoryMarketplace({ now: 5 as never })).toThrow("`now` must be a function");
  expect(() => market.fail("pay" as never, { before: new Error("x") })).toThrow('a marketplace has no call "pay"');
  expect(() => market.fail("publish", {})).toThrow("set `before` or `after`");
  await expect(market.publish(aPosting({ token: "t".repeat(65) }), call)).rejects.toThrow("1 to 64 characters");
  await expect(market.publish(aPosting({ places: 0 }), call)).rejects.toThrow("at least one place");
  const { id } = await market.publish(aPosting(), call);
  const submission = market.workers.work(id, "A1", {});
  const bonus = { token: "b", submission, worker: "A2", amount: "1.00", reason: "Good." };
  await expect(market.bonus(bonus, call)).rejects.toThrow("is by A1, not by A2");
});
