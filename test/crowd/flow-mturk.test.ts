import { crowd, RejectSubmission } from "pawl";
import { expect, test } from "vitest";
import { z } from "zod";
import { testPawl } from "../../src/testing/test-pawl.ts";
import { openMarket } from "./mturk-market.ts";

/** What changes something there. */
const changes = [
  "CreateHIT",
  "ApproveAssignment",
  "RejectAssignment",
  "CreateQualificationType",
  "AssociateQualificationWithWorker",
  "DeleteHIT",
];

test("R36 a job runs on Mechanical Turk to its end, though of every call the first reply is lost", async () => {
  await using market = await openMarket();
  const { marketplace, server } = market;
  const receipts = crowd("receipts", {
    label: z.object({ total: z.number() }),
    marketplace: "mturk",
    description: "Type the total of the receipt.",
    reward: "0.05",
    submissions: 9,
    maxPlaces: 12,
    disposeAfter: "1d",
    onSubmitted: ({ label }) => {
      if (label.total < 0) throw new RejectSubmission("A total is not negative.");
    },
  });
  await using t = await testPawl({ lifecycles: [], crowds: [receipts], marketplaces: { mturk: marketplace } });
  server.world.now = t.now().getTime();
  for (const operation of changes) server.plan(operation, "reset after");
  /** Lets time pass here and there, and everything be done that is due by then. */
  const pass = async (times: number, minutes = 11) => {
    for (let count = 0; count < times; count++) {
      server.world.advance(minutes * 60_000);
      await t.advance(`${minutes}m`);
      await t.work();
    }
  };

  const { id } = await t.pawl.crowd.ask(receipts, { content: { image: "https://receipts.test/1.png" } });
  await pass(2);
  const [first] = server.world.hits.keys();
  expect(server.world.hits.size).toBe(1);
  for (let worker = 0; worker < 9; worker++) {
    server.workers.work(first!, `A${worker}WORKER`, { "total:number": worker === 0 ? "-1" : "12.5" });
  }
  await pass(6);
  const [, second] = server.world.hits.keys();
  expect(server.world.hits.size).toBe(2);
  expect(() => server.workers.accept(second!, "A1WORKER")).toThrow("not qualified");
  server.workers.work(second!, "ALAST", { "total:number": "12.5" });
  await pass(4);
  expect(await t.pawl.crowd.job(id)).toMatchObject({
    state: "finished",
    consensus: { total: 12.5 },
    approved: 9,
    rejected: 1,
  });
  await pass(3, 24 * 60);
  expect([...server.world.hits.values()].map(({ disposed }) => disposed)).toEqual([true, true]);
  expect(server.world.qualifications.size).toBe(0);
  expect(await t.pawl.inspect.verify()).toEqual([]);
  expect(server.pending).toEqual([]);
});
