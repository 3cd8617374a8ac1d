import { lifecycle, queue } from "pawl";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { openOn } from "../../src/api/open/create.ts";
import type { TestPawl } from "../../src/testing/test-pawl.ts";
import { eachStore } from "../support/each-store.ts";
import { expectSound, labeled, started, whyNothing } from "./labeling.ts";

const scores = queue("scores", {
  label: z.object({ score: z.number().min(0).max(10) }),
  overlap: 2,
  maxAttemptsTotal: 2,
});

const essay = lifecycle("essay", {
  data: z.object({ text: z.string(), score: z.number().optional(), why: z.string().optional() }),
  initial: "written",
  states: {
    written: { forever: true, on: { hand_in: "reviewing", ask_at_once: "reviewing" } },
    reviewing: {
      ask: {
        queue: scores,
        sample: ({ data }) => {
          if (data.text === "") throw new Error("an empty essay");
          return { text: data.text };
        },
      },
      timeout: { after: "2d", send: "expired" },
      on: {
        answered: { to: "scored", set: ({ payload }) => ({ score: payload.consensus.score }) },
        unanswered: { to: "unscored", set: ({ payload }) => ({ why: payload.reason }) },
        expired: "written",
        withdraw: "written",
      },
    },
    scored: { final: "success" },
    unscored: { forever: true, on: { hand_in: "reviewing", drop: "dropped" } },
    dropped: { final: "failure" },
  },
});

const check = lifecycle("check", {
  data: z.object({ text: z.string() }),
  initial: "asking",
  recovery: { maxFailures: 2, after: "10m" },
  states: {
    asking: {
      ask: { queue: scores, sample: ({ data }) => data },
      timeout: { after: "1d", send: "fail" },
      on: { answered: "done", unanswered: "undone" },
    },
    done: { final: "success" },
    undone: { final: "failure" },
  },
});

const ranked = queue("ranked", {
  label: z.object({ score: z.number() }),
  order: ({ data }) => {
    const { text } = data as { text: string };
    if (text === "throws") throw new Error("no such order");
    return text === "is no number" ? Number.NaN : 1;
  },
});

const ranking = lifecycle("ranking", {
  data: z.object({ text: z.string() }),
  initial: "asking",
  states: {
    asking: {
      // Its content fits, but not together with what a sample has besides.
      ask: {
        queue: ranked,
        sample: ({ data }) => ({ text: data.text === "is huge" ? "x".repeat(1024 * 1024 - 20) : data.text }),
      },
      timeout: { after: "1d", send: "fail" },
      on: { answered: "done", unanswered: "done" },
    },
    done: { final: "success" },
  },
});

eachStore((store) => {
  let t: TestPawl;
  beforeAll(async () => {
    t = await store.open({ lifecycles: [essay, check, ranking] });
  });
  afterEach(() => expectSound(t));
  afterAll(() => t.close());

  async function asked(key: string, text = "…"): Promise<void> {
    await t.pawl.start(essay, { key, data: { text } });
    await t.pawl.send(essay, key, "hand_in");
    await t.maintain();
  }

  const openSamples = () => t.pawl.people.samples(scores, { state: "open" });

  test("a lifecycle asks people and goes on by itself with what they agree on", async () => {
    await asked("e1", "On pawls");
    const [sample] = await openSamples();
    expect(sample).toMatchObject({ key: "e1", data: { text: "On pawls" }, needs: 2 });
    await labeled(t, "scores", "ada", { score: 6 });
    await t.maintain();
    expect(await t.pawl.get(essay, "e1")).toMatchObject({ state: "reviewing" });
    await labeled(t, "scores", "ben", { score: 8 });
    await t.maintain();
    expect(await t.pawl.get(essay, "e1")).toMatchObject({ state: "scored", data: { score: 7 } });
    const journal = await t.pawl.journal(essay, "e1");
    expect(journal.at(-1)).toMatchObject({
      event: "answered",
      source: "pawl",
      payload: { consensus: { score: 7 }, labels: [{ score: 6 }, { score: 8 }], agreement: expect.any(Number) },
    });
    expect(await openSamples()).toEqual([]);
  });

  test("one that failed over its question asks again when it is recovered", async () => {
    await t.pawl.start(check, { key: "again", data: { text: "…" } });
    await t.maintain();
    const [first] = await openSamples();
    await t.advance("1d");
    expect(await t.pawl.get(check, "again")).toMatchObject({ state: "failed" });
    expect(await openSamples()).toEqual([]);
    await t.advance("10m");
    await t.work();
    await t.maintain();
    const [second] = await openSamples();
    expect(second!.id).not.toBe(first!.id);
    for (const labeler of ["ada", "ben"]) await labeled(t, "scores", labeler, { score: 5 });
    await t.maintain();
    expect(await t.pawl.get(check, "again")).toMatchObject({ state: "done" });
  });

  test("where there is no answer to be had, it is told so, and may ask again", async () => {
    await asked("e2");
    const one = await started(t, "scores", "ada");
    await t.pawl.people.skip(one.id, "ada", { reason: "illegible" });
    const other = await started(t, "scores", "ben");
    await t.pawl.people.submit(other.id, "ben", { score: 5 });
    await t.maintain();
    expect(await t.pawl.get(essay, "e2")).toMatchObject({
      state: "unscored",
      data: { why: "It reached the maximum of attempts of its queue, with 1 of 2 labels." },
    });
    await t.maintain();
    expect(await t.pawl.people.sample(one.sampleId)).toMatchObject({ state: "closed" });
    await t.pawl.send(essay, "e2", "hand_in");
    await t.maintain();
    for (const labeler of ["ada", "ben"]) await labeled(t, "scores", labeler, { score: 4 });
    await t.maintain();
    expect(await t.pawl.get(essay, "e2")).toMatchObject({ state: "scored", data: { score: 4 } });
  });

  test("whoever goes on without an answer takes the question back, and asks anew when it comes again", async () => {
    await asked("e3");
    const [first] = await openSamples();
    const held = await started(t, "scores", "ada");
    await t.pawl.send(essay, "e3", "withdraw");
    await t.pawl.send(essay, "e3", "hand_in");
    await t.maintain();
    const open = await openSamples();
    expect(open).toHaveLength(1);
    expect(open[0]!.id).not.toBe(first!.id);
    expect(await t.pawl.people.sample(first!.id)).toMatchObject({ state: "closed" });
    expect(await t.pawl.people.submit(held.id, "ada", { score: 1 })).toMatchObject({ late: false });
    await t.maintain();
    expect(await t.pawl.get(essay, "e3")).toMatchObject({ state: "reviewing" });
    await t.advance("2d");
    await t.maintain();
    expect(await t.pawl.get(essay, "e3")).toMatchObject({ state: "written" });
    expect(await openSamples()).toEqual([]);
    expect(await whyNothing(t, "scores", "zoe")).toMatchObject({ code: "nothing_waits" });
  });

  test("a question that cannot be put fails the instance that has it", async () => {
    await asked("e4", "");
    await t.maintain();
    expect(await t.pawl.get(essay, "e4")).toMatchObject({ state: "failed" });
    expect((await t.pawl.journal(essay, "e4")).at(-1)).toMatchObject({
      event: "fail",
      payload: { reason: "question_failed", error: { message: expect.stringContaining("an empty essay") } },
    });
    expect(await openSamples()).toEqual([]);
  });

  test("a question that its queue cannot take fails the instance that asks it, and holds up no other", async () => {
    const texts = ["throws", "is no number", "is huge", "is fine"];
    await t.pawl.startMany(
      ranking,
      texts.map((text) => ({ key: text, data: { text } })),
    );
    await t.maintain();
    for (const text of texts.slice(0, 3)) {
      expect(await t.pawl.get(ranking, text), text).toMatchObject({ state: "failed" });
      expect((await t.pawl.journal(ranking, text)).at(-1)).toMatchObject({ payload: { reason: "question_failed" } });
    }
    const open = await t.pawl.people.samples(ranked, { state: "open" });
    expect(open).toMatchObject([{ key: "is fine" }]);
    await t.maintain();
  });

  test("a lifecycle may begin by asking; when it is discarded, nobody is asked any more", async () => {
    await t.pawl.startMany(
      check,
      ["c1", "c2", "c3"].map((key) => ({ key, data: { text: key } })),
    );
    await t.maintain();
    expect(await openSamples()).toHaveLength(3);
    await t.maintain();
    expect(await openSamples()).toHaveLength(3);
    const [{ assignment }] = [
      await labeled(t, "scores", "ada", { score: 3 }),
      await labeled(t, "scores", "ben", { score: 3 }),
    ];
    await t.maintain();
    const { key: answered } = await t.pawl.people.sample(assignment.sampleId);
    expect(await t.pawl.get(check, answered!)).toMatchObject({ state: "done" });
    const [one, other] = await openSamples();
    await t.pawl.send(check, one!.key!, "discard");
    await t.work();
    expect(await t.pawl.people.sample(one!.id)).toMatchObject({ state: "closed" });
    await t.pawl.people.close(other!.id, { actor: "lea", reason: "a duplicate" });
    await t.maintain();
    expect(await t.pawl.get(check, other!.key!)).toMatchObject({ state: "undone" });
    expect(await openSamples()).toEqual([]);
  });

  test("what is no answer is not taken for one", async () => {
    await asked("e5");
    for (const payload of [undefined, {}, { consensus: { score: 1 }, labels: "none", agreement: null }]) {
      await expect(t.pawl.send(essay, "e5", "answered", payload as never)).rejects.toMatchObject({
        code: "payload_invalid",
      });
    }
    const answer = { consensus: { score: 1 }, labels: [], agreement: null };
    expect(await t.pawl.send(essay, "e5", "answered", answer, { actor: "lea" })).toMatchObject({ state: "scored" });
    await t.maintain();
    expect(await openSamples()).toEqual([]);
  });

  test("a queue that a lifecycle asks is the one that is declared under its name", async () => {
    const other = queue("scores", { label: z.object({ score: z.number() }) });
    await expect(openOn(shared(t), { lifecycles: [check], queues: [other] })).rejects.toMatchObject({
      code: "option_invalid",
    });
  });
});

function shared({ db }: TestPawl): TestPawl["db"] {
  return {
    kind: db.kind,
    rows: db.rows.bind(db),
    transaction: db.transaction.bind(db),
    script: db.script.bind(db),
    close: async () => {},
  };
}
