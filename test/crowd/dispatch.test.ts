import { crowd } from "pawl";
import { memoryMarketplace, type TestPawl, testPawl } from "pawl/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { callIn } from "../../src/cli/transport/reach.ts";
import type { RouteName } from "../../src/http/routes/routes.ts";

const Total = z.object({ total: z.number() });
const receipts = crowd("receipts", { label: Total, marketplace: "here", autoApprove: false });
const bills = crowd("bills", { label: Total, marketplace: "there" });
const [here, there] = [memoryMarketplace(), memoryMarketplace()];

let t: TestPawl;
beforeAll(async () => {
  t = await testPawl({ lifecycles: [], crowds: [receipts, bills], marketplaces: { here, there } });
});
afterAll(() => t.close());

function say(verb: RouteName, args: Record<string, unknown> = {}): Promise<unknown> {
  return callIn(t.pawl)(verb, args);
}

async function ask(of: string, key: string): Promise<string> {
  const { id } = (await say("askCrowd", { crowd: of, key, content: { image: key } })) as { id: string };
  await t.work();
  return id;
}

test("every operation on crowds takes and gives plain JSON", async () => {
  const [a, b] = [await ask("receipts", "a"), await ask("bills", "b")];
  expect(await say("crowdJobs", { crowd: "receipts", state: "running" })).toMatchObject([{ id: a, key: "a" }]);
  expect(await say("crowdJob", { crowd: "bills", key: "b" })).toMatchObject({ id: b });
  for (const market of [here, there]) market.workers.work(market.workers.openJobs()[0]!.id, "W1", { total: 1 });
  const [posting] = here.workers.jobsOf(a);
  expect(await say("handleNotification", { marketplace: "here", posting: posting!.id })).toEqual({ ours: true });
  await say("syncCrowdJob", { id: b, actor: "ada" });
  await t.work();
  const found = (await say("submissions")) as { id: string; crowd: string; state: string }[];
  expect(found.map((one) => `${one.crowd} ${one.state}`).sort()).toEqual([
    "bills approved",
    "receipts pending_approval",
  ]);
  const [pending] = (await say("submissionsOfJob", { id: a })) as { id: string }[];
  expect(await say("submission", { id: pending!.id })).toMatchObject({ worker: "W1", label: { total: 1 } });
  expect(await say("approveSubmission", { id: pending!.id, feedback: "Thank you." })).toMatchObject({
    state: "approving",
    feedback: "Thank you.",
  });
  await t.work();
  const bonus = { id: pending!.id, amount: "0.50", reason: "Quick." };
  expect([await say("payBonus", bonus), await say("payBonus", bonus)]).toMatchObject([
    { created: true },
    { created: false },
  ]);
  await t.work();
  expect(here.bonuses).toMatchObject([{ worker: "W1", amount: "0.50" }]);
  const ours = { title: "the in-memory marketplace", paysBonuses: true, sandbox: false };
  expect(await say("crowds")).toEqual([
    { name: "receipts", marketplace: "here", ...ours, jobs: { finished: 1 }, submissions: { approved: 1 } },
    { name: "bills", marketplace: "there", ...ours, jobs: { finished: 1 }, submissions: { approved: 1 } },
  ]);
  expect(await say("marketplaceBalance", { marketplace: "there" })).toEqual({ marketplace: "there", balance: null });
});

test("a posting that no job knows of is listed, and closed when asked", async () => {
  const id = await ask("receipts", "c");
  const [{ id: own } = { id: "" }] = here.workers.jobsOf(id);
  const call = { signal: new AbortController().signal };
  const wanted = { token: "t", owner: id, crowd: receipts, content: null, form: {}, places: 1, excludes: [] };
  const { id: posting } = await here.publish({ ...wanted, lifetimeMs: 60_000 }, call);
  expect(await say("reconcileCrowds", { marketplace: "there" })).toEqual([]);
  expect(await say("reconcileCrowds", { marketplace: "here" })).toMatchObject([
    { kind: "posting", posting, jobId: id, repaired: false },
  ]);
  expect(await say("reconcileCrowds", { marketplace: "here", repair: true })).toMatchObject([
    { posting, repaired: true },
  ]);
  expect(here.workers.openJobs().map((one) => one.id)).toEqual([own]);
  expect(await say("closeCrowdJob", { id })).toMatchObject({ state: "closing" });
});

test.each([
  ["option_invalid", "askCrowd", { crowd: "receipts" }, "`content`"],
  ["option_invalid", "askCrowd", { crowd: "recipes", content: 1 }, "`recipes` is not registered"],
  ["option_invalid", "crowdJobs", { crowd: "bills", state: "runing" }, 'Did you mean "running"?'],
  ["option_invalid", "crowdJob", {}, "`crowdJob` needs `id`"],
  ["option_invalid", "rejectSubmission", { id: "x" }, "needs `feedback`"],
  ["option_invalid", "marketplaceBalance", { marketplace: "nowhere" }, "Known marketplaces: here, there"],
  ["instance_unknown", "crowdJob", { crowd: "receipts", key: "z" }, "has no job with the key `z`"],
  ["instance_unknown", "crowdJob", { id: "01b8dd58-e200-7001-9beb-f7b99343f5ec" }, "does not exist"],
  ["instance_unknown", "submission", { id: "01b8dd58-e200-7001-9beb-f7b99343f5ec" }, "does not exist"],
  ["instance_unknown", "retrySubmission", { id: "01b8dd58-e200-7001-9beb-f7b99343f5ec" }, "have no submission"],
])("%s: %s %j", async (code, verb, args, told) => {
  await expect(say(verb as RouteName, args)).rejects.toMatchObject({ code, message: expect.stringContaining(told) });
});
