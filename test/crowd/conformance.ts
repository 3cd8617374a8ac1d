import { crowd, type Json, PermanentError } from "pawl";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import {
  CannotExtend,
  type Marketplace,
  type MarketplaceContext,
  type Posting,
  type RemoteJob,
} from "../../src/crowd/marketplace.ts";
import type { AnyCrowd } from "../../src/definition/crowd.ts";

/** A marketplace under test, and what it takes to work there and to let time pass. */
export interface Specimen {
  readonly marketplace: Marketplace;
  /** A worker begins on a job; what is given back names what he has in hand. Throws when he may not. */
  accept(job: string, worker: string): Promise<string>;
  submit(held: string, answer: Json): Promise<unknown>;
  giveBack(held: string): Promise<unknown>;
  advance(ms: number): Promise<unknown>;
  /** Whether what nobody decides is approved in the end. */
  readonly approvesByItself: boolean;
  /** Whether single workers can be kept from a job. */
  readonly excludes: boolean;
  /** A job published with fewer places can never have as many as this; undefined where there is no such limit. */
  readonly staysBelow?: number;
  /** How many bonuses were paid so far, where there are any. */
  bonuses?(): Promise<number> | number;
  close(): Promise<unknown>;
}

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

const tags: AnyCrowd = crowd("tags", {
  marketplace: "market",
  label: { type: "object", properties: { category: { enum: ["cat", "dog"] } }, required: ["category"] },
  title: "Tag a picture",
  description: "Say what you see.",
  reward: "0.10",
  lifetime: "1h",
  workTime: "10m",
  approvedAfter: "2d",
});
const cat = { category: "cat" };
const call: MarketplaceContext = { signal: new AbortController().signal };
const aborted: MarketplaceContext = { signal: AbortSignal.abort(new Error("It was called off.")) };
const no = { verdict: "rejected", feedback: "That is a dog." } as const;
const yes = { verdict: "approved", feedback: null } as const;

let count = 0;
const fresh = (prefix: string) => `${prefix}${++count}`;

export function aPosting(given: Partial<Posting> = {}): Posting {
  return {
    token: fresh("token-"),
    owner: `00000000-0000-7000-8000-${String(++count).padStart(12, "0")}`,
    crowd: tags,
    content: { picture: "https://example.com/ü & <1>.png" },
    form: tags.form,
    places: 1,
    lifetimeMs: hour,
    excludes: [],
    ...given,
  };
}

/** What crowd jobs rely on, wherever they are published. `open` is given the crowds that are published there. */
export function marketplaceConformance(name: string, open: (crowds: readonly AnyCrowd[]) => Promise<Specimen>): void {
  describe(`the marketplace ${name}`, () => {
    let specimen: Specimen;
    let market: Marketplace;
    const published: string[] = [];
    beforeAll(async () => {
      specimen = await open([tags]);
      market = specimen.marketplace;
    }, 120_000);
    // What a test leaves behind is nothing that a worker of the next one could be given.
    afterEach(async () => {
      for (const job of published.splice(0)) await market.close(job, call);
    });
    afterAll(async () => {
      await market?.shutdown();
      await specimen?.close();
    });

    async function publish(given: Partial<Posting> = {}): Promise<RemoteJob> {
      const job = await market.publish(aPosting(given), call);
      published.push(job.id);
      return job;
    }

    async function job(id: string): Promise<RemoteJob> {
      const found = await market.job(id, call);
      if (found === undefined) throw new Error(`Job ${id} is gone.`);
      return found;
    }

    async function work(id: string, answer: Json = cat): Promise<string> {
      const worker = fresh("AWORKER");
      await specimen.submit(await specimen.accept(id, worker), answer);
      const found = (await market.submissions(id, call)).find((one) => one.worker === worker);
      return found!.id;
    }

    async function statuses(id: string): Promise<string[]> {
      return (await market.submissions(id, call)).map((one) => one.status);
    }

    /** The jobs of these owners, from all pages. */
    async function listed(owners: readonly string[]): Promise<RemoteJob[]> {
      const all: RemoteJob[] = [];
      for (let after: string | undefined; ; ) {
        const { jobs, next } = await market.jobs(after, call);
        all.push(...jobs);
        if (next === undefined) return all.filter((one) => owners.includes(one.owner ?? ""));
        after = next;
      }
    }

    test("has nothing against a crowd that is fit for it, and a name for messages", async () => {
      expect(market.check(tags)).toEqual([]);
      expect(market.title).not.toBe("");
      const left = await market.balance(call);
      expect(left === null || /^\d+(\.\d+)?$/.test(left)).toBe(true);
    });

    test("what is published has its places, its owner and its end", async () => {
      const { owner, ...rest } = aPosting({ places: 3 });
      const made = await publish({ owner, ...rest });
      expect(made).toMatchObject({ owner, places: 3, pending: 0, open: true });
      expect(await job(made.id)).toEqual(made);
      expect(await listed([owner])).toEqual([made]);
    });

    test("R36 a second posting with the same token is the first, at the same time or later", async () => {
      const posting = aPosting();
      const [one, other] = await Promise.all([publish(posting), publish(posting)]);
      await work(one!.id);
      const third = await publish(posting);
      expect([other!.id, third.id]).toEqual([one!.id, one!.id]);
      expect(await listed([posting.owner])).toHaveLength(1);
    });

    test("a place is taken by who begins, and free again when it is given back", async () => {
      const { id } = await publish();
      const held = await specimen.accept(id, fresh("AWORKER"));
      expect(await job(id)).toMatchObject({ pending: 1, open: false, places: 1 });
      await expect(specimen.accept(id, fresh("AWORKER"))).rejects.toThrow();
      await specimen.giveBack(held);
      expect(await job(id)).toMatchObject({ pending: 0, open: true });
      await work(id);
      expect(await job(id)).toMatchObject({ pending: 0, open: false, places: 1 });
    });

    test("a place is free again when its worker's time is over, and what comes later is no submission", async () => {
      const { id } = await publish();
      const held = await specimen.accept(id, fresh("AWORKER"));
      await specimen.advance(11 * minute);
      expect(await job(id)).toMatchObject({ pending: 0, open: true });
      await specimen.submit(held, cat).catch(() => {});
      expect(await market.submissions(id, call)).toEqual([]);
    });

    test("what was submitted comes with its worker and its answer", async () => {
      const { id } = await publish({ places: 2 });
      const worker = fresh("AWORKER");
      const held = await specimen.accept(id, worker);
      expect(await market.submissions(id, call)).toEqual([]);
      await specimen.submit(held, cat);
      const [one, ...more] = await market.submissions(id, call);
      expect(more).toEqual([]);
      expect(one).toMatchObject({ job: id, worker, status: "submitted", answer: cat });
      expect(one!.submittedAt.getTime()).toBeGreaterThan(0);
      await expect(specimen.accept(id, worker)).rejects.toThrow();
    });

    test("A17 who decides second is told what was decided first", async () => {
      const { id } = await publish({ places: 2 });
      const [good, bad] = [await work(id), await work(id)];
      expect(await market.decide(good, yes, call)).toEqual({ verdict: "approved", already: false });
      expect(await market.decide(good, yes, call)).toEqual({ verdict: "approved", already: true });
      expect(await market.decide(good, no, call)).toEqual({ verdict: "approved", already: true });
      expect(await market.decide(bad, no, call)).toEqual({ verdict: "rejected", already: false });
      expect(await market.decide(bad, yes, call)).toEqual({ verdict: "rejected", already: true });
      expect((await statuses(id)).sort()).toEqual(["approved", "rejected"]);
    });

    test("A17 of two who decide at once one decides, and both are told what", async () => {
      const { id } = await publish({ places: 4 });
      for (const verdicts of [
        [yes, no],
        [no, yes],
        [no, no],
      ]) {
        const one = await work(id);
        const [first, second] = await Promise.all(verdicts.map((verdict) => market.decide(one, verdict, call)));
        expect(second!.verdict).toBe(first!.verdict);
        expect([first!.already, second!.already].sort()).toEqual([false, true]);
        const kept = (await market.submissions(id, call)).find((each) => each.id === one);
        expect(kept?.status).toBe(first!.verdict);
      }
    });

    test("a rejection tells why", async () => {
      const { id } = await publish();
      const one = await work(id);
      await expect(market.decide(one, { verdict: "rejected", feedback: null }, call)).rejects.toThrow(PermanentError);
      await expect(market.decide(one, { verdict: "rejected", feedback: " " }, call)).rejects.toThrow(PermanentError);
      expect(await statuses(id)).toEqual(["submitted"]);
    });

    test("the place of a rejected submission is free again where that is promised, and only there", async () => {
      const { id } = await publish();
      await market.decide(await work(id), no, call);
      const { open, pending, places } = await job(id);
      expect(places).toBe(1);
      expect(open || pending > 0).toBe(market.can.rejectionReopens);
    });

    test("A20 an extension gives as many places as it names, once for each token", async () => {
      const { id } = await publish();
      await market.decide(await work(id), yes, call);
      const more = { token: fresh("more-"), places: 2, until: null };
      expect(await market.extend(id, more, call)).toMatchObject({ id, places: 2, open: true });
      expect(await market.extend(id, { ...more, token: fresh("more-"), places: 4 }, call)).toMatchObject({ places: 4 });
      expect(await market.extend(id, more, call)).toMatchObject({ places: 4 });
      expect(await job(id)).toMatchObject({ places: 4, open: true });
      for (const _ of [2, 3, 4]) await work(id);
      expect(await statuses(id)).toEqual(["approved", "submitted", "submitted", "submitted"]);
      expect(await job(id)).toMatchObject({ open: false });
    });

    test("a job that can never have so many places says so, and stays as it is", async () => {
      const { id } = await publish();
      const most = specimen.staysBelow;
      const wanted = { token: fresh("more-"), places: most ?? 20, until: null };
      if (most === undefined) expect(await market.extend(id, wanted, call)).toMatchObject({ places: 20 });
      else {
        await expect(market.extend(id, wanted, call)).rejects.toThrow(CannotExtend);
        expect(await job(id)).toMatchObject({ places: 1, open: true });
      }
    });

    test("at its end nobody new may begin, and who has begun may still submit", async () => {
      const { id, expiresAt } = await publish({ places: 3 });
      if (expiresAt === null) return;
      await specimen.advance(55 * minute);
      const held = await specimen.accept(id, fresh("AWORKER"));
      await specimen.advance(6 * minute);
      expect(await job(id)).toMatchObject({ open: false, pending: 1, expiresAt });
      await expect(specimen.accept(id, fresh("AWORKER"))).rejects.toThrow();
      await specimen.submit(held, cat);
      expect(await statuses(id)).toEqual(["submitted"]);
      const until = new Date(expiresAt.getTime() + 2 * hour);
      const longer = { token: fresh("longer-"), places: 3, until };
      expect(await market.extend(id, longer, call)).toMatchObject({ open: true, places: 3, expiresAt: until });
      await work(id);
      expect(await statuses(id)).toHaveLength(2);
    });

    test("a closed job takes nobody new; who has begun may still submit; closing it twice is no harm", async () => {
      const { id } = await publish({ places: 3 });
      const held = await specimen.accept(id, fresh("AWORKER"));
      const left = await specimen.accept(id, fresh("AWORKER"));
      await market.close(id, call);
      await market.close(id, call);
      expect(await job(id)).toMatchObject({ open: false, pending: 2, places: 3 });
      await expect(specimen.accept(id, fresh("AWORKER"))).rejects.toThrow();
      await specimen.giveBack(left);
      expect(await job(id)).toMatchObject({ open: false, pending: 1 });
      await specimen.submit(held, cat);
      expect(await job(id)).toMatchObject({ open: false, pending: 0 });
      expect(await statuses(id)).toEqual(["submitted"]);
    });

    test("an extension that comes again does not open what was closed since; one that is new does", async () => {
      const { id, expiresAt } = await publish();
      const until = new Date((expiresAt ?? new Date()).getTime() + hour);
      const longer = { token: fresh("longer-"), places: 2, until };
      await market.extend(id, longer, call);
      await market.close(id, call);
      expect(await market.extend(id, longer, call)).toMatchObject({ open: false, places: 2 });
      const anew = { token: fresh("longer-"), places: 3, until };
      expect(await market.extend(id, anew, call)).toMatchObject({ open: true, places: 3 });
      for (const _ of [1, 2, 3]) await work(id);
      expect(await job(id)).toMatchObject({ open: false });
    });

    test("places alone do not open what was closed", async () => {
      const { id } = await publish();
      await market.close(id, call);
      const more = { token: fresh("more-"), places: 2, until: null };
      expect(await market.extend(id, more, call)).toMatchObject({ open: false, places: 2 });
      await expect(specimen.accept(id, fresh("AWORKER"))).rejects.toThrow();
    });

    test("R57 a job is disposed of when it has ended and all is decided, and no sooner", async () => {
      const { owner, ...rest } = aPosting({ places: 2 });
      const { id } = await publish({ owner, ...rest });
      await expect(market.dispose(id, call)).rejects.toThrow();
      const held = await specimen.accept(id, fresh("AWORKER"));
      await market.close(id, call);
      await expect(market.dispose(id, call)).rejects.toThrow();
      await specimen.submit(held, cat);
      await expect(market.dispose(id, call)).rejects.toThrow();
      const [one] = await market.submissions(id, call);
      await market.decide(one!.id, yes, call);
      expect(await job(id)).toMatchObject({ id, owner });
      await market.dispose(id, call);
      expect(await market.job(id, call)).toBeUndefined();
      expect(await listed([owner])).toEqual([]);
      await market.dispose(id, call);
      await market.close(id, call);
    });

    test("a job nobody worked on is disposed of, and so is one that has all its answers", async () => {
      const [empty, full] = [await publish(), await publish()];
      await market.close(empty.id, call);
      await market.decide(await work(full.id), yes, call);
      for (const { id } of [empty, full]) {
        await market.dispose(id, call);
        expect(await market.job(id, call)).toBeUndefined();
      }
    });

    test("what never was is unknown, and nothing to work with", async () => {
      expect(await market.job("NOSUCHJOB", call)).toBeUndefined();
      await market.close("NOSUCHJOB", call);
      await market.dispose("NOSUCHJOB", call);
      await expect(market.submissions("NOSUCHJOB", call)).rejects.toThrow(PermanentError);
      await expect(market.decide("NOSUCHWORK", yes, call)).rejects.toThrow(PermanentError);
      const more = { token: fresh("more-"), places: 2, until: null };
      await expect(market.extend("NOSUCHJOB", more, call)).rejects.toThrow(PermanentError);
    });

    test("lists all jobs, however many pages they fill", async () => {
      const postings = Array.from({ length: 105 }, () => aPosting());
      const jobs = await Promise.all(postings.map((posting) => publish(posting)));
      const owners = postings.map((one) => one.owner);
      const found = await listed(owners);
      expect(found.map((one) => one.id).sort()).toEqual(jobs.map((one) => one.id).sort());
      expect(new Set(found.map((one) => one.owner)).size).toBe(105);
    });

    test("A16 lists all submissions of a job, more than a page of them, whatever was decided", async () => {
      const { id } = await publish({ places: 105 });
      const workers = Array.from({ length: 105 }, () => fresh("AWORKER"));
      await Promise.all(workers.map(async (worker) => specimen.submit(await specimen.accept(id, worker), cat)));
      const all = await market.submissions(id, call);
      expect(all.map((one) => one.worker).sort()).toEqual(workers.sort());
      await market.decide(all[0]!.id, yes, call);
      await market.decide(all[104]!.id, no, call);
      const rest = (await statuses(id)).filter((status) => status !== "submitted");
      expect(rest.sort()).toEqual(["approved", "rejected"]);
      expect(await market.submissions(id, call)).toHaveLength(105);
    });

    test("A16 what nobody decides is approved in the end where that is promised, and that decision is adopted", async () => {
      const [{ id }, { id: other }, { id: third }] = [await publish(), await publish(), await publish()];
      const one = await work(id);
      for (const job of [other, third]) await work(job);
      await specimen.advance(2 * day + minute);
      if (!specimen.approvesByItself) return expect(await statuses(id)).toEqual(["submitted"]);
      expect(await market.decide(one, no, call)).toEqual({ verdict: "approved", already: true });
      expect(await statuses(other)).toEqual(["approved"]);
      await market.dispose(third, call);
      expect(await market.job(third, call)).toBeUndefined();
    });

    test("keeps workers from a job who have done it elsewhere, or says that it cannot", async () => {
      const excluded = fresh("AWORKER");
      const posting = aPosting({ excludes: [excluded] });
      if (!specimen.excludes) return expect(publish(posting)).rejects.toThrow(PermanentError);
      const { id } = await publish(posting);
      await expect(specimen.accept(id, excluded)).rejects.toThrow();
      await work(id);
    });

    test("a bonus is paid once for each token, or never", async () => {
      const { id } = await publish();
      const submission = await work(id);
      const [{ worker } = { worker: "" }] = await market.submissions(id, call);
      await market.decide(submission, yes, call);
      const bonus = { token: fresh("bonus-"), submission, worker, amount: "0.50", reason: "Quick and right." };
      if (!market.can.bonus) return expect(market.bonus(bonus, call)).rejects.toThrow(PermanentError);
      const before = await specimen.bonuses!();
      await market.bonus(bonus, call);
      await market.bonus(bonus, call);
      expect(await specimen.bonuses!()).toBe(before + 1);
    });

    test("what is called off before it begins is not done", async () => {
      const posting = aPosting();
      await expect(market.publish(posting, aborted)).rejects.toThrow();
      expect(await listed([posting.owner])).toEqual([]);
      const { id } = await publish();
      const submission = await work(id);
      const later = { token: fresh("more-"), places: 2, until: null };
      const bonus = { token: fresh("bonus-"), submission, worker: "A1", amount: "0.50", reason: "Good." };
      for (const make of [
        () => market.job(id, aborted),
        () => market.jobs(undefined, aborted),
        () => market.submissions(id, aborted),
        () => market.decide(submission, yes, aborted),
        () => market.extend(id, later, aborted),
        () => market.close(id, aborted),
        () => market.dispose(id, aborted),
        () => market.bonus(bonus, aborted),
        () => market.balance(aborted),
      ]) {
        await expect(make()).rejects.toThrow();
      }
      expect(await statuses(id)).toEqual(["submitted"]);
      expect(await job(id)).toMatchObject({ places: 1 });
    });
  });
}
