import { afterEach, beforeEach, expect, test } from "vitest";
import { call, type Market, openMarket } from "./mturk-market.ts";

let market: Market;
beforeEach(async () => {
  market = await openMarket();
});
afterEach(() => market.stop());

test("a job is published with all that its crowd says, and can be read again", async () => {
  const { marketplace, server, posting } = market;
  const asked = posting();
  const job = await marketplace.publish(asked, call);
  expect(job).toEqual({
    id: expect.stringMatching(/^[A-Z0-9]{30}$/),
    owner: asked.owner,
    places: 3,
    pending: 0,
    expiresAt: new Date(server.world.now + asked.lifetimeMs),
    open: true,
  });
  expect(await marketplace.job(job.id, call)).toEqual(job);
  expect(server.calls[0]).toMatchObject({
    operation: "CreateHIT",
    request: {
      Title: "Read a receipt",
      Keywords: "receipt,text",
      Reward: "0.05",
      AutoApprovalDelayInSeconds: 3 * 24 * 3_600,
      AssignmentDurationInSeconds: 3_600,
      UniqueRequestToken: asked.token,
    },
  });
});

test("what workers filled in comes as an answer, and is decided", async () => {
  const { marketplace, server, posting } = market;
  const { id } = await marketplace.publish(posting(), call);
  const good = server.workers.work(id, "A1ANNA", { "total:number": "12.50", currency: "EUR" });
  const bad = server.workers.work(id, "A2BERT", "no XML at all");
  expect(await marketplace.submissions(id, call)).toEqual([
    {
      id: good,
      job: id,
      worker: "A1ANNA",
      status: "submitted",
      answer: { total: 12.5, currency: "EUR" },
      submittedAt: new Date(server.world.now),
    },
    expect.objectContaining({ id: bad, answer: { $raw: "no XML at all" } }),
  ]);
  const approval = { verdict: "approved", feedback: null } as const;
  const rejection = { verdict: "rejected", feedback: "It is\nempty." } as const;
  expect(await marketplace.decide(good, approval, call)).toEqual({ verdict: "approved", already: false });
  expect(await marketplace.decide(bad, rejection, call)).toEqual({ verdict: "rejected", already: false });
  expect((await marketplace.submissions(id, call)).map(({ status }) => status)).toEqual(["approved", "rejected"]);
  expect(server.calls.at(-2)?.request.RequesterFeedback).toBe("It is empty.");
});
