import { expect, test } from "vitest";
import type { TestPawl } from "../../../src/testing/test-pawl.ts";
import { attemptOn, Services, solve } from "../../support/assessment.ts";
import { eachStore, type Store } from "../../support/each-store.ts";

interface AttemptData {
  readonly finished?: boolean;
  readonly solves?: { question: string; runs?: number; runId?: string }[];
}

/** Attempts on services that fail as they are told to, and a hand that moves them on. */
class Scene {
  readonly services = new Services();
  readonly attempt = attemptOn(this.services);
  t!: TestPawl;

  static async open(store: Store): Promise<Scene> {
    const scene = new Scene();
    scene.t = await store.open({ lifecycles: [scene.attempt, solve] });
    return scene;
  }

  async state(key = "a"): Promise<string> {
    return (await this.t.pawl.get(this.attempt, key))!.state;
  }

  /** Starts an attempt, completes it, and lets it go on until it stands in `state`. */
  async start(key: string, state: string, data: AttemptData = {}): Promise<void> {
    await this.t.pawl.start(this.attempt, { key, data });
    if (state !== "created") await this.t.pawl.send(this.attempt, key, "complete");
    await this.goTo(state, key);
  }

  /** One step after the other, a minute where it is parked, and a verdict for every solve where it waits for them. */
  async goTo(wanted: string, key = "a"): Promise<void> {
    for (let turn = 0; turn < 20; turn++) {
      const state = await this.state(key);
      if (state === wanted) return;
      const { kind } = this.attempt.states.get(state)!;
      if (kind === "work") await (await this.t.claim(`attempt/${state}`)).run();
      else if (kind === "join") await this.check(key);
      else await this.t.advance("1m");
    }
    throw new Error(`It stands in ${await this.state(key)}, not in ${wanted}.`);
  }

  /** The checker tells what it thinks of the solves of an attempt, and the attempt hears of it. */
  async check(key = "a"): Promise<void> {
    for (const child of await this.solves(key)) {
      if (child.state === "checking") await this.t.pawl.send(solve, { id: child.id }, "verdict");
    }
    await this.t.maintain();
  }

  async solves(key = "a"): Promise<{ id: string; key: string | null; state: string }[]> {
    return [...(await this.t.pawl.children(this.attempt, key)).first];
  }

  /** Fails where it stands: its service does, or where there is none, somebody says so. */
  async fail(key = "a", error = new Error("service timeout")): Promise<void> {
    const state = await this.state(key);
    if (this.attempt.states.get(state)!.kind === "work") {
      await (await this.t.claim(`attempt/${state}`)).fail(error);
    } else await this.t.pawl.send(this.attempt, key, "fail", { reason: error.message });
    expect(await this.state(key)).toBe("failed");
  }

  /** The last moves, one line each, from the last failure on. */
  async sinceFailure(key = "a"): Promise<string[]> {
    const journal = await this.t.pawl.journal(this.attempt, key);
    const from = journal.findLastIndex((move) => move.to === "failed" && move.from !== "failed");
    return journal.slice(from).map((move) => `${move.from} -${move.event}-> ${move.to}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    expect(await this.t.pawl.inspect.verify()).toEqual([]);
    await this.t.close();
  }
}

eachStore((store) => {
  test("R25 example 1: what failed at indexing is parked again after ten minutes, and the scheduler fires", async () => {
    await using s = await Scene.open(store);
    await s.start("a", "indexing_for_plagiarism");
    await s.fail();
    await s.t.advance(10 * 60_000 - 1);
    expect(await s.t.work()).toBe(0);
    await s.t.advance(1);
    expect(await s.t.work()).toBe(1);
    expect(await s.state()).toBe("enqueued_for_plagiarism_index");
    expect(await s.t.work()).toBe(0); // It was saved, and no event sent: that is the scheduler's.
    await s.t.advance("1m");
    await s.goTo("processed");
    expect((await s.sinceFailure()).slice(0, 4)).toEqual([
      "indexing_for_plagiarism -fail-> failed",
      "failed -recover-> enqueued_for_plagiarism_index",
      "enqueued_for_plagiarism_index -start_index_for_plagiarism-> indexing_for_plagiarism",
      "indexing_for_plagiarism -index_done-> indexed_for_plagiarism",
    ]);
  });

  test("R25 R21 R23 example 2: solves that time out are resubmitted, and the attempt goes on from its checkpoint", async () => {
    await using s = await Scene.open(store);
    const solves = [
      { question: "checked", runs: 9, runId: "r1" },
      { question: "tired", runs: 5, runId: "r2" },
      { question: "fresh", runs: 2, runId: "r3" },
      { question: "idle", runs: 7 },
    ];
    await s.start("a", "solves_processing", { solves });
    const [checked] = await s.solves();
    await s.t.pawl.send(solve, { id: checked!.id }, "verdict");
    await s.t.advance("30m");
    expect(await s.state()).toBe("failed");
    expect(s.services.called).not.toContain("reset 1");
    await s.t.advance("10m");
    await (await s.t.claim("attempt/failed")).run();
    expect(s.services.called).toContain("reset 1");
    await s.t.work(); // What was sent to the solves is delivered; the step of the checkpoint finds its children again.
    expect(await s.state()).toBe("solves_processing");
    const now = [];
    for (const { id } of await s.solves()) now.push(await s.t.pawl.get(solve, { id }));
    expect(now.map((one) => ({ key: one!.key, state: one!.state, ...one!.data }))).toEqual([
      { key: "checked", state: "checked", runs: 9, runId: "r1" }, // It stays as it is.
      { key: "tired", state: "checking", runs: 0, runId: "r2+" }, // Its count of runs was used up, and begins anew.
      { key: "fresh", state: "checking", runs: 2, runId: "r3+" },
      { key: "idle", state: "checking", runs: 0 }, // It never ran, and is not submitted.
    ]);
    await s.check();
    expect((await s.sinceFailure()).slice(0, 4)).toEqual([
      "solves_processing -fail-> failed",
      "failed -recover-> attempt_cleanup",
      "attempt_cleanup -start_solve_processing-> solves_processing",
      "solves_processing -joined-> solves_processed",
    ]);
    s.services.called.length = 0;
    await s.goTo("proctoring_results_generated");
    await s.fail();
    await s.t.advance("10m");
    await s.t.work();
    expect(s.services.called.filter((call) => call.startsWith("reset"))).toEqual([]); // It lies behind solves_processed.
  });

  test("R25 R8 R9 example 3: the third failure is the last, and it stays failed until a person acts", async () => {
    await using s = await Scene.open(store);
    await s.start("a", "completed");
    for (const failure of ["first", "second", "third"]) {
      await s.fail("a", new Error(failure));
      const isLast = failure === "third";
      expect(await s.t.pawl.deadLetters.list({ lifecycle: s.attempt })).toHaveLength(isLast ? 1 : 0);
      await s.t.advance("10m");
      if (!isLast) await (await s.t.claim("attempt/failed")).run();
    }
    const journal = await s.t.pawl.journal(s.attempt, "a");
    expect(journal.map((move) => `${move.event}: ${move.to}`)).toEqual([
      "start: created",
      "complete: completed",
      "fail: failed",
      "recover: completed",
      "fail: failed",
      "recover: completed",
      "fail: failed",
    ]);
    const [letter] = await s.t.pawl.deadLetters.list({ lifecycle: s.attempt });
    expect(letter).toMatchObject({
      reason: "recovery_exhausted",
      origin: "completed",
      error: { name: "Error", message: "third" },
      details: {
        failures: 3,
        maxFailures: 3,
        history: [
          { state: "completed", error: "Error: first" },
          { state: "completed", error: "Error: second" },
          { state: "completed", error: "Error: third" },
        ],
      },
    });
    await s.t.advance("60d");
    expect(await s.t.work()).toBe(0);
    expect(await s.state()).toBe("failed");
    await s.t.pawl.send(s.attempt, "a", "recover", { actor: "ada" });
    await s.t.work();
    expect((await s.sinceFailure()).slice(0, 2)).toEqual(["completed -fail-> failed", "failed -recover-> completed"]);
  });

  test("R19 every scenario resumes where it should: at the checkpoint of the state that failed, else there", async () => {
    await using s = await Scene.open(store);
    const scenarios = {
      indexing_for_plagiarism: ["failed -recover-> enqueued_for_plagiarism_index"],
      solves_processing: ["failed -recover-> attempt_cleanup"],
      score_calculated: ["failed -recover-> score_calculated"],
      proctoring_results_generated: ["failed -recover-> proctoring_results_generated"],
      completed: ["failed -recover-> completed"],
      created: ["failed -recover-> created", "created -force_complete-> completed"],
    };
    for (const [state, moves] of Object.entries(scenarios)) {
      await s.start(state, state);
      await s.fail(state);
      await s.t.advance("10m");
      await (await s.t.claim("attempt/failed")).run();
      expect(await s.sinceFailure(state)).toEqual([`${state} -fail-> failed`, ...moves]);
      await s.t.pawl.send(s.attempt, state, "discard"); // so that no other step is claimed for it
    }
  });

  test("R10 a failure that is not the last schedules the recovery of that instance, ten minutes later", async () => {
    await using s = await Scene.open(store);
    await s.start("a", "completed");
    await s.start("b", "completed");
    for (const _ of ["first", "second"]) {
      await s.fail();
      await s.t.advance(10 * 60_000 - 1);
      expect(await s.state()).toBe("failed");
      await expect(s.t.claim("attempt/failed")).rejects.toThrow("Nothing is ready in attempt@1/failed");
      await s.t.advance(1);
      await (await s.t.claim("attempt/failed")).run();
      expect([await s.state(), await s.state("b")]).toEqual(["completed", "completed"]);
    }
  });

  test("R14 what failed last is what is resumed: the state that the last failure came from", async () => {
    await using s = await Scene.open(store);
    await s.start("a", "completed");
    await s.fail();
    await s.t.advance("10m");
    await (await s.t.claim("attempt/failed")).run();
    await s.goTo("score_calculated");
    await s.fail();
    await s.t.advance("10m");
    await (await s.t.claim("attempt/failed")).run();
    expect(await s.sinceFailure()).toEqual(["score_calculated -fail-> failed", "failed -recover-> score_calculated"]);
  });

  test("R15 a state with a checkpoint is resumed there, one without at itself", async () => {
    await using s = await Scene.open(store);
    for (const [state, target] of [
      ["solves_processing", "attempt_cleanup"],
      ["proctoring_results_generated", "proctoring_results_generated"],
    ] as const) {
      expect(s.attempt.states.get(state)!.checkpoint ?? state).toBe(target);
      await s.start(state, state);
      await s.fail(state);
      await s.t.advance("10m");
      await (await s.t.claim("attempt/failed")).run();
      expect(await s.state(state)).toBe(target);
      await s.t.pawl.send(s.attempt, state, "discard");
    }
  });

  test("R17 what a scheduler sends on is only put back: no event follows the recovery", async () => {
    await using s = await Scene.open(store);
    await s.start("a", "indexing_for_plagiarism");
    await s.fail();
    await s.t.advance("10m");
    expect(await s.t.work()).toBe(1);
    expect(await s.t.work()).toBe(0);
    expect(await s.sinceFailure()).toEqual([
      "indexing_for_plagiarism -fail-> failed",
      "failed -recover-> enqueued_for_plagiarism_index",
    ]);
  });

  test("R18 elsewhere the event that retries is sent with the recovery", async () => {
    await using s = await Scene.open(store);
    await s.start("a", "created");
    await s.fail();
    await s.t.advance("10m");
    await (await s.t.claim("attempt/failed")).run();
    expect(await s.sinceFailure()).toEqual([
      "created -fail-> failed",
      "failed -recover-> created",
      "created -force_complete-> completed",
    ]);
  });

  test("R16 R30 what failed in indexed_for_plagiarism stays failed until its own event leads on, and is proctored again", async () => {
    await using s = await Scene.open(store);
    await s.start("a", "indexed_for_plagiarism");
    await s.fail();
    await s.t.advance("10m");
    await (await s.t.claim("attempt/failed")).run();
    expect(await s.sinceFailure()).toEqual([
      "indexed_for_plagiarism -fail-> failed",
      "failed -retry_verify_proctor_results-> additional_attempt_info_stored",
    ]);
    s.services.called.length = 0;
    await s.goTo("proctoring_results_generated");
    expect(s.services.called).toEqual(["additional_attempt_info_stored"]);
  });

  test("R30 reprocess_solves leads from failed to the solves, also by hand", async () => {
    await using s = await Scene.open(store);
    await s.start("a", "score_calculated");
    await s.fail();
    await s.t.pawl.send(s.attempt, "a", "reprocess_solves", { actor: "ada" });
    expect(await s.sinceFailure()).toEqual([
      "score_calculated -fail-> failed",
      "failed -reprocess_solves-> solves_processing",
    ]);
    await s.goTo("processed");
  });

  test("R5 R27 whatever goes wrong leads to failed by the event `fail`, with a recovery to come", async () => {
    await using s = await Scene.open(store);
    for (const key of ["thrown", "gone", "called"]) {
      await s.start(key, "completed");
      if (key === "thrown") {
        s.services.fails("completed", new TypeError("x is not a function"));
        await (await s.t.claim("attempt/completed")).run();
      } else if (key === "gone") {
        await s.t.claim("attempt/completed");
        await s.t.advance("31s");
      } else await s.t.pawl.send(s.attempt, key, "fail", { reason: "by hand" });
      expect(await s.sinceFailure(key)).toEqual(["completed -fail-> failed"]);
    }
    const reasons = [];
    for (const key of ["thrown", "gone", "called"]) {
      const journal = await s.t.pawl.journal(s.attempt, key);
      reasons.push((journal.at(-1)!.payload as { reason: string }).reason);
    }
    expect(reasons).toEqual(["attempts_used_up", "lease_exhausted", "by hand"]);
    await s.t.advance("10m");
    for (const _ of reasons) await (await s.t.claim("attempt/failed")).run();
    for (const key of ["thrown", "gone", "called"]) expect(await s.state(key)).toBe("completed");
  });

  test("R13 a recovery that was scheduled does nothing once the attempt has left failed in another way", async () => {
    await using s = await Scene.open(store);
    await s.start("a", "completed");
    await expect(s.t.pawl.send(s.attempt, "a", "recover")).rejects.toMatchObject({ code: "transition_refused" });
    await s.fail();
    await s.t.advance("10m");
    const recovery = await s.t.claim("attempt/failed");
    await s.t.pawl.send(s.attempt, "a", "restart");
    await expect(recovery.run()).rejects.toMatchObject({ code: "lease_lost" });
    await s.t.advance("1h");
    expect(await s.state()).toBe("created");
    expect(await s.sinceFailure()).toEqual(["completed -fail-> failed", "failed -restart-> created"]);
  });

  test("R28 R29 restart completes anew and counts its failures anew; discard cleans up and cannot be undone", async () => {
    await using s = await Scene.open(store);
    await s.start("a", "score_calculated");
    for (const isLast of [false, false, true]) {
      await s.fail();
      if (!isLast) await s.t.pawl.send(s.attempt, "a", "recover");
    }
    expect(await s.t.pawl.deadLetters.list({ lifecycle: s.attempt })).toHaveLength(1);
    await s.t.pawl.send(s.attempt, "a", "restart", { actor: "ada" });
    expect(await s.t.pawl.deadLetters.list({ lifecycle: s.attempt })).toEqual([]);
    expect(await s.state()).toBe("created");
    s.services.called.length = 0;
    await s.t.work();
    expect(s.services.called).toEqual(["complete again"]);
    await s.fail(); // the fourth, and the first of this run
    expect(await s.t.pawl.deadLetters.list({ lifecycle: s.attempt })).toEqual([]);
    await s.t.advance("10m");
    await (await s.t.claim("attempt/failed")).run();
    expect(await s.state()).toBe("completed");
    await s.t.pawl.send(s.attempt, "a", "discard", { actor: "ada" });
    await s.t.work();
    expect(s.services.called.at(-1)).toBe("clean up");
    for (const event of ["restart", "recover", "fail", "discard"] as const) {
      expect(await s.t.pawl.trySend(s.attempt, "a", event)).toMatchObject({ ok: false });
    }
  });
});
