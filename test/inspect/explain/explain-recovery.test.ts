import { readFileSync } from "node:fs";
import { constant, lifecycle } from "pawl";
import { expect, test } from "vitest";
import { testPawl } from "../../../src/testing/test-pawl.ts";
import { attemptOn, Services, solve } from "../../support/assessment.ts";
import { eachStore } from "../../support/each-store.ts";

const guide = readFileSync(new URL("../../../docs/guides/recovery.md", import.meta.url), "utf8");
const printed = [...guide.matchAll(/```text\n([\s\S]*?)```/g)].map((match) => match[1]!.trimEnd());

eachStore((store) => {
  test("an explanation says what failed, how often, and what a recovery would do, and changes nothing", async () => {
    const attempt = attemptOn(new Services());
    await using t = await store.open({ lifecycles: [attempt, solve] });
    await t.pawl.start(attempt, { key: "a", data: { finished: false } });
    const explained = async () => (await t.pawl.explain(attempt, "a")).recovery!.sentences;
    expect(await explained()).toEqual([
      "If it failed now, it would recover automatically after 10 minutes.",
      "The recovery would be refused: the candidate is still working.",
    ]);
    await t.pawl.send(attempt, "a", "complete");
    await (await t.claim("attempt/completed")).fail(new Error("no room"));
    expect(await explained()).toEqual([
      "It failed in `completed` at 2030-01-01 12:00:00 UTC: attempts used up; Error: no room.",
      "It has failed once since it was started or restarted; the limit is 3.",
      "A recovery now would run the reset, and then resume in `completed`, whose step runs again.",
    ]);
    const { recovery: planned, sentences } = await t.pawl.explain(attempt, "a");
    expect(planned).toMatchObject({ next: { kind: "recovery", at: new Date("2030-01-01T12:10:00Z") } });
    expect([sentences[0], ...sentences.slice(4)]).toEqual([
      '`attempt` "a" has been in `failed` since 2030-01-01 12:00:00 UTC.',
      "Its recovery runs at 2030-01-01 12:10:00 UTC.",
      "Next, at 2030-01-01 12:10:00 UTC: it recovers in `completed`.",
    ]);
    await t.pawl.send(attempt, "a", "recover");
    expect((await t.pawl.explain(attempt, "a")).recovery).toMatchObject({ next: { kind: "recovery", at: null } });
    await (await t.claim("attempt/failed")).run();
    for (const failure of ["second", "It is the third."]) {
      await (await t.claim("attempt/completed")).fail(new Error(failure));
      if (failure !== "second") break;
      await t.advance("10m");
      await (await t.claim("attempt/failed")).run();
    }
    const [letter] = await t.pawl.deadLetters.list({ lifecycle: attempt });
    const journal = await t.pawl.journal(attempt, "a");
    expect((await t.pawl.explain(attempt, "a")).recovery).toMatchObject({
      failure: { state: "completed", reason: "attempts_used_up", error: "Error: It is the third." },
      failures: 3,
      maxFailures: 3,
      scope: "restart",
      next: { kind: "person", reason: "recovery_exhausted", deadLetter: letter!.id },
      retry: {
        kind: "planned",
        target: "completed",
        resets: true,
        moves: [{ event: "recover", from: "failed", to: "completed" }],
      },
    });
    expect(await explained()).toEqual([
      expect.stringMatching(/: attempts used up; Error: It is the third\.$/),
      "It has failed 3 times since it was started or restarted; the limit is 3.",
      "A recovery now would run the reset, and then resume in `completed`, whose step runs again.",
    ]);
    expect(await t.pawl.explain(attempt, "a")).toMatchObject({
      waitingFor: [
        {
          sentence: `It failed in \`completed\` and is not retried (recovery exhausted). Dead letter ${letter!.id} is open.`,
        },
      ],
      stuck: { reason: "dead_letter", remedy: "Requeue or discard the dead letter." },
    });
    expect(await t.pawl.journal(attempt, "a")).toEqual(journal);
    await t.pawl.send(attempt, "a", "discard");
    await t.work(); // Its after-effect, for which it would still be waiting.
    expect((await t.pawl.explain(attempt, "a")).sentences).toEqual([
      '`attempt` "a" ended in `discarded` at 2030-01-01 12:10:00 UTC.',
    ]);
  });

  test("an explanation names events that a recovery sends, parked states, and failures that are caught", async () => {
    const attempt = attemptOn(new Services());
    const caught = lifecycle("caught", {
      initial: "a",
      states: {
        a: { run: async () => {}, retry: { maxAttempts: 1, backoff: constant("1s") }, on: { x: "b", fail: "b" } },
        b: { final: "success" },
      },
    });
    await using t = await store.open({ lifecycles: [attempt, solve, caught] });
    const lastOf = async (state: string, advance: () => Promise<void>) => {
      await t.pawl.start(attempt, { key: state, data: {} });
      await advance();
      await t.pawl.send(attempt, state, "fail");
      return (await t.pawl.explain(attempt, state)).recovery!.sentences.at(-1);
    };
    const steps =
      (key: string, ...states: string[]) =>
      async () => {
        await t.pawl.send(attempt, key, "complete");
        for (const state of states) {
          if (state === "solves_processing")
            await t.maintain(); // There are none, so they are joined at once.
          else await (await t.claim(`attempt/${state}`)).run();
        }
      };
    expect(await lastOf("created", async () => {})).toBe(
      "A recovery now would run the reset, and then go back to `created` and send `force_complete`, which leads to `completed`.",
    );
    const toIndex = ["completed", "attempt_cleanup", "solves_processing", "solves_processed"];
    expect(await lastOf("parked", steps("parked", ...toIndex))).toBe(
      "A recovery now would resume in `enqueued_for_plagiarism_index`, where it waits for its release.",
    );
    const indexed = async () => {
      await steps("indexed", ...toIndex)();
      await t.pawl.send(attempt, "indexed", "start_index_for_plagiarism");
      await (await t.claim("attempt/indexing_for_plagiarism")).run();
    };
    expect(await lastOf("indexed", indexed)).toBe(
      "A recovery now would send `retry_verify_proctor_results`, which leads to `additional_attempt_info_stored`.",
    );
    await t.pawl.start(caught, { key: "c" });
    expect((await t.pawl.explain(caught, "c")).recovery!.sentences).toEqual([
      "A failure of its step leads to `b` and does not count as a failure of the instance.",
    ]);
    await expect(t.pawl.explain(caught, "nobody")).rejects.toMatchObject({ code: "instance_unknown" });
  });
});

test("the guide tells the story as it happens", async () => {
  const report = lifecycle("report", {
    initial: "collecting",
    recovery: { maxFailures: 3, after: "10m" },
    states: {
      collecting: { run: async () => {}, on: { collected: "queued" } },
      queued: { release: { interval: "1m", limit: 500, send: "index" }, on: { index: "indexing" } },
      indexing: {
        run: () => {
          throw new Error("the index is away");
        },
        retry: { maxAttempts: 4, backoff: (failed) => 1_000 * 2 ** failed },
        on: { indexed: "done" },
        checkpoint: "queued",
      },
      done: { final: "success" },
    },
  });
  await using t = await testPawl({ lifecycles: [report] });
  await t.pawl.start(report, { key: "r1" });
  await t.work();
  const told: string[] = [];
  for (const failure of [1, 2, 3]) {
    while ((await t.pawl.get(report, "r1"))!.state !== "failed") {
      await t.work();
      await t.advance("1s");
    }
    const { sentences } = await t.pawl.explain(report, "r1");
    if (failure !== 2) told.push(sentences.join("\n").replace(/(?<=Dead letter )[0-9a-f-]{36}/, "…"));
    await t.advance("10m");
    await t.work();
  }
  expect(told).toEqual(printed);
});
