import { inspect } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { PermanentError, TransientError } from "../../src/base/step-errors.ts";
import type { Marketplace } from "../../src/crowd/marketplace.ts";
import { Refusal } from "../support/mturk-server/refusal.ts";
import type { Fault } from "../support/mturk-server/server.ts";
import { call, hour, type Market, openMarket } from "./mturk-market.ts";

let market: Market;
beforeEach(async () => {
  market = await openMarket();
});
afterEach(() => market[Symbol.asyncDispose]());

const approval = { verdict: "approved", feedback: null } as const;

/** What strikes once: before the call is carried out, or after, when only its reply is lost. */
const faults: readonly Fault[] = ["fault before", "fault after", "reset before", "reset after", "throttled"];

/** A first attempt on which the fault strikes, and the second. */
async function tried<T>(
  operation: string,
  fault: Fault,
  attempt: (marketplace: Marketplace) => Promise<T>,
): Promise<T> {
  market.server.plan(operation, fault);
  await expect(attempt(market.marketplace)).rejects.toThrow(TransientError);
  return attempt(market.marketplace);
}

describe.each(faults)("R36 after a %s", (fault) => {
  test("a job is published once", async () => {
    const asked = market.posting();
    const job = await tried("CreateHIT", fault, (marketplace) => marketplace.publish(asked, call));
    expect([...market.server.world.hits.keys()]).toEqual([job.id]);
    expect(job.owner).toBe(asked.owner);
  });

  test("a submission is decided once", async () => {
    const { id } = await market.marketplace.publish(market.posting(), call);
    const submission = market.server.workers.work(id, "A1ANNA");
    const decided = await tried("ApproveAssignment", fault, (marketplace) =>
      marketplace.decide(submission, approval, call),
    );
    expect(decided).toEqual({ verdict: "approved", already: fault === "fault after" || fault === "reset after" });
  });

  test("a job is extended once, in places and in time", async () => {
    const { id } = await market.marketplace.publish(market.posting(), call);
    const until = new Date(market.server.world.now + 20 * 24 * hour);
    market.server.plan("UpdateExpirationForHIT", fault);
    const extend = (marketplace: Marketplace) => marketplace.extend(id, { token: "t", places: 6, until }, call);
    await expect(tried("CreateAdditionalAssignmentsForHIT", fault, extend)).rejects.toThrow(TransientError);
    expect(await extend(market.marketplace)).toMatchObject({ places: 6, expiresAt: until });
    expect(market.server.world.hit(id).places).toBe(6);
  });

  test("a job is closed, and deleted", async () => {
    const { id } = await market.marketplace.publish(market.posting(), call);
    await tried("UpdateExpirationForHIT", fault, (marketplace) => marketplace.close(id, call));
    await tried("DeleteHIT", fault, (marketplace) => marketplace.dispose(id, call));
    expect(market.server.world.hit(id).disposed).toBe(true);
  });

  test("a bonus is paid once", async () => {
    const { id } = await market.marketplace.publish(market.posting(), call);
    const submission = market.server.workers.work(id, "A1ANNA");
    const bonus = { token: "b", submission, worker: "A1ANNA", amount: "0.50", reason: "Very neat." };
    await tried("SendBonus", fault, (marketplace) => marketplace.bonus(bonus, call));
    expect(market.server.world.payments).toHaveLength(1);
  });
});

test("a job whose reply was lost is found by its annotation after the service forgot the token", async () => {
  const { marketplace, server, posting } = market;
  const asked = posting();
  for (let count = 0; count < 3; count++) await marketplace.publish(posting(), call);
  server.plan("CreateHIT", "reset after");
  await expect(marketplace.publish(asked, call)).rejects.toThrow(TransientError);
  const ids = [...server.world.hits.keys()];
  server.world.advance(25 * hour);
  expect(await marketplace.publish(asked, call)).toMatchObject({ id: ids.at(-1), owner: asked.owner });
  expect([...server.world.hits.keys()]).toEqual(ids);
});

test("a job is not looked for among all others as long as the token is remembered", async () => {
  const { marketplace, server, posting } = market;
  await marketplace.publish(posting(), call);
  expect(server.countOf("ListHITs")).toBe(0);
});

test("a job that exists is found by its annotation when the refusal does not name it, or names another", async () => {
  const { marketplace, server, posting } = market;
  const asked = posting();
  const { id } = await marketplace.publish(asked, call);
  const other = await marketplace.publish(posting(), call);
  for (const text of ["It exists.", `${other.id} knows it.`]) {
    server.plan("CreateHIT", new Refusal(text, "HITAlreadyExists"));
    expect(await marketplace.publish(asked, call)).toMatchObject({ id });
  }
});

test("a job that exists and is not shown yet is looked for again later", async () => {
  const { marketplace, server, posting } = market;
  server.plan("CreateHIT", new Refusal("The HIT 3AAAAAAAAAAAAAAAAAAAAAAAAAAAAA already exists.", "HitAlreadyExists"));
  const hidden = await marketplace.publish(posting(), call).catch((error: unknown) => error);
  expect(hidden).toBeInstanceOf(TransientError);
  expect(hidden).toMatchObject({ retryAfterMs: 60_000 });
});

test("many who extend a job at once with one aim give it the places once", async () => {
  const { marketplace, server, posting } = market;
  const { id } = await marketplace.publish(posting(), call);
  const extension = { token: "t", places: 5, until: null };
  await Promise.all(Array.from({ length: 4 }, () => marketplace.extend(id, extension, call)));
  expect(server.world.hit(id).places).toBe(5);
});

test("a code that nobody knows is surfaced, and not tried again", async () => {
  const { marketplace, server, posting } = market;
  server.plan("CreateHIT", new Refusal("The moon is full.", "MoonFull"));
  const refused = marketplace.publish(posting(), call);
  await expect(refused).rejects.toThrow(PermanentError);
  await expect(refused).rejects.toThrow("Mechanical Turk refused to create the HIT: The moon is full.");
});

test("no error holds what a request was signed with", async () => {
  const { marketplace, server, posting } = market;
  for (const fault of [...faults, new Refusal("No.", "MoonFull")]) {
    server.plan("CreateHIT", fault);
    const error: unknown = await marketplace.publish(posting(), call).catch((error: unknown) => error);
    expect(inspect(error, { depth: 20, showHidden: true })).not.toMatch(/AKIDEXAMPLE|AWS4-HMAC/);
  }
});

test("a page that failed fails the listing, rather than leaving something out", async () => {
  const { marketplace, server, posting } = market;
  const { id } = await marketplace.publish(posting({ places: 101 }), call);
  for (let count = 0; count < 101; count++) server.workers.work(id, `A${count}WORKER`);
  const fault = new Refusal("Rate exceeded", undefined, { type: "ThrottlingException" });
  await marketplace.submissions(id, call);
  server.plan("ListAssignmentsForHIT", fault);
  await expect(marketplace.submissions(id, call)).rejects.toThrow(TransientError);
  expect(await marketplace.submissions(id, call)).toHaveLength(101);
});

test("a call ends when its step ends, with the step's own reason", async () => {
  const { marketplace, server, posting } = market;
  server.plan("CreateHIT", "silence");
  const step = new AbortController();
  const publishing = marketplace.publish(posting(), { signal: step.signal });
  const reason = new Error("superseded");
  await server.asked("CreateHIT");
  step.abort(reason);
  await expect(publishing).rejects.toBe(reason);
  await expect(marketplace.balance({ signal: step.signal })).rejects.toBe(reason);
});

test("a service that does not answer is given up on in time", async () => {
  await using hasty = await openMarket({ requestTimeout: "50ms" });
  hasty.server.plan("GetAccountBalance", "silence");
  const silent = hasty.marketplace.balance(call);
  await expect(silent).rejects.toThrow(TransientError);
  await expect(silent).rejects.toThrow("no response within 50 ms");
});

test("a service that is not there is waited for", async () => {
  await market.server.stop();
  await expect(market.marketplace.balance(call)).rejects.toThrow(TransientError);
  market = await openMarket();
});
