import { PawlError, PermanentError, RejectSubmission, TransientError } from "pawl";
import { describe, expect, test } from "vitest";
import { eachStore } from "../support/each-store.ts";
import { openReceipts } from "../support/receipts.ts";

const away = new Error("503 Service Unavailable");

eachStore((store) => {
  describe("what comes in", () => {
    test("R37 is taken in by a notification, and by the sweep when nothing was told, in one and the same way", async () => {
      await using it = await openReceipts(store, { submissions: 2 });
      const job = await it.ask();
      const [posting] = it.market.workers.jobsOf(job);
      it.submit(job, { W1: 1 });
      expect(await it.t.pawl.crowd.handleNotification("memory", posting!.id)).toBe(true);
      await it.t.work();
      expect(await it.submissions(job)).toEqual({ W1: "approved" });
      it.submit(job, { W2: 1 });
      await it.t.advance("10m");
      await it.t.work();
      expect(await it.submissions(job)).toEqual({ W1: "approved", W2: "approved" });
      expect((await it.moves(job)).slice(0, 4)).toEqual([
        "start: publishing",
        "published: running",
        "notice: syncing",
        "wait: running",
      ]);
      expect(await it.moves(job)).toContain("sweep: syncing");
      expect(await it.state(job)).toBe("finished");
      expect(await it.t.pawl.inspect.verify()).toEqual([]);
    });

    test("R38 R40 is one submission however often it is seen, and is looked at once", async () => {
      const seen: string[] = [];
      await using it = await openReceipts(store, {
        submissions: 2,
        onSubmitted: ({ worker }) => void seen.push(worker),
      });
      const job = await it.ask();
      it.submit(job, { W1: 1 });
      for (let time = 0; time < 3; time++) await it.look(job);
      expect(await it.submissions(job)).toEqual({ W1: "approved" });
      expect(seen).toEqual(["W1"]);
    });

    test("R39 that could not be written is taken in by the next look", async () => {
      await using it = await openReceipts(store);
      const job = await it.ask();
      it.submit(job, { W1: 1 });
      await it.t.pawl.crowd.sync(job);
      const worker = await it.t.claim("pawl_crowd_receipts/syncing");
      const gone = new PawlError("database_unreachable", "It is gone.");
      it.t.faults.plant("transaction.written", () => Promise.reject(gone));
      await expect(worker.run()).rejects.toBe(gone);
      expect(await it.submissions(job)).toEqual({});
      await it.t.advance("31s");
      await it.t.work();
      expect(await it.submissions(job)).toEqual({ W1: "approved" });
    });

    test("R40 whose worker died before it was looked at is looked at by another", async () => {
      await using it = await openReceipts(store);
      const job = await it.ask();
      it.submit(job, { W1: 1 });
      await it.t.pawl.crowd.sync(job);
      await (await it.t.claim("pawl_crowd_receipts/syncing")).run();
      await it.t.claim("pawl_submission_receipts/submitted"); // And nothing is ever heard of it.
      await it.t.work();
      expect(await it.submissions(job)).toEqual({ W1: "submitted" });
      await it.t.advance("31s");
      await it.t.work();
      expect(await it.submissions(job)).toEqual({ W1: "approved" });
      expect(await it.state(job)).toBe("finished");
    });

    test("that the marketplace has approved by itself is seen, called so, and counts", async () => {
      const told: unknown[] = [];
      await using it = await openReceipts(store, {
        approvedAfter: "1h",
        syncInterval: "2h",
        autoApprove: false,
        onSubmitted: () => void told.push("submitted"),
        onApproved: ({ auto }) => void told.push({ auto }),
      });
      const job = await it.ask();
      it.submit(job, { W1: 7 });
      await it.t.advance("2h");
      await it.t.work();
      expect(await it.t.pawl.crowd.submissions({ job })).toMatchObject([
        { state: "approved", auto: true, conflict: null },
      ]);
      expect(told).toEqual(["submitted", { auto: true }]);
      expect(await it.state(job)).toBe("finished");
    });

    test("that does not fit its form is for a person to decide", async () => {
      await using it = await openReceipts(store);
      const job = await it.ask();
      it.submit(job, { W1: "twelve" });
      await it.look(job);
      const [one] = await it.t.pawl.crowd.submissions({ job });
      expect(one).toMatchObject({ state: "errored", label: null, problem: expect.stringContaining("/total") });
      await it.t.pawl.crowd.reject(one!.id, { feedback: "A number was asked for.", actor: "ada" });
      await it.t.work();
      expect(await it.submissions(job)).toEqual({ W1: "rejected" });
    });

    test("that does not fit its form can be paid all the same, and is no label", async () => {
      await using it = await openReceipts(store, { submissions: 2 });
      const { crowd } = it.t.pawl;
      const [first, other] = [await it.ask("a"), await it.ask("b")];
      it.submit(first, { W1: "twelve", W2: 12 });
      it.submit(other, { W1: "twelve", W2: "12" });
      for (const job of [first, other]) await it.look(job);
      for (const { id } of await crowd.submissions(it.receipts, { state: "errored" })) await crowd.approve(id);
      await it.t.work();
      expect(await crowd.job(first)).toMatchObject({ state: "finished", labels: [{ total: 12 }], approved: 2 });
      const reason = "No approved submission fits the form.";
      expect(await crowd.job(other)).toMatchObject({ state: "incomplete", labels: [], consensus: null, reason });
    });
  });

  describe("the look at it", () => {
    test("R41 is the crowd's own check, with all that is known of it, and only of what is still to be looked at", async () => {
      const seen: unknown[] = [];
      await using it = await openReceipts(store, {
        onSubmitted: ({ label, worker, content, submission, job, jobId, attempt }) =>
          void seen.push({ label, worker, content, submission, job, jobId, attempt }),
      });
      const job = await it.ask();
      const [id] = it.submit(job, { W1: 1 });
      const [posting] = it.market.workers.jobsOf(job);
      await it.look(job);
      const shown = { label: { total: 1 }, worker: "W1", content: { image: "r" } };
      expect(seen).toEqual([{ ...shown, submission: id, job: posting!.id, jobId: job, attempt: 1 }]);
      const [one] = await it.t.pawl.crowd.submissions({ job });
      await expect(it.t.pawl.crowd.retry(one!.id)).rejects.toMatchObject({ code: "transition_refused" });
      expect(seen).toHaveLength(1);
    });

    test("R42 rejects what that check rejects, and the worker is told why", async () => {
      await using it = await openReceipts(store, {
        onSubmitted({ label, worker, content }) {
          if (label.total < 0)
            throw new RejectSubmission(`${worker}: no negative totals on ${JSON.stringify(content)}`);
        },
      });
      const job = await it.ask();
      const [id] = it.submit(job, { W1: -1 });
      await it.look(job);
      expect(it.market.workers.assignment(id!)).toMatchObject({
        status: "rejected",
        feedback: 'W1: no negative totals on {"image":"r"}',
      });
      const [one] = await it.t.pawl.crowd.submissions({ job });
      expect(await it.moves(one!.id, "submission")).toEqual([
        "start: submitted",
        "reject: rejecting",
        "rejected: rejected",
      ]);
    });

    test("R43 leaves anything else that is thrown to a person, at once and with a dead letter", async () => {
      let calls = 0;
      await using it = await openReceipts(store, {
        onSubmitted() {
          calls++;
          throw new Error("no such column");
        },
      });
      const job = await it.ask();
      const [id] = it.submit(job, { W1: 1 });
      await it.look(job);
      await it.t.advance("1h");
      await it.t.work();
      expect(calls).toBe(1);
      expect(it.market.workers.assignment(id!)).toMatchObject({ status: "submitted" });
      const [one] = await it.t.pawl.crowd.submissions({ job });
      expect(one).toMatchObject({ state: "errored", problem: "no such column" });
      expect(await it.state(job)).toBe("running");
      expect(await it.t.pawl.deadLetters.groups()).toMatchObject([{ pattern: "Error: no such column" }]);
    });

    test("tries again what says that it is a moment's trouble", async () => {
      let calls = 0;
      await using it = await openReceipts(store, {
        onSubmitted() {
          if (++calls < 3) throw new TransientError("the check is busy");
        },
      });
      const job = await it.ask();
      it.submit(job, { W1: 1 });
      await it.look(job);
      for (let time = 0; time < 2; time++) {
        await it.t.advance("10s");
        await it.t.work();
      }
      expect(calls).toBe(3);
      expect(await it.submissions(job)).toEqual({ W1: "approved" });
    });

    test.each(["retry", "approve", "reject", "requeue"] as const)(
      "an errored one has a way out: %s, which also decides its dead letter",
      async (way) => {
        let isBroken = true;
        await using it = await openReceipts(store, {
          onSubmitted() {
            if (isBroken) throw new Error("no such column");
          },
        });
        const { crowd } = it.t.pawl;
        const job = await it.ask();
        it.submit(job, { W1: 1 });
        await it.look(job);
        isBroken = false;
        const [one] = await crowd.submissions(it.receipts, { state: "errored" });
        const submission = it.t.pawl.internalLifecycles.find(({ name }) => name === "pawl_submission_receipts")!;
        const [letter] = await it.t.pawl.deadLetters.list({ lifecycle: submission });
        if (way === "requeue") await it.t.pawl.deadLetters.requeue(letter!.id, { actor: "ada" });
        else if (way === "reject") await crowd.reject(one!.id, { feedback: "no", actor: "ada" });
        else await crowd[way](one!.id, { actor: "ada" });
        await it.t.work();
        expect(await it.submissions(job)).toEqual({ W1: way === "reject" ? "rejected" : "approved" });
        if (way !== "reject")
          expect(await crowd.job(job)).toMatchObject({ state: "finished", consensus: { total: 1 } });
        expect(await it.t.pawl.deadLetters.get(letter!.id)).toMatchObject({ status: "requeued", decidedBy: "ada" });
        expect(await it.t.pawl.deadLetters.list({ lifecycle: submission })).toEqual([]);
      },
    );

    test("R44 approves by itself, or leaves it to a person where the crowd says so", async () => {
      await using it = await openReceipts(store, { autoApprove: false });
      const job = await it.ask();
      it.submit(job, { W1: 1 });
      await it.look(job);
      const [one] = await it.t.pawl.crowd.submissions(it.receipts, { state: "pending_approval" });
      expect(one).toMatchObject({ worker: "W1", label: { total: 1 } });
      await it.t.pawl.crowd.approve(one!.id, { feedback: "Thank you.", actor: "ada" });
      await it.t.work();
      expect(it.market.workers.assignment(one!.submission)).toMatchObject({
        status: "approved",
        feedback: "Thank you.",
      });
      expect(await it.state(job)).toBe("finished");
    });
  });

  describe("a decision", () => {
    const decide = { approved: "R50 an approval", rejected: "R45 a rejection" } as const;
    const verbs = { approved: "approve", rejected: "reject" } as const;
    for (const verdict of ["approved", "rejected"] as const) {
      const open = async (changes = {}) => {
        const it = await openReceipts(store, { autoApprove: false, ...changes });
        const job = await it.ask();
        it.submit(job, { W1: 1 });
        await it.look(job);
        const [one] = await it.t.pawl.crowd.submissions({ job });
        const say = async (said = verdict as "approved" | "rejected") => {
          await it.t.pawl.crowd[verbs[said]](one!.id, { feedback: "as agreed", actor: "ada" });
          await it.t.work();
        };
        return { it, job, one: one!, say };
      };

      test(`${decide[verdict]} is refused where it cannot be, and says why`, async () => {
        const { it, one, say } = await open();
        await using _ = it;
        await say();
        await expect(say()).rejects.toMatchObject({ code: "transition_refused" });
        const other = verdict === "approved" ? "rejected" : "approved";
        await expect(say(other)).rejects.toMatchObject({ code: "transition_refused" });
        expect(it.market.workers.assignment(one.submission).status).toBe(verdict);
      });

      test(`${decide[verdict]} is refused in every state that has no place for it, and the marketplace hears nothing`, async () => {
        const { it, one } = await open();
        await using _ = it;
        const wrong = async (verb: "approve" | "reject") => {
          const { state } = (await it.t.pawl.crowd.submission(one.id))!;
          await expect(it.t.pawl.crowd[verb](one.id, { feedback: "no" }), `${verb} in ${state}`).rejects.toMatchObject({
            code: "transition_refused",
            details: { blockers: expect.any(Array) },
          });
          expect((await it.t.pawl.crowd.submission(one.id))!.state).toBe(state);
        };
        await it.t.pawl.crowd[verbs[verdict]](one.id, { feedback: "as agreed" });
        for (const verb of ["approve", "reject"] as const) await wrong(verb); // It is on its way to the marketplace.
        expect(it.market.workers.assignment(one.submission).status).toBe("submitted");
        await it.t.work();
        for (const verb of ["approve", "reject"] as const) await wrong(verb);
        expect(it.market.workers.assignment(one.submission)).toMatchObject({ status: verdict, feedback: "as agreed" });
      });

      test(`${decide[verdict]} that the marketplace refuses for good is left to a person, who can decide anew`, async () => {
        const { it, one, say } = await open();
        await using _ = it;
        it.market.fail("decide", { before: new PermanentError("wrong state there"), times: 3 });
        await say();
        for (let time = 0; time < 2; time++) {
          await it.t.advance("11m");
          await it.t.work();
        }
        expect(await it.t.pawl.crowd.submission(one.id)).toMatchObject({
          state: "failed",
          problem: "wrong state there",
        });
        const [group] = await it.t.pawl.deadLetters.groups();
        expect(group).toMatchObject({ pattern: expect.stringContaining("wrong state there") });
      });

      test(`R46 ${verdict}: the marketplace is told, and again when it does not answer`, async () => {
        const { it, job, say, one } = await open();
        await using _ = it;
        it.market.fail("decide", { before: away, times: 2 });
        await say();
        expect(await it.submissions(job)).toEqual({ W1: verdict === "approved" ? "approving" : "rejecting" });
        await it.t.advance("30s");
        await it.t.work();
        await it.t.advance("60s");
        await it.t.work();
        expect(await it.submissions(job)).toEqual({ W1: verdict });
        expect(it.market.workers.assignment(one.submission)).toMatchObject({ status: verdict, feedback: "as agreed" });
      });

      test(`R46 ${verdict}: what was decided there before stands, and the difference is kept`, async () => {
        const { it, job, say, one } = await open();
        await using _ = it;
        const other = verdict === "approved" ? "rejected" : "approved";
        const signal = AbortSignal.timeout(10_000);
        await it.market.decide(one.submission, { verdict: other, feedback: "by hand" }, { signal });
        await say();
        expect(await it.t.pawl.crowd.submission(one.id)).toMatchObject({
          state: other,
          auto: true,
          conflict: { wanted: verdict, found: other },
        });
        expect(await it.moves(one.id, "submission")).toContain(`overruled: ${other}`);
        expect(await it.submissions(job)).toEqual({ W1: other });
      });

      test(`R47 ${verdict}: a reply that was lost is asked for again, and nothing happens twice`, async () => {
        const told: string[] = [];
        const tell = ({ auto }: { auto: boolean }) => void told.push(`auto: ${auto}`);
        const { it, say, one } = await open({ onApproved: tell, onRejected: tell });
        await using _ = it;
        it.market.fail("decide", { after: away });
        await say();
        await it.t.advance("30s");
        await it.t.work();
        expect(await it.t.pawl.crowd.submission(one.id)).toMatchObject({ state: verdict, conflict: null });
        expect(told).toEqual(["auto: false"]);
      });

      test(`${verdict}: after a recovery, what Pawl had decided is not taken for the marketplace's own decision`, async () => {
        const { it, say, one, job } = await open({});
        await using _ = it;
        it.market.fail("decide", { after: away, times: 8 });
        await say();
        for (let time = 0; time < 7; time++) {
          await it.t.advance("11m");
          await it.t.work();
        }
        expect(await it.submissions(job)).toEqual({ W1: "failed" });
        await it.t.advance("10m");
        await it.t.work();
        expect(await it.t.pawl.crowd.submission(one.id)).toMatchObject({
          state: verdict,
          auto: false,
          conflict: null,
        });
      });

      test(`R48 ${verdict}: the crowd is told by an after-effect, which is there as soon as the decision is`, async () => {
        const told: string[] = [];
        const tell = ({ worker }: { worker: string }) => void told.push(worker);
        const { it, one, say } = await open({ onApproved: tell, onRejected: tell });
        await using _ = it;
        await it.t.pawl.crowd[verbs[verdict]](one.id, { feedback: "as agreed" });
        const state = verdict === "approved" ? "approving" : "rejecting";
        await (await it.t.claim(`pawl_submission_receipts/${state}`)).run();
        expect(told).toEqual([]);
        expect(await it.t.pawl.crowd.submission(one.id)).toMatchObject({ state: verdict });
        await it.t.work();
        expect(told).toEqual(["W1"]);
        await expect(say()).rejects.toThrow();
        expect(told).toEqual(["W1"]);
      });

      test(`R51 ${verdict}: what the crowd is told fails and is repeated alone`, async () => {
        let calls = 0;
        const tell = ({ feedback }: { feedback: string | null }) => {
          expect(feedback).toBe("as agreed");
          if (++calls < 3) throw new Error("the books are closed");
        };
        const { it, job, say } = await open({ onApproved: tell, onRejected: tell });
        await using _ = it;
        await say();
        expect(await it.submissions(job)).toEqual({ W1: verdict });
        expect(calls).toBe(1);
        await it.t.advance("1m");
        await it.t.work();
        await it.t.advance("1m");
        await it.t.work();
        expect(calls).toBe(3);
        expect(await it.t.pawl.deadLetters.groups()).toEqual([]);
      });

      test(`R49 ${verdict}: the job looks how far it is, and so it does in every sweep`, async () => {
        const { it, job, say } = await open();
        await using _ = it;
        const before = (await it.moves(job)).length;
        await say();
        expect((await it.moves(job)).slice(before)).toContain("progress: syncing");
        if (verdict === "approved") return;
        const rest = (await it.moves(job)).length;
        await it.t.advance("10m");
        await it.t.work();
        expect((await it.moves(job)).slice(rest)).toEqual(["sweep: syncing", "wait: running"]);
      });
    }

    test("that is made at the marketplace while it waits here is adopted", async () => {
      await using it = await openReceipts(store, { submissions: 2, autoApprove: false });
      const job = await it.ask();
      const [first, second] = it.submit(job, { W1: 1, W2: 2 });
      await it.look(job);
      const call = { signal: AbortSignal.timeout(10_000) };
      await it.market.decide(first!, { verdict: "approved", feedback: null }, call);
      await it.market.decide(second!, { verdict: "rejected", feedback: "by hand" }, call);
      await it.look(job);
      expect(await it.submissions(job)).toEqual({ W1: "approved", W2: "rejected" });
      expect(await it.t.pawl.crowd.submissions({ job })).toMatchObject([{ auto: true }, { auto: true }]);
      expect(await it.t.pawl.inspect.verify()).toEqual([]);
    });

    test("that the check refuses and the marketplace has approved is paid, does not count, and one more is asked for", async () => {
      await using it = await openReceipts(store, {
        onSubmitted({ worker }) {
          if (worker === "W1") throw new RejectSubmission("It is another receipt.");
        },
      });
      const job = await it.ask();
      const [first] = it.submit(job, { W1: 99 });
      await it.market.decide(first!, { verdict: "approved", feedback: null }, { signal: AbortSignal.timeout(10_000) });
      await it.look(job);
      expect(await it.t.pawl.crowd.submissions({ job })).toMatchObject([
        { state: "approved", auto: true, conflict: { wanted: "rejected", found: "approved" } },
      ]);
      expect(await it.t.pawl.crowd.job(job)).toMatchObject({
        state: "running",
        approved: 0,
        postings: [{ places: 2 }],
      });
      it.submit(job, { W2: 12 });
      await it.look(job);
      expect(await it.t.pawl.crowd.job(job)).toMatchObject({
        state: "finished",
        approved: 1,
        labels: [{ total: 12 }],
        consensus: { total: 12 },
      });
    });

    test("that a requester overrides at the marketplace is adopted while the job runs", async () => {
      const told: unknown[] = [];
      await using it = await openReceipts(store, {
        submissions: 2,
        autoApprove: false,
        onApproved: ({ auto }) => void told.push({ auto }),
      });
      const job = await it.ask();
      const [first] = it.submit(job, { W1: 99 });
      await it.look(job);
      const [one] = await it.t.pawl.crowd.submissions({ job });
      await it.t.pawl.crowd.reject(one!.id, { feedback: "It is another receipt.", actor: "ada" });
      await it.t.work();
      expect(await it.submissions(job)).toEqual({ W1: "rejected" });
      it.market.overrideRejection(first!);
      await it.t.advance("10m");
      await it.t.work();
      expect(await it.t.pawl.crowd.submissions({ job })).toMatchObject([
        { state: "approved", auto: true, conflict: { wanted: "rejected", found: "approved" } },
      ]);
      expect(told).toEqual([{ auto: true }]);
      await it.look(job);
      expect(await it.t.pawl.crowd.job(job)).toMatchObject({ state: "running", approved: 0, rejected: 0 });
      expect(await it.t.pawl.inspect.verify()).toEqual([]);
    });

    test.each(["overridden", "kept"] as const)(
      "that is a rejection is confirmed before its posting is deleted, when it was %s meanwhile",
      async (fate) => {
        const told: string[] = [];
        const reject = ({ worker }: { worker: string }) => {
          if (worker === "W1") throw new RejectSubmission("It is another receipt.");
        };
        await using it = await openReceipts(store, {
          onSubmitted: reject,
          onApproved: ({ worker }) => void told.push(worker),
        });
        const job = await it.ask();
        const [first] = it.submit(job, { W1: 99 });
        await it.look(job);
        it.submit(job, { W2: 12 });
        await it.look(job);
        expect(await it.state(job)).toBe("finished");
        const [posting] = it.market.workers.jobsOf(job);
        if (fate === "overridden") it.market.overrideRejection(first!);
        it.market.fail("submissions", { before: away });
        await it.t.advance("28d");
        await it.t.work();
        await it.t.advance("1h");
        await it.t.work();
        const state = fate === "overridden" ? "approved" : "rejected";
        expect(await it.submissions(job)).toEqual({ W1: state, W2: "approved" });
        expect(told).toEqual(fate === "overridden" ? ["W2", "W1"] : ["W2"]);
        expect(await it.t.pawl.crowd.counts(it.receipts)).toMatchObject({
          submissions: fate === "overridden" ? { approved: 2 } : { approved: 1, rejected: 1 },
        });
        expect(await it.t.pawl.crowd.submissions(it.receipts, { state: "rejected" })).toHaveLength(
          fate === "overridden" ? 0 : 1,
        );
        await it.t.advance("3d");
        await it.t.work();
        expect(it.market.workers.jobsOf(job)).not.toContainEqual(expect.objectContaining({ id: posting!.id }));
        expect(await it.t.pawl.inspect.verify()).toEqual([]);
      },
    );

    test("that the marketplace cannot be told is given up in the end, told to people, and taken up again", async () => {
      await using it = await openReceipts(store);
      const job = await it.ask();
      it.submit(job, { W1: 1 });
      it.market.fail("decide", { before: away, times: 8 });
      await it.look(job);
      for (let time = 0; time < 7; time++) {
        await it.t.advance("11m");
        await it.t.work();
      }
      expect(await it.submissions(job)).toEqual({ W1: "failed" });
      expect(await it.t.pawl.deadLetters.groups()).toEqual([]); // It will be recovered by itself.
      await it.t.advance("10m");
      await it.t.work();
      expect(await it.submissions(job)).toEqual({ W1: "approved" });
    });
  });
});
