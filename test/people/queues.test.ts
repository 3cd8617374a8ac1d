import { createPawl, lifecycle, queue } from "pawl";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { openOn } from "../../src/api/open/create.ts";
import type { TestPawl } from "../../src/testing/test-pawl.ts";
import { eachStore } from "../support/each-store.ts";
import { rowCounts } from "../support/row-counts.ts";
import { cat, given, newQueue, started, whyNothing } from "./labeling.ts";

const essays = queue("essays", {
  label: z.object({ score: z.number().min(0).max(10) }),
  overlap: 2,
  startWithin: "1m",
});

const shortest = queue("shortest", {
  label: { type: "object" },
  order: ({ data, key }) => (key === "odd" ? Number.NaN : (data as { text: string }).text.length),
});

const asking = lifecycle("asking", {
  data: z.object({ text: z.string() }),
  initial: "asks",
  states: {
    asks: {
      ask: { queue: shortest, sample: ({ data }) => data },
      forever: true,
      on: { answered: "done", unanswered: "done" },
    },
    done: { final: "success" },
  },
});

eachStore((store) => {
  let t: TestPawl;
  beforeAll(async () => {
    t = await store.open({ lifecycles: [asking], queues: [essays, shortest] });
  });
  afterAll(() => t.close());

  test("a queue in code is there when Pawl is, with its settings", async () => {
    expect(await t.pawl.people.queue(essays)).toMatchObject({
      name: "essays",
      source: "code",
      active: true,
      overlap: 2,
      startWithinMs: 60_000,
      finishWithinMs: 3_600_000,
    });
    expect(t.pawl.lifecycles.map((one) => one.name)).toEqual(["asking"]);
    expect(t.pawl.internalLifecycles.map((one) => one.name)).toEqual(["pawl_sample", "pawl_assignment"]);
    await t.pawl.people.add(essays, { key: "one", data: { text: "…" } });
    expect(await given(t, "essays", "ada")).toMatchObject({ queue: "essays" });
  });

  test("a function gives each sample its place when it is added, also one that a lifecycle asks about", async () => {
    const { people } = t.pawl;
    await people.add(shortest, { key: "long", data: { text: "…………" } });
    await people.add(shortest, { key: "short", data: { text: "…" } });
    await t.pawl.start(asking, { key: "asked", data: { text: "……" } });
    await t.maintain();
    const nextKey = async (labeler: string) => {
      const next = await people.next(shortest, labeler);
      return next.assignment === null ? next.why.sentence : next.sample.key;
    };
    const order: (string | null)[] = [];
    for (const labeler of ["a", "b", "c"]) order.push(await nextKey(labeler));
    expect(order).toEqual(["short", "asked", "long"]);
    expect(await people.queue(shortest)).toMatchObject({ order: "number" });
    await expect(people.add(shortest, { key: "odd", data: { text: "" } })).rejects.toMatchObject({
      code: "option_invalid",
      message: expect.stringContaining("must return a number for each sample; for odd it returned"),
    });
    await expect(people.createQueue("own", { label: {}, order: () => 1 })).rejects.toMatchObject({
      code: "option_invalid",
    });
  });

  test("a queue in code is changed in code: the process that started last says what it is", async () => {
    await expect(t.pawl.people.updateQueue("essays", { overlap: 3 })).rejects.toMatchObject({ code: "not_allowed" });
    await t.pawl.people.deactivateQueue(essays);
    const later = queue("essays", { label: z.object({ score: z.number() }), overlap: 4 });
    await openOn(shared(t), { lifecycles: [], queues: [later] });
    expect(await t.pawl.people.queue(essays)).toMatchObject({ overlap: 4, active: false });
    await t.pawl.people.activateQueue(essays);
  });

  test("R120 a queue made at run time can be changed, listed and made inactive; what is given out keeps what was agreed", async () => {
    const name = await newQueue(t, { samples: 2, finishWithin: "10m" });
    const one = await started(t, name, "ada");
    expect(await t.pawl.people.updateQueue(name, { finishWithin: "20m", labelers: ["ada", "ben"] })).toMatchObject({
      finishWithinMs: 1_200_000,
      labelers: ["ada", "ben"],
      source: "run_time",
      overlap: 1,
    });
    expect(await whyNothing(t, name, "cem")).toMatchObject({ code: "not_eligible" });
    const other = await started(t, name, "ben");
    expect(one.deadlineAt).toEqual(new Date(t.now().getTime() + 600_000));
    expect(other.deadlineAt).toEqual(new Date(t.now().getTime() + 1_200_000));
    await t.pawl.people.extend(one.id, "ada");
    expect((await t.pawl.people.assignment(one.id)).deadlineAt).toEqual(one.deadlineAt);
    expect((await t.pawl.people.queues()).map((known) => known.name)).toContain(name);
    await t.pawl.people.deactivateQueue(name);
    expect(await t.pawl.people.queue(name)).toMatchObject({ active: false });
  });

  test("labelers are added, changed and listed", async () => {
    await t.pawl.people.upsertLabeler({ id: "zoe", name: "Zoe", skills: ["latin"] });
    expect(await t.pawl.people.upsertLabeler({ id: "zoe", active: false })).toMatchObject({
      id: "zoe",
      name: "Zoe",
      skills: ["latin"],
      active: false,
    });
    const name = await newQueue(t);
    expect(await whyNothing(t, name, "zoe")).toMatchObject({ code: "labeler_inactive" });
    expect((await t.pawl.people.labelers()).map((one) => one.id)).toContain("zoe");
  });

  describe("bad input is refused, and nothing is written", () => {
    const id = "01b8dd58-e200-7000-8000-000000000000";
    const label = { type: "object" } as const;
    const cases: [string, string, (t: TestPawl) => Promise<unknown>][] = [
      ["a queue of that name", "queue_exists", (one) => one.pawl.people.createQueue("essays", { label })],
      ["a name that is none", "definition_invalid", (one) => one.pawl.people.createQueue("No Name", { label })],
      [
        "settings that cannot be",
        "definition_invalid",
        (one) => one.pawl.people.createQueue("q", { label, overlap: 9 }),
      ],
      ["no settings", "definition_invalid", (one) => one.pawl.people.createQueue("q", undefined as never)],
      [
        "a schema of a library",
        "option_invalid",
        (one) => one.pawl.people.createQueue("q", { label: z.string() as never }),
      ],
      ["a queue that is not there", "queue_unknown", (one) => one.pawl.people.next("nowhere", "ada")],
      ["a queue that is not there", "queue_unknown", (one) => one.pawl.people.add("nowhere", { data: 1 })],
      ["a queue that is not there", "queue_unknown", (one) => one.pawl.people.updateQueue("nowhere", {})],
      ["a queue that is not there", "queue_unknown", (one) => one.pawl.people.deactivateQueue("nowhere")],
      ["a queue that is not there", "queue_unknown", (one) => one.pawl.people.checkExpired("nowhere")],
      ["does not exist", "option_invalid", (one) => one.pawl.people.next(undefined as never, "ada")],
      ["no labeler", "option_invalid", (one) => one.pawl.people.next("essays", undefined as never)],
      ["a labeler with a NUL", "option_invalid", (one) => one.pawl.people.next("essays", "a\u0000")],
      ["a labeler without an id", "option_invalid", (one) => one.pawl.people.upsertLabeler({} as never)],
      [
        "skills that are none",
        "option_invalid",
        (one) => one.pawl.people.upsertLabeler({ id: "x", skills: [7 as never] }),
      ],
      ["no samples", "option_invalid", (one) => one.pawl.people.addMany("essays", undefined as never)],
      ["a sample without data", "option_invalid", (one) => one.pawl.people.add("essays", {} as never)],
      ["a sample that is none", "option_invalid", (one) => one.pawl.people.add("essays", "text" as never)],
      ["an unknown key", "option_invalid", (one) => one.pawl.people.add("essays", { data: 1, rank: 1 } as never)],
      [
        "a number that is none",
        "option_invalid",
        (one) => one.pawl.people.add("essays", { data: 1, priority: Number.NaN }),
      ],
      ["too much overlap", "option_invalid", (one) => one.pawl.people.add("essays", { data: 1, overlap: 6 })],
      [
        "a gold label that does not fit",
        "label_invalid",
        (one) => one.pawl.people.add("essays", { data: 1, gold: { score: 11 } }),
      ],
      [
        "data that cannot be stored",
        "value_not_serializable",
        (one) => one.pawl.people.add("essays", { data: "\u0000" }),
      ],
      [
        "a key that is too long",
        "key_invalid",
        (one) => one.pawl.people.add("essays", { data: 1, key: "x".repeat(500) }),
      ],
      ["an assignment that is not there", "assignment_unknown", (one) => one.pawl.people.start(id, "ada")],
      ["an assignment that is not there", "assignment_unknown", (one) => one.pawl.people.submit(id, "ada", cat)],
      ["an assignment that is not there", "assignment_unknown", (one) => one.pawl.people.skip(id, "ada")],
      ["an assignment that is not there", "assignment_unknown", (one) => one.pawl.people.release(id, { actor: "lea" })],
      ["an assignment that is not there", "assignment_unknown", (one) => one.pawl.people.assignment(id)],
      ["what is no id", "option_invalid", (one) => one.pawl.people.start("assignment-1", "ada")],
      ["nobody", "option_invalid", (one) => one.pawl.people.release(id, {} as never)],
    ];
    test.each(cases)("%s: %s", async (_what, code, call) => {
      const before = await rowCounts(t);
      await expect(call(t)).rejects.toMatchObject({ code });
      expect(await rowCounts(t)).toEqual(before);
    });

    test("one bad sample of many keeps all of them out", async () => {
      const before = await rowCounts(t);
      const added = t.pawl.people.addMany("essays", [{ data: 1 }, { data: undefined }]);
      await expect(added).rejects.toMatchObject({ code: "option_invalid", details: { index: 1 } });
      expect(await rowCounts(t)).toEqual(before);
    });
  });
});

test.each([
  ["what is no list", { lifecycles: [], queues: essays as never }],
  ["what is no queue", { lifecycles: [], queues: [{ name: "essays" } as never] }],
  ["two of a name", { lifecycles: [], queues: [essays, essays] }],
])("createPawl refuses %s for queues", async (_what, options) => {
  await expect(createPawl(options)).rejects.toMatchObject({ code: "option_invalid" });
});

function shared(t: TestPawl) {
  return { ...pick(t), close: async () => {} };
}

function pick({ db }: TestPawl) {
  return {
    kind: db.kind,
    rows: db.rows.bind(db),
    transaction: db.transaction.bind(db),
    script: db.script.bind(db),
  } as typeof db;
}
