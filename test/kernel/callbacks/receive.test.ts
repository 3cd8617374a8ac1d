import { lifecycle, type Pawl } from "pawl";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import type { TestClock } from "../../../src/testing/clock.ts";
import type { TestPawl } from "../../../src/testing/test-pawl.ts";
import { eachStore } from "../../support/each-store.ts";
import { lenient, strict, submission, told } from "../../support/submission.ts";

let broken = true;

/** Never called: what must not compile. */
export function misspelt(pawl: Pawl): void {
  // @ts-expect-error There is no such event.
  void pawl.receive(submission, "s", "grade", { score: 1 }, { dedupeKey: "r" });
  // @ts-expect-error A score is a number.
  void pawl.receive(submission, "s", "graded", { score: "1" }, { dedupeKey: "r" });
  // @ts-expect-error Nothing tells it from others.
  void pawl.receive(submission, "s", "graded", { score: 1 });
}

/** Works until it is told, by itself or from outside; and has an edge that its author got wrong. */
const errand = lifecycle("errand", {
  data: z.object({ note: z.string().optional() }),
  events: {
    told: z.object({ note: z.string() }),
    odd: z.object({ parts: z.array(z.string()).optional() }),
    hooked: z.object({ channel: z.string() }),
  },
  initial: "running",
  deadline: { within: "10m" },
  states: {
    running: {
      run: (step) => step.go("told", { note: "by itself" }),
      on: {
        told: { to: "done", set: ({ payload }) => ({ note: payload.note }) },
        noted: {},
        hooked: { to: "done", before: ({ tx, payload }) => tx.query("select pg_notify($1, '')", [payload.channel]) },
        odd: {
          to: "done",
          set: ({ payload }) => {
            if (broken) throw new Error("the author did not think of this");
            return { note: payload.parts?.[0] ?? "none" };
          },
        },
      },
    },
    done: { final: "success" },
  },
});

eachStore((store) => {
  let t: TestPawl;
  let count = 0;
  beforeAll(async () => {
    t = await store.open({ lifecycles: [submission, strict, lenient, errand] });
  });
  afterAll(async () => {
    expect(await t.pawl.inspect.verify()).toEqual([]);
    await t.close();
  });

  /** Moves the clock while nobody keeps time. */
  const sleepUntil = (ms: number) => (t.kernel.clock as TestClock).set(ms);

  type Kind = typeof submission | typeof strict | typeof lenient;
  async function begun(kind: Kind = submission): Promise<string> {
    const key = `${store.kind}-${++count}`;
    await t.pawl.start(kind as typeof submission, { key, data: { skill: "writing" } });
    return key;
  }
  async function grading(kind: Kind = submission): Promise<string> {
    const key = await begun(kind);
    await t.work();
    return key;
  }
  const receive = (key: string, score = 7, dedupe = "r1", kind: Kind = submission) =>
    t.pawl.receive(kind as typeof submission, key, "graded", { score }, { dedupeKey: dedupe });
  const get = async (key: string, kind: Kind = submission) => (await t.pawl.get(kind as typeof submission, key))!;

  describe("in time", () => {
    test("a callback in time is its event, journaled as its doing", async () => {
      const key = await grading();
      const received = await receive(key);
      expect(received).toMatchObject({ accepted: true, late: false, duplicate: false, status: "applied" });
      expect(await get(key)).toMatchObject({ state: "scored", data: { score: 7 } });
      const journal = await t.pawl.journal(submission, key);
      expect(journal.at(-1)).toMatchObject({ event: "graded", source: "callback", payload: { score: 7 } });
      expect(await t.pawl.callbacks.get(received.id)).toMatchObject({
        version: journal.at(-1)!.version,
        key,
        late: false,
      });
    });

    test("R79 the answer is { accepted, late }, and request, submission, lateness and time of receipt are stored", async () => {
      const inTime = await grading();
      const tooLate = await grading();
      const { accepted, late } = await receive(inTime, 7, "request-1");
      expect({ accepted, late }).toEqual({ accepted: true, late: false });
      const at = t.now();
      await t.advance("21m");
      const other = await receive(tooLate, 8, "request-2");
      expect({ accepted: other.accepted, late: other.late }).toEqual({ accepted: true, late: true });
      const [stored] = await t.pawl.callbacks.list({ lifecycle: submission, instance: tooLate });
      expect(stored).toMatchObject({ dedupeKey: "request-2", key: tooLate, late: true, receivedAt: t.now() });
      const [first] = await t.pawl.callbacks.list({ lifecycle: submission, instance: inTime });
      expect(first).toMatchObject({ dedupeKey: "request-1", key: inTime, late: false, receivedAt: at });
    });

    test("one that comes early waits until its instance takes it, and is then applied in the same commit", async () => {
      const key = await begun();
      expect(await receive(key)).toMatchObject({ accepted: true, late: false, status: "waiting" });
      expect(await get(key)).toMatchObject({ state: "submitted" });
      await (await t.claim("submission/submitted")).report("requested");
      expect(await get(key)).toMatchObject({ state: "scored", data: { score: 7 } });
      const moves = await t.pawl.journal(submission, key);
      expect(moves.map((move) => move.event)).toEqual(["start", "requested", "graded"]);
      expect(moves[1]!.at).toEqual(moves[2]!.at);
    });

    test("A34 one that came in time wins, although a sweeper comes by only after the deadline", async () => {
      const key = await grading();
      t.faults.plant("receive.stored", "throw");
      await expect(receive(key)).rejects.toThrow();
      await t.advance("19m"); // Nothing is due: only the callback is there to be looked at.
      expect(await get(key)).toMatchObject({ state: "scored" });
      const swept = await grading();
      t.faults.plant("receive.stored", "throw");
      await expect(receive(swept)).rejects.toThrow();
      await sleepUntil(t.now().getTime() + 30 * 60_000); // Nobody has kept time meanwhile.
      await t.maintain();
      expect(await get(swept)).toMatchObject({ state: "scored", timedOutAt: null });
    });

    test("A34 the same callback again gets the first answer and changes nothing, also when all has ended", async () => {
      const key = await grading();
      const first = await receive(key);
      const { version } = await get(key);
      expect(await receive(key)).toEqual({ ...first, duplicate: true });
      expect(await get(key)).toMatchObject({ state: "scored", version });
      expect(await t.pawl.callbacks.list({ lifecycle: submission, instance: key })).toHaveLength(1);
      await expect(receive(key, 9)).rejects.toMatchObject({ code: "idempotency_conflict" });
    });

    test("many at once, and the same many times: each is applied once, and all get the same answer", async () => {
      const keys = await Promise.all(Array.from({ length: 10 }, () => begun()));
      await t.work();
      const answers = await Promise.all(
        Array.from({ length: 5 }, () => keys).flatMap((all) => all.map((key) => receive(key))),
      );
      expect(answers.every(({ accepted, late }) => accepted && !late)).toBe(true);
      expect(new Set(answers.map((one) => one.id)).size).toBe(10);
      for (const key of keys) expect(await get(key)).toMatchObject({ state: "scored", version: 3 });
    });

    test("another one, when all has ended, is kept with the reason and moves nothing", async () => {
      const key = await grading();
      await receive(key);
      const other = await receive(key, 9, "r2");
      expect(other).toMatchObject({ accepted: false, late: false, status: "refused" });
      expect(other.reason).toContain("scored");
      expect(await get(key)).toMatchObject({ state: "scored", data: { score: 7 } });
    });

    test("a guard may refuse one, and says why", async () => {
      const key = await grading();
      const refused = await t.pawl.receive(submission, key, "graded", { score: 1, runId: "old" }, { dedupeKey: "r0" });
      expect(refused).toMatchObject({ accepted: false, status: "refused", reason: "it is of an earlier request" });
      expect(await receive(key)).toMatchObject({ status: "applied" });
    });

    test("one that waits while its instance begins anew belongs to the run that is over", async () => {
      const key = await begun();
      await receive(key, 3, "first run");
      await t.pawl.send(submission, key, "discard");
      expect(await t.pawl.callbacks.list({ lifecycle: submission, instance: key })).toMatchObject([
        { status: "refused" },
      ]);
      const again = await grading();
      await t.pawl.send(submission, again, "fail", { reason: "cheating", error: null, type: null, attempts: 0 });
      expect(await receive(again)).toMatchObject({ status: "waiting" });
      await t.pawl.send(submission, again, "restart");
      await t.work();
      expect(await get(again)).toMatchObject({ state: "grading" });
      expect((await t.pawl.callbacks.list({ lifecycle: submission, instance: again }))[0]).toMatchObject({
        status: "refused",
        reason: expect.stringContaining("earlier run"),
      });
    });

    test("what its definition throws at waits for a better one, and stops nobody else", async () => {
      broken = true;
      const key = `errand-${store.kind}`;
      await t.pawl.start(errand, { key, data: {} });
      const odd = await t.pawl.receive(errand, key, "odd", { parts: ["a"] }, { dedupeKey: "odd" });
      expect(odd).toMatchObject({ accepted: true, status: "waiting", reason: expect.stringContaining("author") });
      broken = false;
      await t.advance("5s");
      expect(await t.pawl.get(errand, key)).toMatchObject({ state: "done", data: { note: "a" } });
    });

    test("the hooks of its edge run with it, and one that throws leaves it waiting", async () => {
      const key = `hooked-${store.kind}`;
      await t.pawl.start(errand, { key, data: {} });
      const receive = (channel: string, dedupe: string) =>
        t.pawl.receive(errand, key, "hooked", { channel }, { dedupeKey: dedupe });
      expect(await receive("x".repeat(100), "too long")).toMatchObject({
        accepted: true,
        status: "waiting",
        reason: expect.stringContaining("hooked"),
      });
      await t.maintain();
      // It holds up nobody else: neither an event, nor a better one of its kind.
      await t.pawl.send(errand, key, "noted");
      expect(await receive("short", "better")).toMatchObject({ status: "applied" });
      await t.advance("1m");
      const [better, worse] = await t.pawl.callbacks.list({ lifecycle: errand, instance: key });
      expect([better!.status, worse!.status]).toEqual(["applied", "refused"]);
    });

    test("in a caller's own transaction it is there if that commits", async () => {
      const key = await grading();
      await expect(
        t.pawl.transaction(async (tx) => {
          await t.pawl.receive(submission, key, "graded", { score: 7 }, { dedupeKey: "r1", tx });
          throw new Error("changed my mind");
        }),
      ).rejects.toThrow("changed my mind");
      expect(await t.pawl.callbacks.list({ lifecycle: submission, instance: key })).toEqual([]);
      const received = await t.pawl.transaction((tx) =>
        t.pawl.receive(submission, key, "graded", { score: 7 }, { dedupeKey: "r1", tx }),
      );
      expect(received).toMatchObject({ status: "applied" });
      expect(await get(key)).toMatchObject({ state: "scored" });
    });

    test("whoever stores one and is gone leaves it for maintenance", async () => {
      const key = await grading();
      t.faults.plant("receive.stored", "throw");
      await expect(receive(key)).rejects.toThrow();
      expect(await get(key)).toMatchObject({ state: "grading" });
      expect((await t.maintain()).matched).toBe(1);
      expect(await get(key)).toMatchObject({ state: "scored" });
    });
  });

  describe("errors", () => {
    test("an error callback never completes: the instance fails by it and recovers", async () => {
      const key = await grading();
      const error = { message: "the model is overloaded", code: "529" };
      const received = await t.pawl.callbacks.receiveError(submission, key, "graded", error, { dedupeKey: "r1" });
      expect(received).toMatchObject({ accepted: true, late: false, status: "applied" });
      expect(await get(key)).toMatchObject({ state: "failed", data: { skill: "writing" } });
      expect((await t.pawl.journal(submission, key)).at(-1)).toMatchObject({
        event: "fail",
        source: "callback",
        payload: { reason: "callback_error", error: { name: "Error", ...error } },
      });
      await t.advance("1m");
      await t.work();
      expect(await get(key)).toMatchObject({ state: "grading" });
      expect(await receive(key, 6, "r2")).toMatchObject({ status: "applied" });
    });

    test("A34 an error that comes late is kept under every rule but reject, and completes nothing", async () => {
      for (const kind of [submission, lenient, strict]) {
        const key = await grading(kind);
        await t.advance("21m");
        const late = await t.pawl.callbacks.receiveError(
          kind as typeof submission,
          key,
          "graded",
          { message: "no" },
          { dedupeKey: "e" },
        );
        expect(late).toMatchObject({ accepted: kind !== strict, late: true });
        expect(await get(key, kind)).toMatchObject({ state: "failed" });
        if (kind !== strict)
          await expect(t.pawl.callbacks.acceptLate(late.id)).rejects.toMatchObject({ code: "callback_decided" });
      }
    });

    test("what nobody could take is refused before anything is stored", async () => {
      const key = await grading();
      const bad = (event: string, payload: unknown, options: unknown = { dedupeKey: "r" }, ref: unknown = key) =>
        t.pawl.receive(
          submission,
          ref as string,
          event as "graded",
          payload as { score: 1 },
          options as { dedupeKey: "r" },
        );
      await expect(bad("graded", { score: 11 })).rejects.toMatchObject({ code: "payload_invalid" });
      await expect(bad("grade", { score: 1 })).rejects.toMatchObject({
        code: "event_unknown",
        message: expect.stringContaining("graded"),
      });
      for (const event of ["fail", "restart", "discard", "recover", "accept_late"])
        await expect(bad(event, undefined)).rejects.toMatchObject({ code: "event_unknown" });
      await expect(bad("graded", { score: 1 }, {})).rejects.toMatchObject({ code: "option_invalid" });
      await expect(bad("graded", { score: 1 }, { dedupeKey: "r", dedup: "x" })).rejects.toMatchObject({
        code: "option_invalid",
      });
      await expect(bad("graded", { score: 1 }, undefined, "nobody")).rejects.toMatchObject({
        code: "instance_unknown",
      });
      await expect(bad("graded", { score: 1, runId: "\u0000" })).rejects.toMatchObject({
        code: "value_not_serializable",
      });
      expect(await t.pawl.callbacks.list({ lifecycle: submission, instance: key })).toEqual([]);
    });
  });

  describe("deadlines", () => {
    test("R73 the deadline is fixed at creation, and a recovery does not move it", async () => {
      const key = await grading();
      const { createdAt, deadlineAt } = await get(key);
      expect(deadlineAt!.getTime() - createdAt.getTime()).toBe(1_200_000);
      await t.pawl.callbacks.receiveError(submission, key, "graded", { message: "no" }, { dedupeKey: "e" });
      await t.advance("1m");
      await t.work();
      expect(await get(key)).toMatchObject({ state: "grading", deadlineAt });
    });

    test("R74 in whatever state, once the deadline is past it fails for good: timedOutAt is that moment, and no worker or recovery changes it", async () => {
      const waiting = await grading();
      const notBegun = await begun();
      const running = await begun();
      const claimed = await t.claim("submission/submitted"); // The older of the two.
      const { deadlineAt } = await get(running);
      await sleepUntil(deadlineAt!.getTime() - 1);
      await t.maintain();
      for (const key of [waiting, notBegun, running]) expect((await get(key)).timedOutAt).toBeNull();
      await sleepUntil(deadlineAt!.getTime() + 90_000); // Nobody has looked for a while.
      await t.maintain();
      for (const key of [waiting, notBegun, running]) {
        expect(await get(key)).toMatchObject({ state: "failed", timedOutAt: t.now() });
        expect((await t.pawl.explain(submission, key)).recovery).toMatchObject({ failure: { reason: "deadline" } });
      }
      await expect(claimed.report("requested")).rejects.toMatchObject({ code: "lease_lost" });
      await t.advance("1h");
      await t.work();
      for (const key of [waiting, notBegun, running]) expect(await get(key)).toMatchObject({ state: "failed" });
    });

    test("a recovery after the deadline has passed gives the instance new time, so that it does not wait without an end", async () => {
      const key = await grading();
      await t.advance("20m");
      expect(await get(key)).toMatchObject({ state: "failed", timedOutAt: t.now() });
      await t.pawl.send(submission, key, "recover", { actor: "grace" });
      await t.work();
      const again = await get(key);
      expect(again).toMatchObject({ state: "grading", timedOutAt: null });
      expect(again.deadlineAt!.getTime()).toBe(t.now().getTime() + 1_200_000);
      expect((await t.pawl.explain(submission, key)).waitingFor).toMatchObject([
        { kind: "events", end: { timer: "deadline", at: again.deadlineAt } },
      ]);
      await t.advance("20m");
      expect(await get(key)).toMatchObject({ state: "failed" });
      expect(await t.pawl.inspect.verify()).toEqual([]);
    });

    test("R77 a late result can be read whole with its instance, and is not in force until it is accepted", async () => {
      const key = await grading();
      await t.advance("20m");
      const before = await get(key);
      const { id } = await receive(key, 9, "request-9");
      const banner = { id, key, event: "graded", payload: { score: 9 }, error: null, late: true, status: "kept" };
      expect(await t.pawl.callbacks.get(id)).toMatchObject({ ...banner, receivedAt: t.now(), dedupeKey: "request-9" });
      expect(await t.pawl.callbacks.list({ lifecycle: submission, instance: key, late: true })).toMatchObject([banner]);
      expect(await t.pawl.callbacks.list({ lifecycle: submission, late: true, limit: 1 })).toMatchObject([banner]);
      // View only: nothing of it is in the instance, and no event that could be sent brings it there.
      expect(await get(key)).toEqual(before);
      expect(before.data).toEqual({ skill: "writing" });
      expect((await t.pawl.allowedEvents(submission, key)).map(({ event }) => event)).not.toContain("accept_late");
      await t.pawl.callbacks.acceptLate(id, { actor: "grace" });
      expect(await get(key)).toMatchObject({ state: "scored", data: { score: 9 } });
      expect(await t.pawl.callbacks.get(id)).toMatchObject({ late: true, status: "accepted" });
    });

    test("R74 A33 past the deadline an unfinished one fails with the reason `deadline` (TIMEOUT in the source, A57), and only an unfinished one", async () => {
      const unfinished = await grading();
      const finished = await grading();
      await receive(finished);
      const otherwise = await grading();
      await t.pawl.send(submission, otherwise, "fail", { reason: "cheating", error: null, type: null, attempts: 0 });
      await t.pawl.lanes.pause(submission, { reason: "no recovery yet" });
      const { deadlineAt } = await get(unfinished);
      await t.advance("20m");
      expect(await get(unfinished)).toMatchObject({
        state: "failed",
        timedOutAt: deadlineAt,
        failure: { reason: "deadline", error: null, at: deadlineAt, state: "grading" },
      });
      const failures = (await t.pawl.journal(submission, unfinished)).filter((move) => move.event === "fail");
      expect(failures).toMatchObject([{ source: "timer", payload: { reason: "deadline" }, at: deadlineAt }]);
      expect(await get(finished)).toMatchObject({ state: "scored" });
      expect(await get(otherwise)).toMatchObject({ state: "failed", timedOutAt: null });
      expect((await t.pawl.journal(submission, otherwise)).filter((move) => move.event === "fail")).toHaveLength(1);
      await t.pawl.lanes.resume(submission);
    });

    test("R75 a result that comes after the deadline is still taken, and can be read", async () => {
      const key = await grading();
      await t.advance("20m");
      const { id, accepted } = await receive(key);
      expect(accepted).toBe(true);
      expect(await t.pawl.callbacks.get(id)).toMatchObject({
        event: "graded",
        payload: { score: 7 },
        receivedAt: t.now(),
      });
    });

    test("R76 a late result is kept as late, and neither the state nor anything that follows changes", async () => {
      const key = await grading();
      await t.advance("20m");
      const before = await get(key);
      const seen = told.length;
      expect(await receive(key)).toMatchObject({ accepted: true, late: true, status: "kept" });
      await t.work();
      expect(await get(key)).toEqual(before);
      expect(told).toHaveLength(seen);
      expect(await t.pawl.callbacks.list({ lifecycle: submission, instance: key, late: true })).toMatchObject([
        { payload: { score: 7 }, late: true, status: "kept", receivedAt: t.now(), version: null },
      ]);
    });

    test("A34 one that comes late before anybody has swept finds its instance timed out first", async () => {
      const key = await grading();
      await sleepUntil(t.now().getTime() + 21 * 60_000);
      expect(await receive(key)).toMatchObject({ accepted: true, late: true, status: "kept" });
      expect(await get(key)).toMatchObject({ state: "failed", timedOutAt: t.now() });
    });

    test("at the very moment of the deadline it is in time, unless that has struck", async () => {
      const key = await grading();
      const struck = await grading();
      await sleepUntil((await get(key)).deadlineAt!.getTime());
      expect(await receive(key)).toMatchObject({ late: false, status: "applied" });
      await t.maintain();
      expect(await receive(struck)).toMatchObject({ late: true, status: "kept" });
    });

    test("A56 a result in time wins when the deadline finds its instance before the state that takes it", async () => {
      for (const kind of [submission, strict, lenient]) {
        const key = await begun(kind);
        expect(await receive(key, 7, "r1", kind)).toMatchObject({ accepted: true, late: false, status: "waiting" });
        await sleepUntil((await get(key, kind)).deadlineAt!.getTime() + 60_000);
        await t.maintain();
        expect(await get(key, kind)).toMatchObject({ state: "scored", data: { score: 7 }, timedOutAt: null });
        const [callback] = await t.pawl.callbacks.list({ lifecycle: kind as typeof submission, instance: key });
        expect(callback).toMatchObject({ status: "applied", late: false, version: expect.any(Number) });
        expect((await t.pawl.journal(kind as typeof submission, key)).slice(-2)).toMatchObject([
          { event: "fail", payload: { reason: "deadline" } },
          { event: "accept_late", source: "callback", reason: "in_time", from: "failed", to: "scored" },
        ]);
        const letters = await t.pawl.deadLetters.list({ lifecycle: kind as typeof submission });
        expect(letters.filter((letter) => letter.key === key)).toEqual([]);
      }
    });

    test("A56 a good result after an error callback completes while the deadline holds, also with no recovery to come", async () => {
      const recovering = await grading();
      await t.pawl.callbacks.receiveError(
        submission,
        recovering,
        "graded",
        { message: "overloaded" },
        { dedupeKey: "e" },
      );
      expect(await get(recovering)).toMatchObject({ state: "failed" });
      expect(await receive(recovering, 8)).toMatchObject({ accepted: true, late: false, status: "applied" });
      expect(await get(recovering)).toMatchObject({ state: "scored", data: { score: 8 } });
      await t.advance("2m");
      await t.work(); // Its recovery went with the move.
      expect(await get(recovering)).toMatchObject({ state: "scored" });
      const givenUp = await grading();
      for (const dedupe of ["e1", "e2", "e3"]) {
        await t.pawl.callbacks.receiveError(
          submission,
          givenUp,
          "graded",
          { message: "overloaded" },
          { dedupeKey: dedupe },
        );
        await t.advance("1m");
        await t.work();
      }
      const letter = (await t.pawl.deadLetters.list({ lifecycle: submission })).find(({ key }) => key === givenUp)!;
      expect(await receive(givenUp, 9)).toMatchObject({ accepted: true, late: false, status: "applied" });
      expect(await get(givenUp)).toMatchObject({ state: "scored", data: { score: 9 } });
      expect(await t.pawl.deadLetters.get(letter.id)).toMatchObject({ status: "requeued" });
      await t.work();
      expect(told.at(-1)).toMatchObject({ score: 9 });
    });

    test("A56 what still waits after its instance has failed can be accepted, once; an error cannot", async () => {
      const key = await begun();
      const { id } = await receive(key, 6);
      await t.pawl.send(submission, key, "fail", { reason: "cheating", error: null, type: null, attempts: 0 });
      await t.pawl.lanes.pause(submission, { reason: "no recovery yet" });
      // It failed before it had asked for a grade: what lies between is not skipped by itself.
      expect(await get(key)).toMatchObject({ state: "failed" });
      expect(await t.pawl.callbacks.get(id)).toMatchObject({ status: "waiting" });
      await t.advance("20m");
      expect(await get(key)).toMatchObject({ state: "failed", timedOutAt: null });
      const error = await t.pawl.callbacks.receiveError(
        submission,
        key,
        "graded",
        { message: "no" },
        { dedupeKey: "e" },
      );
      await expect(t.pawl.callbacks.acceptLate(error.id)).rejects.toMatchObject({ code: "callback_decided" });
      const outcomes = await Promise.allSettled(
        [id, id].map((one) => t.pawl.callbacks.acceptLate(one, { actor: "grace" })),
      );
      expect(outcomes.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
      expect(await get(key)).toMatchObject({ state: "scored", data: { score: 6 } });
      expect(await t.pawl.callbacks.get(id)).toMatchObject({ status: "applied", late: false });
      await t.pawl.lanes.resume(submission);
    });

    test("late: reject records the result and refuses it", async () => {
      const key = await grading(strict);
      await t.advance("20m");
      expect(await receive(key, 7, "r1", strict)).toMatchObject({ accepted: false, late: true, status: "rejected" });
      const [kept] = await t.pawl.callbacks.list({ lifecycle: strict, instance: key });
      expect(kept).toMatchObject({ payload: { score: 7 }, late: true, status: "rejected" });
      await expect(t.pawl.callbacks.acceptLate(kept!.id)).rejects.toMatchObject({ code: "callback_decided" });
    });

    test("late: accept applies it as if in time, journaled as late; not where something else has failed it", async () => {
      const key = await grading(lenient);
      const otherwise = await grading(lenient);
      await t.pawl.send(lenient, otherwise, "fail", { reason: "cheating", error: null, type: null, attempts: 0 });
      await t.pawl.lanes.pause(lenient, { reason: "no recovery yet" });
      await t.advance("20m");
      expect(await receive(key, 7, "r1", lenient)).toMatchObject({ accepted: true, late: true, status: "accepted" });
      expect(await get(key, lenient)).toMatchObject({ state: "scored", data: { score: 7 }, timedOutAt: null });
      expect((await t.pawl.journal(lenient, key)).at(-1)).toMatchObject({
        event: "accept_late",
        source: "callback",
        reason: "late",
      });
      await t.advance("1m");
      expect(await receive(otherwise, 7, "r1", lenient)).toMatchObject({ accepted: true, late: true, status: "kept" });
      expect(await get(otherwise, lenient)).toMatchObject({ state: "failed" });
      await t.pawl.lanes.resume(lenient);
    });

    test("R78 an operator accepts a late result: journaled with actor and reason, and all that follows on it follows", async () => {
      const key = await grading();
      await t.advance("20m");
      const { id } = await receive(key, 9, "late");
      const [letter] = await t.pawl.deadLetters.list({ lifecycle: submission });
      const accepted = await t.pawl.callbacks.acceptLate(id, { actor: "grace", reason: "the grader was down" });
      expect(accepted).toMatchObject({ state: "scored", data: { score: 9 }, timedOutAt: null });
      expect((await t.pawl.journal(submission, key)).at(-1)).toMatchObject({
        event: "accept_late",
        from: "failed",
        to: "scored",
        actor: "grace",
        reason: "the grader was down",
        payload: { score: 9 },
      });
      await t.work();
      expect(told.at(-1)).toEqual({ id: accepted.id, score: 9 });
      expect(await t.pawl.callbacks.get(id)).toMatchObject({
        status: "accepted",
        late: true,
        version: accepted.version,
      });
      expect(await t.pawl.deadLetters.get(letter!.id)).toMatchObject({ status: "requeued", decidedBy: "grace" });
      await expect(t.pawl.callbacks.acceptLate(id)).rejects.toMatchObject({ code: "callback_decided" });
      expect(await receive(key, 9, "late")).toMatchObject({ accepted: true, late: true, duplicate: true });
    });

    test("a late result is not accepted twice, nor when its instance has gone on", async () => {
      const key = await grading();
      await t.advance("20m");
      const ids = [(await receive(key, 8, "one")).id, (await receive(key, 9, "two")).id];
      const outcomes = await Promise.allSettled(ids.map((id) => t.pawl.callbacks.acceptLate(id, { actor: "grace" })));
      expect(outcomes.map((one) => one.status).sort()).toEqual(["fulfilled", "rejected"]);
      const lost = outcomes.find((one) => one.status === "rejected") as PromiseRejectedResult;
      expect(lost.reason).toMatchObject({ code: "transition_refused" });
      await expect(t.pawl.callbacks.acceptLate("01900000-0000-7000-8000-000000000000")).rejects.toMatchObject({
        code: "callback_unknown",
      });
      await expect(t.pawl.callbacks.acceptLate("x")).rejects.toMatchObject({ code: "option_invalid" });
      await expect(t.pawl.send(submission, key, "accept_late" as "discard")).rejects.toMatchObject({
        code: "transition_refused",
      });
    });

    test("after its deadline, a recovery, a requeue and a restart give it new time, and it takes what it waits for", async () => {
      const key = await grading();
      await t.advance("20m");
      await t.pawl.send(submission, key, "recover", { actor: "grace" });
      expect(await get(key)).toMatchObject({ deadlineAt: new Date(t.now().getTime() + 1_200_000), timedOutAt: null });
      await t.work();
      expect(await receive(key, 5, "after all")).toMatchObject({ late: false, status: "applied" });

      const requeued = await grading();
      await t.advance("20m");
      const letters = await t.pawl.deadLetters.list({ lifecycle: submission });
      await t.pawl.deadLetters.requeue(letters.find((one) => one.key === requeued)!.id, { actor: "grace" });
      const within = (await get(requeued)).deadlineAt!.getTime() - t.now().getTime();
      expect(within).toBe(1_200_000);
      await t.work();
      await t.advance("20m");
      expect(await get(requeued)).toMatchObject({ state: "failed", timedOutAt: t.now() });
      await t.pawl.send(submission, requeued, "restart");
      expect((await get(requeued)).deadlineAt!.getTime() - t.now().getTime()).toBe(1_200_000);
    });

    test("a requeue before the deadline puts a new one in the place of the old", async () => {
      const key = `requeued-${store.kind}`;
      await t.pawl.start(errand, { key, data: {} });
      await t.pawl.send(errand, key, "fail", { reason: "no", error: null, type: null, attempts: 0 });
      await t.advance("9m");
      const letter = (await t.pawl.deadLetters.list({ lifecycle: errand })).find((one) => one.key === key)!;
      await t.pawl.deadLetters.requeue(letter.id);
      expect((await t.pawl.get(errand, key))!.deadlineAt!.getTime() - t.now().getTime()).toBe(600_000);
      expect(await t.pawl.inspect.verify()).toEqual([]);
      await t.advance("9m");
      expect(await t.pawl.get(errand, key)).toMatchObject({ state: "running" });
      await t.advance("1m");
      expect(await t.pawl.get(errand, key)).toMatchObject({ state: "failed", timedOutAt: t.now() });
    });

    test("a step's result that loses to the deadline is kept as a late callback, and can be accepted", async () => {
      const key = `late-errand-${store.kind}`;
      await t.pawl.start(errand, { key, data: {} });
      const slow = await t.claim("errand/running");
      await sleepUntil(t.now().getTime() + 11 * 60_000);
      await expect(
        slow.report("told", { note: "done at last" }, { set: { note: "set beside" } }),
      ).rejects.toMatchObject({ code: "lease_lost" });
      const [late] = await t.pawl.callbacks.list({ lifecycle: errand, instance: key });
      expect(late).toMatchObject({
        source: "step",
        event: "told",
        late: true,
        status: "kept",
        payload: { note: "done at last" },
      });
      expect(await t.pawl.callbacks.acceptLate(late!.id, { actor: "ada" })).toMatchObject({
        state: "done",
        data: { note: "done at last" },
      });
    });

    test("a late result of a step that published something with it is kept, but cannot be accepted without that", async () => {
      const key = `late-publisher-${store.kind}`;
      await t.pawl.start(errand, { key, data: {} });
      const slow = await t.claim("errand/running");
      await sleepUntil(t.now().getTime() + 11 * 60_000);
      const told = slow.report("told", { note: "done" }, { publish: [{ type: "errand.told", payload: {} }] });
      await expect(told).rejects.toMatchObject({ code: "lease_lost" });
      const [late] = await t.pawl.callbacks.list({ lifecycle: errand, instance: key });
      expect(late).toMatchObject({ status: "kept", late: true, payload: { note: "done" } });
      await expect(t.pawl.callbacks.acceptLate(late!.id, { actor: "ada" })).rejects.toMatchObject({
        code: "callback_decided",
        message: expect.stringContaining("what it published, started or sent with it is lost; restart the instance"),
      });
    });

    test("callbacks go with their instance when its time is over", async () => {
      const key = await grading();
      const { id } = await receive(key);
      await t.work();
      await sleepUntil(t.now().getTime() + 2 * 3_600_000);
      await t.maintain();
      await t.prune();
      expect(await t.pawl.callbacks.get(id)).toBeUndefined();
    });
  });
});
