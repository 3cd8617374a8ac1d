import { PermanentError, RejectSubmission } from "pawl";
import { describe, expect, test, vi } from "vitest";
import { sendAll } from "../../src/kernel/move/send.ts";
import { eventFor } from "../../src/people/lifecycle/sends.ts";
import { CapturedLog } from "../support/captured-log.ts";
import { eachStore } from "../support/each-store.ts";
import { openReceipts, type Receipts } from "../support/receipts.ts";

const away = new Error("503 Service Unavailable");
const call = { signal: new AbortController().signal };

/** Rejects totals that are not above zero. */
const onlyPositive = {
  onSubmitted({ label }: { label: { total: number } }) {
    if (label.total <= 0) throw new RejectSubmission("A total is above zero.");
  },
};

/** Lets so many pauses between attempts go by, each with what follows. */
async function pass(it: Receipts, times: number): Promise<void> {
  for (let time = 0; time < times; time++) {
    await it.t.advance("11m");
    await it.t.work();
  }
}

eachStore((store) => {
  describe("publishing", () => {
    test("is done once, also when its reply is lost", async () => {
      await using it = await openReceipts(store, { submissions: 2 });
      it.market.fail("publish", { after: away, times: 2 });
      const job = await it.ask();
      expect(await it.state(job)).toBe("publishing");
      await pass(it, 2);
      expect(await it.state(job)).toBe("running");
      expect(it.market.workers.jobsOf(job)).toHaveLength(1);
      expect(await it.t.pawl.crowd.job(job)).toMatchObject({ postings: [{ places: 2 }] });
    });

    test("asking twice with one key asks once", async () => {
      await using it = await openReceipts(store);
      const first = await it.t.pawl.crowd.ask(it.receipts, { key: "r", content: { image: "r" } });
      const second = await it.t.pawl.crowd.ask("receipts", { key: "r", content: { image: "r" } });
      expect(first.created).toBe(true);
      expect(second).toMatchObject({ created: false, id: first.id });
      expect(await it.t.pawl.crowd.job({ crowd: it.receipts, key: "r" })).toMatchObject({ id: first.id });
    });

    test("R35 that fails for good is told to people, once", async () => {
      const told: string[] = [];
      await using it = await openReceipts(store, {}, { alerts: [async (alert) => void told.push(alert.message)] });
      it.market.fail("publish", { before: new PermanentError("no funds"), times: 3 });
      await it.ask();
      await pass(it, 1);
      await it.t.deliverAlerts();
      expect(told).toEqual([]);
      await pass(it, 1);
      await it.t.deliverAlerts();
      await it.t.deliverAlerts();
      expect(told).toEqual([expect.stringMatching(/pawl_crowd_receipts.*publishing/)]);
    });

    test("R35 that cannot be enqueued is told to its caller, and that cannot be saved is an error in the log", async () => {
      const log = new CapturedLog();
      await using it = await openReceipts(store, {}, { logger: log });
      const ask = () => it.t.pawl.crowd.ask(it.receipts, { key: "r", content: { image: "r" } });
      it.t.faults.plant("start.before", "throw");
      await expect(ask()).rejects.toThrow("planted at start.before");
      const { id, created } = await ask();
      expect(created).toBe(true);
      it.t.faults.plant("report.before", "throw");
      const worker = it.t.pawl.work({ concurrency: 1, pollInterval: 10 });
      await vi.waitFor(() => expect(log.said("error").join()).toContain("planted at report.before"), 20_000);
      await worker.stop();
      await it.t.advance("31s");
      await it.t.work();
      expect(await it.state(id)).toBe("running");
      expect(it.market.workers.jobsOf(id)).toHaveLength(1);
    });

    test.each([
      ["publish", "publishing"],
      ["job", "syncing"],
      ["decide", "approving"],
      ["bonus", "paying"],
      ["dispose", "disposing"],
    ] as const)(
      "R35 people are told once of a %s that fails for good, and what it failed of is shown",
      async (what, state) => {
        const told: string[] = [];
        await using it = await openReceipts(store, {}, { alerts: [async (alert) => void told.push(alert.message)] });
        it.market.fail(what, { before: new PermanentError("no funds"), times: 3 });
        const job = await it.ask();
        if (what !== "publish") {
          it.submit(job, { W1: 1 });
          await it.look(job);
        }
        const [one] = await it.t.pawl.crowd.submissions({ job });
        if (what === "bonus") await it.t.pawl.crowd.bonus(one!.id, { amount: "1", reason: "well read" });
        await it.t.work();
        for (const wait of what === "dispose" ? ["1d", "7h", "7h", "7h"] : ["11m", "11m", "11m"]) {
          await it.t.advance(wait as "1d");
          await it.t.work();
          await it.t.deliverAlerts();
        }
        expect(told).toEqual([expect.stringContaining(state)]);
        if (what === "publish" || what === "job")
          expect(await it.t.pawl.crowd.job(job)).toMatchObject({ state: "failed", reason: "no funds" });
        if (what === "decide")
          expect(await it.t.pawl.crowd.submission(one!.id)).toMatchObject({ state: "failed", problem: "no funds" });
      },
    );

    test("R32 that fails is taken up again by itself, then waits as a dead letter, and is taken up by hand", async () => {
      await using it = await openReceipts(store);
      it.market.fail("publish", { before: new PermanentError("no funds"), times: 3 });
      const job = await it.ask();
      expect(await it.state(job)).toBe("failed");
      await pass(it, 2);
      expect(await it.moves(job)).toEqual([
        "start: publishing",
        "fail: failed",
        "recover: publishing",
        "fail: failed",
        "recover: publishing",
        "fail: failed",
      ]);
      const crowdJob = it.t.pawl.internalLifecycles.find(({ name }) => name === "pawl_crowd_receipts")!;
      const [letter] = await it.t.pawl.deadLetters.list({ lifecycle: crowdJob });
      expect(letter).toMatchObject({ origin: "publishing", error: { message: "no funds" }, status: "open" });
      await it.t.pawl.deadLetters.requeue(letter!.id, { actor: "ada" });
      await it.t.work();
      expect(await it.state(job)).toBe("running");
    });
  });

  describe("a look", () => {
    test("R33 is one at a time, and what happens meanwhile makes it look once more", async () => {
      await using it = await openReceipts(store, { submissions: 2 });
      const job = await it.ask();
      await it.t.pawl.crowd.sync(job);
      const slow = await it.t.claim("pawl_crowd_receipts/syncing");
      it.submit(job, { W1: 1, W2: 1 });
      for (let time = 0; time < 5; time++) await it.t.pawl.crowd.sync(job);
      await expect(it.t.claim("pawl_crowd_receipts/syncing")).rejects.toThrow("Nothing is ready");
      await slow.run();
      expect(await it.state(job)).toBe("syncing");
      await it.t.work();
      expect(await it.state(job)).toBe("finished");
      expect(await it.t.pawl.inspect.verify()).toEqual([]);
    });

    test("is made after publishing when somebody was quicker than the marketplace's reply", async () => {
      await using it = await openReceipts(store);
      const { id } = await it.t.pawl.crowd.ask(it.receipts, { content: {} });
      const slow = await it.t.claim("pawl_crowd_receipts/publishing");
      await it.t.pawl.crowd.sync(id);
      await slow.run();
      expect(await it.state(id)).toBe("syncing");
    });

    test("R52 is refused before the job is published, and ignored when it has ended", async () => {
      await using it = await openReceipts(store);
      const { id } = await it.t.pawl.crowd.ask(it.receipts, { content: {} });
      const { kernel } = it.t;
      const job = kernel.lifecycles.get("pawl_crowd_receipts")!;
      const [progress] = await sendAll(kernel, [eventFor(kernel, { lifecycle: job, id, event: "progress" })]);
      expect(progress).toMatchObject({ ok: false, error: { code: "transition_refused" } });
      await it.t.work();
      const [posting] = it.market.workers.jobsOf(id);
      it.submit(id, { W1: 1 });
      await it.look(id);
      expect(await it.state(id)).toBe("finished");
      expect(await it.t.pawl.crowd.handleNotification("memory", posting!.id)).toBe(false);
      await expect(it.t.pawl.crowd.sync(id)).rejects.toMatchObject({ code: "transition_refused" });
      // What its submissions say later is ignored, and leaves nothing for people to decide.
      const moves = await it.moves(id);
      const [late] = await sendAll(kernel, [eventFor(kernel, { lifecycle: job, id, event: "progress" })]);
      expect(late).toMatchObject({ ok: false, error: { code: "transition_refused" } });
      expect(await it.moves(id)).toEqual(moves);
      expect(await it.t.pawl.deadLetters.groups()).toEqual([]);
    });

    test("R52 that comes while the job is being published fails nothing, and the job is looked at afterwards", async () => {
      await using it = await openReceipts(store);
      const { id } = await it.t.pawl.crowd.ask(it.receipts, { content: {} });
      const slow = await it.t.claim("pawl_crowd_receipts/publishing");
      const { kernel } = it.t;
      const job = kernel.lifecycles.get("pawl_crowd_receipts")!;
      const [early] = await sendAll(kernel, [eventFor(kernel, { lifecycle: job, id, event: "progress" })]);
      expect(early).toMatchObject({ ok: false });
      await slow.run();
      expect(await it.state(id)).toBe("running");
      it.submit(id, { W1: 1 });
      await it.t.advance("10m");
      await it.t.work();
      expect(await it.state(id)).toBe("finished");
    });

    test("finds a posting gone that somebody deleted there, and ends with what there is", async () => {
      await using it = await openReceipts(store, { submissions: 2 });
      const job = await it.ask();
      const [posting] = it.market.workers.jobsOf(job);
      it.submit(job, { W1: 3 });
      await it.look(job);
      await it.market.close(posting!.id, call);
      await it.market.dispose(posting!.id, call);
      await it.look(job);
      expect(await it.t.pawl.crowd.job(job)).toMatchObject({
        state: "incomplete",
        reason: "It has 1 of 2 approved submissions, and its posting is gone from the marketplace.",
        labels: [{ total: 3 }],
      });
      expect(it.market.workers.openJobs()).toEqual([]);
    });
  });

  describe("more places", () => {
    test("R53 are had for what was rejected, until all that is wanted is there", async () => {
      await using it = await openReceipts(store, { submissions: 2, ...onlyPositive });
      const job = await it.ask();
      it.submit(job, { W1: 0, W2: 5 });
      await it.look(job);
      expect(await it.t.pawl.crowd.job(job)).toMatchObject({ state: "running", postings: [{ places: 3 }] });
      it.submit(job, { W3: -1 });
      await it.look(job);
      expect(await it.t.pawl.crowd.job(job)).toMatchObject({
        state: "running",
        postings: [{ places: 4 }],
        rejected: 2,
      });
      expect(await it.moves(job)).toContain("extended: syncing");
      it.submit(job, { W4: 5 });
      await it.look(job);
      expect(await it.t.pawl.crowd.job(job)).toMatchObject({
        state: "finished",
        approved: 2,
        rejected: 2,
        labels: [{ total: 5 }, { total: 5 }],
        consensus: { total: 5 },
        agreement: 1,
      });
      expect(await it.t.pawl.inspect.verify()).toEqual([]);
    });

    test.each(["before", "after"] as const)(
      "R55 are asked for again when that fails %s it is done, and never too many",
      async (when) => {
        await using it = await openReceipts(store, { submissions: 2, ...onlyPositive });
        const job = await it.ask();
        it.submit(job, { W1: 0 });
        it.market.fail("extend", { [when]: away, times: 2 });
        await it.look(job);
        expect(await it.state(job)).toBe("extending");
        await pass(it, 2);
        expect(await it.state(job)).toBe("running");
        expect(it.market.workers.jobsOf(job)).toMatchObject([{ places: 3 }]);
        expect(await it.t.pawl.crowd.job(job)).toMatchObject({ postings: [{ places: 3 }] });
      },
    );

    test("are had in a posting beside the first, closed to who was there, where that can have no more", async () => {
      await using it = await openReceipts(store, { submissions: 2, ...onlyPositive }, { market: { staysBelow: 3 } });
      const job = await it.ask();
      it.submit(job, { W1: 0, W2: 4 });
      await it.look(job);
      const [first, second] = it.market.workers.jobsOf(job);
      expect([first, second]).toMatchObject([{ places: 2 }, { places: 1 }]);
      expect(() => it.market.workers.accept(second!.id, "W1")).toThrow("excludes");
      it.submit(job, { W3: 4 });
      await it.look(job);
      expect(await it.t.pawl.crowd.job(job)).toMatchObject({ state: "finished", consensus: { total: 4 } });
    });

    test("are not had beyond the most that the crowd allows: then it falls short, and a person is told", async () => {
      await using it = await openReceipts(store, { submissions: 1, maxPlaces: 2, ...onlyPositive });
      const { id } = await it.t.pawl.start(it.expense, { data: { image: "a" } });
      await it.t.work();
      const [job] = await it.t.pawl.crowd.jobs(it.receipts);
      for (const worker of ["W1", "W2"]) {
        it.submit(job!.id, { [worker]: 0 });
        await it.look(job!.id);
      }
      expect(await it.t.pawl.crowd.job(job!.id)).toMatchObject({
        state: "incomplete",
        reason: "It has 0 of 1 approved submissions: 2 were rejected, and the maximum is 2 places.",
      });
      expect(await it.t.pawl.get(it.expense, { id })).toMatchObject({
        state: "unreadable",
        data: { why: expect.stringContaining("0 of 1") },
      });
      expect(await it.t.pawl.deadLetters.groups()).toHaveLength(1);
    });

    test("are left to the marketplace where it opens the place again", async () => {
      await using it = await openReceipts(store, { ...onlyPositive }, { market: { rejectionReopens: true } });
      const job = await it.ask();
      it.submit(job, { W1: 0 });
      await it.look(job);
      expect(await it.t.pawl.crowd.job(job)).toMatchObject({ state: "running", postings: [{ places: 1 }] });
      it.submit(job, { W2: 3 });
      await it.look(job);
      expect(await it.state(job)).toBe("finished");
    });
  });

  describe("when time is up with places left", () => {
    test("it has more of it, so often, and then ends with what there is", async () => {
      await using it = await openReceipts(store, {
        submissions: 2,
        lifetime: "1h",
        syncInterval: "90m",
        maxExtensions: 1,
      });
      const job = await it.ask();
      it.submit(job, { W1: 1 });
      await it.t.advance("90m");
      await it.t.work();
      expect(await it.moves(job)).toContain("extend: extending");
      expect(it.market.workers.openJobs()).toHaveLength(1);
      expect(await it.state(job)).toBe("running");
      await it.t.advance("90m");
      await it.t.work();
      expect(await it.t.pawl.crowd.job(job)).toMatchObject({
        state: "incomplete",
        reason: "It has 1 of 2 approved submissions, and its time has expired.",
        labels: [{ total: 1 }],
      });
    });

    test("it ends at once where the crowd wants that", async () => {
      await using it = await openReceipts(store, { lifetime: "1h", whenExpired: "finish" });
      const job = await it.ask();
      await it.t.advance("70m");
      await it.t.work();
      expect(await it.state(job)).toBe("incomplete");
    });

    test("it waits for those who have begun", async () => {
      await using it = await openReceipts(store, { lifetime: "1h", workTime: "2h", whenExpired: "finish" });
      const job = await it.ask();
      await it.t.advance("50m");
      await it.t.work();
      const begun = it.market.workers.accept(it.market.workers.jobsOf(job)[0]!.id, "W1");
      await it.t.advance("30m");
      await it.t.work();
      expect(await it.state(job)).toBe("running");
      it.market.workers.submit(begun, { total: 9 });
      await it.look(job);
      expect(await it.state(job)).toBe("finished");
    });
  });

  test("labels that tie are no answer", async () => {
    await using it = await openReceipts(store, { submissions: 2 });
    await it.t.pawl.start(it.expense, { key: "e", data: { image: "a" } });
    await it.t.work();
    const [job] = await it.t.pawl.crowd.jobs(it.receipts);
    it.submit(job!.id, { W1: { total: 1, currency: "EUR" }, W2: { total: 1, currency: "USD" } });
    await it.look(job!.id);
    expect(await it.t.pawl.crowd.job(job!.id)).toMatchObject({ state: "incomplete", reason: "The labels tie." });
    expect(await it.t.pawl.get(it.expense, "e")).toMatchObject({ state: "unreadable" });
  });

  describe("the end", () => {
    test("R54 comes when all is there and all is decided, and not before", async () => {
      await using it = await openReceipts(store, { submissions: 2, autoApprove: false });
      const job = await it.ask();
      const { crowd } = it.t.pawl;
      it.submit(job, { W1: 1 });
      await it.look(job);
      await crowd.approve((await crowd.submissions({ job }))[0]!.id);
      await it.t.work();
      expect(await it.state(job)).toBe("running");
      it.submit(job, { W2: 1 });
      await it.look(job);
      expect(await it.state(job)).toBe("running");
      await crowd.approve((await crowd.submissions({ job }, { state: "pending_approval" }))[0]!.id);
      await it.t.work();
      expect(await it.state(job)).toBe("finished");
    });

    test("R56 is written first; then the crowd is told, and what is left there waits to be deleted", async () => {
      await using it = await openReceipts(store, {
        onJobFinished() {
          throw new Error("the books are closed");
        },
      });
      it.market.fail("submissions", { before: away });
      const job = await it.ask();
      it.submit(job, { W1: 6 });
      await it.look(job);
      await pass(it, 1);
      expect(await it.t.pawl.crowd.job(job)).toMatchObject({ state: "finished", consensus: { total: 6 } });
      expect(it.market.workers.jobsOf(job)).toHaveLength(1);
    });

    test("R58 the crowd is told in a task of its own, and only when that has succeeded is the posting deleted", async () => {
      const told: unknown[] = [];
      await using it = await openReceipts(store, {
        onJobFinished({ consensus, labels, approved, rejected, reason, content, key }) {
          told.push({ consensus, labels, approved, rejected, reason, content, key });
          if (told.length < 3) throw new Error("the books are closed");
        },
      });
      const job = await it.ask();
      it.submit(job, { W1: 6 });
      await it.look(job);
      expect(await it.state(job)).toBe("finished");
      expect(told).toEqual([
        {
          consensus: { total: 6 },
          labels: [{ total: 6 }],
          approved: 1,
          rejected: 0,
          reason: null,
          content: { image: "r" },
          key: "r",
        },
      ]);
      const disposal = it.t.pawl.internalLifecycles.find(({ name }) => name === "pawl_disposal_receipts")!;
      expect(await it.t.pawl.list(disposal)).toEqual([]);
      await pass(it, 2);
      expect(told).toHaveLength(3);
      expect(await it.t.pawl.list(disposal)).toMatchObject([{ state: "kept" }]);
      await it.t.advance("23h");
      await it.t.work();
      expect(it.market.workers.jobsOf(job)).toHaveLength(1);
      await it.t.advance("1h");
      await it.t.work();
      expect(it.market.workers.jobsOf(job)).toEqual([]);
      expect(await it.t.pawl.list(disposal)).toMatchObject([{ state: "disposed" }]);
      expect(await it.t.pawl.inspect.verify()).toEqual([]);
    });

    test("R56 what was rejected can still be taken back there for thirty days", async () => {
      await using it = await openReceipts(store, { ...onlyPositive });
      const job = await it.ask();
      it.submit(job, { W1: 0 });
      await it.look(job);
      it.submit(job, { W2: 1 });
      await it.look(job);
      expect(await it.state(job)).toBe("finished");
      await it.t.advance("29d");
      await it.t.work();
      expect(it.market.workers.jobsOf(job)).toHaveLength(1);
      await it.t.advance("25h");
      await it.t.work();
      expect(it.market.workers.jobsOf(job)).toEqual([]);
    });

    test("R57 a disposal that fails is tried again, and goes to people when it keeps failing", async () => {
      const told: string[] = [];
      await using it = await openReceipts(
        store,
        { disposeAfter: "1h" },
        { alerts: [async (one) => void told.push(one.message)] },
      );
      const job = await it.ask();
      it.submit(job, { W1: 1 });
      it.market.fail("dispose", { before: away, times: 24 });
      await it.look(job);
      await it.t.advance("1h");
      await it.t.work();
      const disposal = it.t.pawl.internalLifecycles.find(({ name }) => name === "pawl_disposal_receipts")!;
      expect(await it.t.pawl.list(disposal)).toMatchObject([{ state: "disposing" }]);
      for (let round = 0; round < 3; round++) {
        await pass(it, 7);
        await it.t.advance("6h");
        await it.t.work();
      }
      await it.t.deliverAlerts();
      expect(told).toEqual([expect.stringContaining("pawl_disposal_receipts")]);
      const [letter] = await it.t.pawl.deadLetters.list({ lifecycle: disposal });
      await it.t.pawl.deadLetters.requeue(letter!.id);
      await it.t.work();
      expect(it.market.workers.jobsOf(job)).toEqual([]);
    });
  });

  describe("a question that is taken back", () => {
    test("is closed there; who has begun may finish, is decided and paid", async () => {
      await using it = await openReceipts(store, { submissions: 3 });
      await it.t.pawl.start(it.expense, { key: "e", data: { image: "a" } });
      await it.t.work();
      const [job] = await it.t.pawl.crowd.jobs(it.receipts);
      const [posting] = it.market.workers.jobsOf(job!.id);
      const begun = it.market.workers.accept(posting!.id, "W1");
      await it.t.pawl.send(it.expense, "e", "withdraw");
      await it.t.work();
      expect(it.market.workers.openJobs()).toEqual([]);
      expect(await it.state(job!.id)).toBe("running");
      it.market.workers.submit(begun, { total: 1 });
      await it.look(job!.id);
      expect(await it.submissions(job!.id)).toEqual({ W1: "approved" });
      expect(await it.t.pawl.crowd.job(job!.id)).toMatchObject({ state: "closed", approved: 1 });
      expect(await it.t.pawl.get(it.expense, "e")).toMatchObject({ state: "withdrawn" });
      expect(await it.t.pawl.inspect.verify()).toEqual([]);
    });

    test("before it was published is published and closed, since that may be under way", async () => {
      await using it = await openReceipts(store);
      const { id } = await it.t.pawl.crowd.ask(it.receipts, { content: {} });
      await it.t.pawl.crowd.close(id, { actor: "ada", reason: "asked by mistake" });
      await it.t.work();
      expect(it.market.workers.openJobs()).toEqual([]);
      expect(await it.state(id)).toBe("closed");
    });

    test("by being discarded is closed there, too", async () => {
      await using it = await openReceipts(store);
      const job = await it.ask();
      await it.t.pawl.crowd.discard(job, { actor: "ada" });
      await it.t.work();
      expect(it.market.workers.openJobs()).toEqual([]);
    });
  });
});
