import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { PermanentError, TransientError } from "../../src/base/step-errors.ts";
import { CannotExtend, type RemoteJob } from "../../src/crowd/marketplace.ts";
import { mturk } from "../../src/crowd/marketplaces/mturk/mturk.ts";
import { mturkNotifications } from "../../src/crowd/marketplaces/mturk/notifications.ts";
import { call, hour, type Market, openMarket, receipts } from "./mturk-market.ts";

let market: Market;
beforeEach(async () => {
  market = await openMarket();
});
afterEach(() => market[Symbol.asyncDispose]());

const approval = { verdict: "approved", feedback: null } as const;
const rejection = { verdict: "rejected", feedback: "It is\nempty." } as const;

async function published(changes: Parameters<Market["posting"]>[0] = {}): Promise<RemoteJob> {
  return market.marketplace.publish(market.posting(changes), call);
}

/** Everybody does it: one submission for each place. */
function fill({ id, places }: RemoteJob): string[] {
  return Array.from({ length: places }, (_, index) => market.server.workers.work(id, `A${index}WORKER`));
}

describe("published", () => {
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

  test("how many work on it, and whether somebody may begin, is told", async () => {
    const { marketplace, server } = market;
    const { id } = await published({ places: 1 });
    const held = server.workers.accept(id, "A1ANNA");
    expect(await marketplace.job(id, call)).toMatchObject({ pending: 1, open: false });
    server.workers.giveBack(held);
    expect(await marketplace.job(id, call)).toMatchObject({ pending: 0, open: true });
    server.world.advance(8 * 24 * hour);
    expect(await marketplace.job(id, call)).toMatchObject({ pending: 0, open: false });
  });

  test("jobs are listed page by page, those of others left out", async () => {
    const { marketplace, server } = market;
    const hit = server.world.hit((await published()).id);
    for (let count = 1; count < 103; count++) {
      const terms = count < 3 ? { ...hit.terms, RequesterAnnotation: "somebody else's" } : hit.terms;
      server.world.hits.set(`3${count}`, { ...hit, terms, id: `3${count}` });
    }
    const first = await marketplace.jobs(undefined, call);
    const second = await marketplace.jobs(first.next, call);
    expect([first.jobs.length, second.jobs.length, second.next]).toEqual([100, 1, undefined]);
  });

  test("a question of one's own is published instead of the form, and one that is too large is refused at once", async () => {
    await using own = await openMarket({
      question: ({ content }) => `<ExternalQuestion>${JSON.stringify(content)}</ExternalQuestion>`,
    });
    await own.marketplace.publish(own.posting({ content: "a" }), call);
    expect(own.server.calls[0]?.request.Question).toBe('<ExternalQuestion>"a"</ExternalQuestion>');
    const huge = own.marketplace.publish(own.posting({ content: "x".repeat(66_000) }), call);
    await expect(huge).rejects.toThrow(PermanentError);
    await expect(huge).rejects.toThrow("Mechanical Turk accepts 65535");
    expect(own.server.calls).toHaveLength(1);
  });

  test("workers who have done it elsewhere cannot do it, however often that is said", async () => {
    const { marketplace, server, posting } = market;
    const asked = posting({ excludes: ["A1ANNA", "A2BERT"] });
    server.plan("CreateQualificationType", "reset after");
    server.plan("AssociateQualificationWithWorker", "fault after");
    await expect(marketplace.publish(asked, call)).rejects.toThrow(TransientError);
    await expect(marketplace.publish(asked, call)).rejects.toThrow(TransientError);
    const { id } = await marketplace.publish(asked, call);
    expect(() => server.workers.accept(id, "A1ANNA")).toThrow("not qualified");
    expect(() => server.workers.accept(id, "A2BERT")).toThrow("not qualified");
    server.workers.accept(id, "A3CLEO");
    expect(server.world.qualifications.size).toBe(1);
    const { id: sibling } = await marketplace.publish({ ...asked, token: "second", excludes: ["A3CLEO"] }, call);
    expect(() => server.workers.accept(sibling, "A1ANNA")).toThrow("not qualified");
    expect(server.world.qualifications.size).toBe(1);
    await marketplace.close(sibling, call);
    await marketplace.dispose(sibling, call);
    expect(server.world.qualifications.size).toBe(0);
  });

  test("two jobs of one owner that are published at once keep out the same workers", async () => {
    const { marketplace, server, posting } = market;
    const asked = posting({ excludes: ["A1ANNA"] });
    const other = { ...asked, token: "other", excludes: ["A2BERT"] };
    const [first, second] = await Promise.all([marketplace.publish(asked, call), marketplace.publish(other, call)]);
    for (const worker of ["A1ANNA", "A2BERT"]) {
      expect(() => server.workers.accept(first.id, worker)).toThrow("not qualified");
      expect(() => server.workers.accept(second.id, worker)).toThrow("not qualified");
    }
  });

  test("workers need what is asked of them, and the service is told once whom to notify", async () => {
    const rate = {
      QualificationTypeId: "000000000000000000L0",
      Comparator: "GreaterThanOrEqualTo",
      IntegerValues: [95],
    } as const;
    const to = "https://sqs.us-east-1.amazonaws.com/1/turk";
    await using own = await openMarket({ qualifications: [{ ...rate, IntegerValues: [95] }], notify: { to } });
    const asked = own.posting();
    own.server.plan("UpdateNotificationSettings", "fault before");
    await expect(own.marketplace.publish(asked, call)).rejects.toThrow(TransientError);
    const { id } = await own.marketplace.publish(asked, call);
    await own.marketplace.publish(asked, call);
    const { terms, type } = own.server.world.hit(id);
    expect(terms.QualificationRequirements).toEqual([rate]);
    expect(own.server.world.subscriptions.get(type)).toMatchObject({ Destination: to, Transport: "SQS" });
    expect(own.server.countOf("UpdateNotificationSettings")).toBe(1);
    await own.marketplace.close(id, call);
    await own.marketplace.dispose(id, call);
    expect(own.server.countOf("ListQualificationTypes")).toBe(0);
  });

  test("Pawls with one account and different scopes do not know each other's jobs", async () => {
    await using own = await openMarket({ scope: "staging" });
    const { id, owner } = await own.marketplace.publish(own.posting(), call);
    const other = mturk({ endpoint: own.server.url, credentials: { accessKeyId: "A", secretAccessKey: "b" } });
    expect((await own.marketplace.jobs(undefined, call)).jobs).toMatchObject([{ id, owner }]);
    expect((await other.jobs(undefined, call)).jobs).toEqual([]);
    expect(await other.job(id, call)).toMatchObject({ id, owner: null });
    await other.shutdown();
  });
});

describe("submitted", () => {
  test("what workers filled in comes as an answer", async () => {
    const { marketplace, server } = market;
    const { id } = await published();
    const good = server.workers.work(id, "A1ANNA", { "total:number": "12.50", currency: "€ & <b>" });
    server.workers.accept(id, "A3CLEO");
    const bad = server.workers.work(id, "A2BERT", "no XML at all");
    expect(await marketplace.submissions(id, call)).toEqual([
      {
        id: good,
        job: id,
        worker: "A1ANNA",
        status: "submitted",
        answer: { total: 12.5, currency: "€ & <b>" },
        submittedAt: new Date(server.world.now),
      },
      expect.objectContaining({ id: bad, answer: { $raw: "no XML at all" } }),
    ]);
  });

  test("R37 R38 all of 250 submissions are found, over all pages and whatever was decided", async () => {
    const { marketplace, server } = market;
    const job = await published({ places: 250 });
    const submitted = fill(job);
    await marketplace.decide(submitted[0]!, approval, call);
    await marketplace.decide(submitted[1]!, rejection, call);
    const found = await marketplace.submissions(job.id, call);
    expect(found.map(({ id }) => id)).toEqual(submitted);
    expect(found.slice(0, 3).map(({ status }) => status)).toEqual(["approved", "rejected", "submitted"]);
    expect(server.countOf("ListAssignmentsForHIT")).toBe(3);
  });

  test("work that the service approved by itself is found", async () => {
    const { marketplace, server } = market;
    const { id } = await published();
    server.workers.work(id, "A1ANNA");
    server.world.advance(4 * 24 * hour);
    expect(await marketplace.submissions(id, call)).toMatchObject([{ worker: "A1ANNA", status: "approved" }]);
  });

  test("R37 notifications lead to the job and the submission, though they come twice, in any order, or not at all", async () => {
    const { server, marketplace } = market;
    const { id } = await published();
    const submission = server.workers.work(id, "A1ANNA");
    const told = server.delivered({ twice: true, reversed: true, without: "HITCreated" }).flatMap(mturkNotifications);
    expect(told.map(({ event }) => event)).toEqual([
      "AssignmentSubmitted",
      "AssignmentSubmitted",
      "AssignmentAccepted",
      "AssignmentAccepted",
    ]);
    expect(told[0]).toEqual({ id: told[1]?.id, event: "AssignmentSubmitted", job: id, submission });
    expect(server.delivered({ without: "AssignmentSubmitted" }).join()).not.toContain("AssignmentSubmitted");
    expect(await marketplace.submissions(id, call)).toHaveLength(1);
  });
});

describe("decided", () => {
  test("R46 R50 a submission is approved or rejected, and the worker is told why", async () => {
    const { marketplace, server } = market;
    const [good, bad] = fill(await published()) as [string, string];
    expect(await marketplace.decide(good, approval, call)).toEqual({ verdict: "approved", already: false });
    expect(await marketplace.decide(bad, rejection, call)).toEqual({ verdict: "rejected", already: false });
    expect(server.world.assignment(bad)).toMatchObject({ status: "Rejected", feedback: "It is empty." });
  });

  test("R46 what is decided already is adopted, also when it is the opposite", async () => {
    const { marketplace, server } = market;
    const [one, other] = fill(await published()) as [string, string];
    await marketplace.decide(one, approval, call);
    expect(await marketplace.decide(one, approval, call)).toEqual({ verdict: "approved", already: true });
    expect(await marketplace.decide(one, rejection, call)).toEqual({ verdict: "approved", already: true });
    server.world.advance(4 * 24 * hour);
    expect(await marketplace.decide(other, rejection, call)).toEqual({ verdict: "approved", already: true });
  });

  test("what was submitted just now and cannot be decided yet is tried again a little later", async () => {
    const { marketplace, server } = market;
    const { id } = await published();
    const submission = server.workers.work(id, "A1ANNA", {}, { hiddenMs: 5 * 60_000 });
    const early = await marketplace.decide(submission, approval, call).catch((error: unknown) => error);
    expect(early).toBeInstanceOf(TransientError);
    expect(early).toMatchObject({ retryAfterMs: 60_000 });
    expect(server.countOf("GetAssignment")).toBe(0);
    server.world.advance(6 * 60_000);
    expect(await marketplace.decide(submission, approval, call)).toEqual({ verdict: "approved", already: false });
  });

  test("a rejection without a word to the worker, and a submission that is not there, are refused for good", async () => {
    const { marketplace } = market;
    const [one] = fill(await published()) as [string];
    const silent = marketplace.decide(one, { verdict: "rejected", feedback: " \n" }, call);
    await expect(silent).rejects.toThrow(PermanentError);
    const unknown = marketplace.decide("3NOBODY", approval, call);
    await expect(unknown).rejects.toThrow(PermanentError);
    await expect(unknown).rejects.toThrow("Assignment 3NOBODY does not exist");
    const long = { verdict: "rejected", feedback: "x".repeat(2_000) } as const;
    expect(await marketplace.decide(one, long, call)).toMatchObject({ verdict: "rejected" });
  });
});

describe("extended", () => {
  test("R55 a job gets the places and the time that it lacks, once", async () => {
    const { marketplace, server } = market;
    const { id } = await published();
    const until = new Date(server.world.now + 20 * 24 * hour);
    const extension = { token: "five", places: 5, until };
    const extended = await marketplace.extend(id, extension, call);
    expect(extended).toMatchObject({ id, places: 5, expiresAt: until, open: true });
    expect(await marketplace.extend(id, extension, call)).toEqual(extended);
    server.world.advance(25 * hour);
    expect(await marketplace.extend(id, extension, call)).toEqual(extended);
    expect(server.countOf("CreateAdditionalAssignmentsForHIT")).toBe(1);
    expect(server.countOf("UpdateExpirationForHIT")).toBe(1);
  });

  test("a job that has ended is open again with more time", async () => {
    const { marketplace, server } = market;
    const { id } = await published();
    server.world.advance(8 * 24 * hour);
    const until = new Date(server.world.now + hour);
    expect(await marketplace.extend(id, { token: "t", places: 3, until }, call)).toMatchObject({
      places: 3,
      open: true,
    });
    server.workers.work(id, "A1ANNA");
  });

  test("one that was created with fewer than ten places never has ten, and another is published beside it", async () => {
    const { marketplace, server } = market;
    const few = await published({ places: 9 });
    const extension = { token: "ten", places: 10, until: null };
    await expect(marketplace.extend(few.id, extension, call)).rejects.toThrow(CannotExtend);
    expect(server.world.hit(few.id).places).toBe(9);
    expect(server.countOf("CreateAdditionalAssignmentsForHIT")).toBe(0);
    const many = await published({ places: 10 });
    expect(await marketplace.extend(many.id, { ...extension, places: 12 }, call)).toMatchObject({ places: 12 });
  });

  test("the service's own word that it cannot be is taken", async () => {
    const { marketplace, server } = market;
    const { id } = await published({ places: 10 });
    Object.assign(server.world.hit(id), { placesAtFirst: 9 });
    const refused = marketplace.extend(id, { token: "t", places: 11, until: null }, call);
    await expect(refused).rejects.toThrow(CannotExtend);
  });

  test("a job that is gone cannot be extended", async () => {
    const gone = market.marketplace.extend("3GONE", { token: "t", places: 4, until: null }, call);
    await expect(gone).rejects.toThrow(PermanentError);
  });
});

describe("ended", () => {
  test("nobody new may begin on a job that was closed, and who has begun may submit", async () => {
    const { marketplace, server } = market;
    const { id } = await published();
    const held = server.workers.accept(id, "A1ANNA");
    await marketplace.close(id, call);
    await marketplace.close(id, call);
    expect(() => server.workers.accept(id, "A2BERT")).toThrow("Nobody can begin");
    server.workers.submit(held, {});
    expect(await marketplace.submissions(id, call)).toHaveLength(1);
  });

  test("a job that was given more time can be closed again", async () => {
    const { marketplace, server } = market;
    const { id } = await published();
    await marketplace.close(id, call);
    server.world.advance(hour);
    const until = new Date(server.world.now + hour);
    await marketplace.extend(id, { token: "t", places: 3, until }, call);
    await marketplace.close(id, call);
    expect(await marketplace.job(id, call)).toMatchObject({ open: false });
  });

  test("R57 a job is deleted when all is decided, and not before", async () => {
    const { marketplace, server } = market;
    const { id } = await published();
    await expect(marketplace.dispose(id, call)).rejects.toThrow("it is open");
    const submission = server.workers.work(id, "A1ANNA");
    const held = server.workers.accept(id, "A2BERT");
    await marketplace.close(id, call);
    await expect(marketplace.dispose(id, call)).rejects.toThrow("a worker is working on it");
    server.workers.giveBack(held);
    const undecided = await marketplace.dispose(id, call).catch((error: unknown) => error);
    expect(undecided).toBeInstanceOf(TransientError);
    expect(undecided).toMatchObject({ message: expect.stringContaining("undecided"), retryAfterMs: 600_000 });
    await marketplace.decide(submission, approval, call);
    await marketplace.dispose(id, call);
    expect(await marketplace.job(id, call)).toBeUndefined();
    expect((await marketplace.jobs(undefined, call)).jobs).toEqual([]);
  });

  test("a job that is gone is closed and deleted already", async () => {
    const { marketplace, server } = market;
    const { id } = await published();
    await marketplace.close(id, call);
    await marketplace.dispose(id, call);
    await marketplace.dispose(id, call);
    await marketplace.close(id, call);
    server.world.hits.delete(id);
    await marketplace.dispose(id, call);
    await marketplace.close(id, call);
    expect(await marketplace.job(id, call)).toBeUndefined();
    await expect(marketplace.submissions(id, call)).rejects.toThrow(PermanentError);
  });
});

describe("paid", () => {
  test("a bonus is paid once, also when it is asked for again after the service forgot its token", async () => {
    const { marketplace, server } = market;
    const [submission] = fill(await published()) as [string];
    const token = `${market.posting().owner}:paying:1`;
    const bonus = { token, submission, worker: "A0WORKER", amount: "0.50", reason: "Very neat." };
    await marketplace.bonus(bonus, call);
    await marketplace.bonus(bonus, call);
    expect(server.world.payments).toHaveLength(1);
    server.world.advance(25 * hour);
    await marketplace.bonus(bonus, call);
    expect(server.world.payments).toHaveLength(1);
    const another = `${market.posting().owner}:paying:1`;
    await marketplace.bonus({ ...bonus, token: another }, call);
    expect(server.world.payments).toHaveLength(2);
  });

  test("a bonus that was paid is recognised by the payment, whatever words a used token is refused with", async () => {
    await using own = await openMarket();
    const { marketplace, server } = own;
    server.world.usedTokenText = (token) => `Le jeton ${token} a déjà servi.`;
    const { id } = await marketplace.publish(own.posting({ places: 1 }), call);
    const submission = server.workers.work(id, "A0WORKER");
    const token = `${own.posting().owner}:paying:1`;
    const bonus = { token, submission, worker: "A0WORKER", amount: "0.50", reason: "Very neat." };
    await marketplace.bonus(bonus, call);
    await marketplace.bonus(bonus, call);
    expect(server.world.payments).toHaveLength(1);
    await expect(marketplace.bonus({ ...bonus, reason: "Another." }, call)).rejects.toThrow(PermanentError);
  });

  test("what is left to pay with is told, and too little of it is a reason to stop", async () => {
    const { marketplace, server } = market;
    server.world.balance = 0.1;
    expect(await marketplace.balance(call)).toBe("0.10");
    const refused = marketplace.publish(market.posting(), call);
    await expect(refused).rejects.toThrow(PermanentError);
    await expect(refused).rejects.toThrow("Add prepaid balance");
  });
});

test("a form that is too large for any page is told before anything runs, unless the page is one's own", () => {
  const choices = Array.from({ length: 2_000 }, (_, index) => `choice ${index} of very many`);
  const many = { ...receipts, form: { enum: choices } };
  expect(market.marketplace.check(receipts)).toEqual([]);
  expect(market.marketplace.check(many)).toEqual([expect.stringContaining("`label` makes a page of")]);
  expect(mturk({ question: () => "" }).check(many)).toEqual([]);
});

test("nothing is live without `live: true`", () => {
  expect(mturk().title).toBe("Mechanical Turk");
  expect([mturk({}).sandbox, mturk({ live: true }).sandbox]).toEqual([true, false]);
  expect(() => mturk({ scope: "A:b" })).toThrow(expect.objectContaining({ code: "option_invalid" }));
  expect(() => mturk({ notify: { to: "me" } })).toThrow(expect.objectContaining({ code: "option_invalid" }));
  expect(() => mturk({ qualifications: [{}] as never })).toThrow(expect.objectContaining({ code: "option_invalid" }));
  expect(() => mturk({ endpoint: "mturk" })).toThrow(expect.objectContaining({ code: "option_invalid" }));
  expect(() => mturk({ live: "yes" as never })).toThrow(expect.objectContaining({ code: "option_invalid" }));
});
