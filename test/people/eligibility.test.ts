import { type Alert, lifecycle, queue } from "pawl";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { openOn } from "../../src/api/open/create.ts";
import { sample as sampleLifecycle } from "../../src/people/lifecycle/sample.ts";
import { sql } from "../../src/store/port/db.ts";
import type { TestPawl } from "../../src/testing/test-pawl.ts";
import { eachStore } from "../support/each-store.ts";
import { cat, dog, expectSound, given, labeled, newQueue, sampleStates, started } from "./labeling.ts";

const rare = queue("rare", {
  label: z.object({ score: z.number().min(0).max(10) }),
  overlap: 2,
  labelers: ["r1", "r2", "r3"],
  agreement: { atLeast: 0.9, maxOverlap: 3 },
});

const claim = lifecycle("claim", {
  data: z.object({ text: z.string(), why: z.string().optional() }),
  initial: "asking",
  states: {
    asking: {
      ask: { queue: rare, sample: ({ data }) => data },
      timeout: { after: "30d", send: "fail" },
      on: { answered: "scored", unanswered: { to: "unscored", set: ({ payload }) => ({ why: payload.reason }) } },
    },
    scored: { final: "success" },
    unscored: { final: "failure" },
  },
});

eachStore((store) => {
  let t: TestPawl;
  const alerts: Alert[] = [];
  beforeAll(async () => {
    t = await store.open({
      lifecycles: [claim],
      alerts: [{ name: "kept", send: async (alert) => void alerts.push(alert) }],
    });
  });
  afterEach(() => expectSound(t));
  afterAll(() => t.close());

  const openLetters = async (sampleId: string) =>
    (await t.pawl.deadLetters.list({ lifecycle: sampleLifecycle })).filter((one) => one.instance === sampleId);

  async function skilled(skill: string, ...labelers: string[]): Promise<void> {
    for (const id of labelers) await t.pawl.people.upsertLabeler({ id, skills: [skill], active: true });
  }

  test("A44 samples that are given up raise one alert a queue, and another one after all were dealt with", async () => {
    const raised = async (name: string) => {
      await t.maintain();
      await t.deliverAlerts();
      return alerts.filter(({ kind, details }) => kind === "samples_given_up" && details.queue === name);
    };
    const [name, other] = [await newQueue(t, { skills: ["greek"] }), await newQueue(t, { skills: ["greek"] })];
    const add = (to: string, count: number) =>
      t.pawl.people.addMany(
        to,
        Array.from({ length: count }, (_, n) => ({ data: { n } })),
      );
    await add(name, 5);
    await add(name, 3);
    await add(other, 1);
    expect(await raised(name)).toMatchObject([
      {
        message: expect.stringContaining("No eligible labeler"),
        details: { reason: expect.stringContaining("labeler") },
      },
    ]);
    expect(await raised(other)).toHaveLength(1);
    const samples = await t.pawl.people.samples(name, { state: "unassignable" });
    for (const { id } of samples.slice(1)) await t.pawl.people.close(id, { actor: "lea" });
    await add(name, 1);
    expect(await raised(name), "one of them is still there").toHaveLength(1);
    for (const { id } of await t.pawl.people.samples(name, { state: "unassignable" }))
      await t.pawl.people.close(id, { actor: "lea" });
    await add(name, 2);
    expect(await raised(name)).toHaveLength(2);
  });

  test("A60 labels that disagree leave a sample unassignable once no eligible labeler is left for one more", async () => {
    await skilled("latin", "cato", "ovid");
    const name = await newQueue(t, { skills: ["latin"], overlap: 2, agreement: { atLeast: 0.9, maxOverlap: 3 } });
    await labeled(t, name, "cato", cat);
    const { assignment } = await labeled(t, name, "ovid", dog);
    expect(await t.pawl.people.sample(assignment.sampleId)).toMatchObject({
      state: "unassignable",
      reason: "No eligible labeler is left: it has 2 of 3 labels.",
      agreement: 0,
    });
    expect(await openLetters(assignment.sampleId)).toMatchObject([{ status: "open" }]);
    await skilled("latin", "vergil");
    expect(await sampleStates(t, name)).toEqual({ s1: "open" });
    expect(await openLetters(assignment.sampleId)).toEqual([]);
    await labeled(t, name, "vergil", cat);
    expect(await sampleStates(t, name)).toEqual({ s1: "exhausted" });
  });

  test("A60 a lifecycle that asked hears that there is no answer when the last eligible labeler becomes inactive", async () => {
    await t.pawl.start(claim, { key: "c1", data: { text: "…" } });
    await t.maintain();
    for (const labeler of ["r1", "r2"]) {
      const { id } = await started(t, "rare", labeler);
      await t.pawl.people.skip(id, labeler);
    }
    await t.maintain();
    expect(await t.pawl.get(claim, "c1")).toMatchObject({ state: "asking" });
    const [sample] = await t.pawl.people.samples(rare);
    await t.pawl.people.upsertLabeler({ id: "r3", active: false });
    expect(await t.pawl.people.sample(sample!.id)).toMatchObject({ state: "unassignable" });
    expect(await openLetters(sample!.id)).toMatchObject([{ status: "open" }]);
    await t.maintain();
    expect(await t.pawl.get(claim, "c1")).toMatchObject({
      state: "unscored",
      data: { why: "No eligible labeler is left: it has 0 of 2 labels." },
    });
    await t.pawl.people.upsertLabeler({ id: "r3", active: true });
  });

  test("A60 what the last eligible labeler has in hand is waited for, and decided when it ends", async () => {
    const name = await newQueue(t, { labelers: ["h1", "h2"], overlap: 2 });
    await labeled(t, name, "h1");
    const { id } = await started(t, name, "h2");
    await t.pawl.people.upsertLabeler({ id: "h2", active: false });
    expect(await sampleStates(t, name)).toEqual({ s1: "open" });
    await t.pawl.people.skip(id, "h2");
    expect(await sampleStates(t, name)).toEqual({ s1: "unassignable" });
  });

  test("A60 a queue that becomes restricted while its sample is in hand decides when that ends", async () => {
    const name = await newQueue(t, { finishWithin: "10m", maxAttemptsPerLabeler: 1 });
    await started(t, name, "u1");
    await t.pawl.people.updateQueue(name, { labelers: ["u1"] });
    expect(await sampleStates(t, name)).toEqual({ s1: "open" });
    await t.advance("11m");
    expect(await sampleStates(t, name)).toEqual({ s1: "unassignable" });
  });

  test("A60 a sample added where no labeler is eligible becomes unassignable, and open with the first one who is", async () => {
    const name = await newQueue(t, { skills: ["runes"] });
    await t.maintain();
    expect(await sampleStates(t, name)).toEqual({ s1: "unassignable" });
    await skilled("runes", "odin");
    expect(await sampleStates(t, name)).toEqual({ s1: "open" });
    await labeled(t, name, "odin");
    expect(await sampleStates(t, name)).toEqual({ s1: "agreed" });
  });

  test("A60 lost skills and a shorter list of labelers count, too", async () => {
    await skilled("chess", "judit");
    const bySkill = await newQueue(t, { skills: ["chess"] });
    await t.maintain();
    await t.pawl.people.upsertLabeler({ id: "judit", skills: [] });
    expect(await sampleStates(t, bySkill)).toEqual({ s1: "unassignable" });
    const byName = await newQueue(t, { labelers: ["n1", "n2"] });
    const { id } = await started(t, byName, "n1");
    await t.pawl.people.skip(id, "n1");
    await t.pawl.people.updateQueue(byName, { labelers: ["n1"] });
    expect(await sampleStates(t, byName)).toEqual({ s1: "unassignable" });
  });

  test("A60 a lead who reopens a sample that all eligible labelers are through with is told so", async () => {
    const name = await newQueue(t, { labelers: ["l1", "l2"], overlap: 2 });
    await labeled(t, name, "l1", cat);
    await labeled(t, name, "l2", dog);
    expect(await sampleStates(t, name)).toEqual({ s1: "exhausted" });
    expect(await t.pawl.people.reopen({ queue: name, key: "s1" }, { actor: "lea", attempts: 1 })).toMatchObject({
      state: "unassignable",
      reason: "No eligible labeler is left: it has 2 of 3 labels.",
    });
  });

  test("A60 maintenance makes up for a check that was interrupted", async () => {
    const name = await newQueue(t, { labelers: ["m1", "m2"], samples: 3 });
    await t.maintain();
    const { id } = await given(t, name, "m1");
    // The labelers become inactive, and the process that was to check what follows from it ends there.
    await t.db.rows(sql`
      insert into pawl.labelers (id, active, created_at) values ('m1', false, pawl.now()), ('m2', false, pawl.now())`);
    await t.db.rows(sql`update pawl.queues set eligibility = eligibility + 1 where name = ${name}`);
    await t.maintain();
    expect(await sampleStates(t, name)).toEqual({ s1: "open", s2: "unassignable", s3: "unassignable" });
    await t.pawl.people.release(id, { actor: "lea" });
    expect(await sampleStates(t, name)).toEqual({ s1: "unassignable", s2: "unassignable", s3: "unassignable" });
  });

  test("A60 a queue whose declaration names other labelers is checked by the process that declares it", async () => {
    const declared = (...labelers: string[]) => queue("signed", { label: { type: "boolean" }, labelers });
    await openOn(shared(t), { lifecycles: [], queues: [declared("p1", "p2")] });
    const { id } = await t.pawl.people.add("signed", { data: 1 });
    const { id: held } = await started(t, "signed", "p1");
    await t.pawl.people.skip(held, "p1");
    await openOn(shared(t), { lifecycles: [], queues: [declared("p1")] });
    await t.maintain();
    expect(await t.pawl.people.sample(id)).toMatchObject({ state: "unassignable" });
  });

  test("a sample cannot ask for more labels than labelers are named", async () => {
    const name = await newQueue(t, { labelers: ["o1", "o2"], samples: 0 });
    await expect(t.pawl.people.add(name, { data: 1, overlap: 3 })).rejects.toMatchObject({
      code: "option_invalid",
      message: expect.stringContaining("names 2 labelers"),
    });
  });
});

/** The database of a test, which a second Pawl on it does not close. */
function shared({ db }: TestPawl): TestPawl["db"] {
  const { kind } = db;
  const calls = { rows: db.rows.bind(db), transaction: db.transaction.bind(db), script: db.script.bind(db) };
  return { kind, ...calls, close: async () => {} } as typeof db;
}
