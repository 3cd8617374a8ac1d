import { labelsToCsv, labelsToJsonl, queue, samplesFromJsonl } from "pawl";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { sql } from "../../src/store/db.ts";
import type { TestPawl } from "../../src/testing/test-pawl.ts";
import { eachStore } from "../support/each-store.ts";
import { labeled, newQueue, started } from "./labeling.ts";

const animals = queue("animals", {
  label: z.object({ animal: z.enum(["cat", "dog"]) }),
  overlap: 2,
  order: "least_labeled",
});
const cat = { animal: "cat" };
const dog = { animal: "dog" };

eachStore((store) => {
  let t: TestPawl;
  beforeAll(async () => {
    t = await store.open({ lifecycles: [], queues: [animals] });
  });
  afterAll(() => t.close());

  test("samples come from a file, labels go into one, and in between it is measured how good they are", async () => {
    const { people } = t.pawl;
    const lines = [
      '{"id":"a","url":"1.png","answer":{"animal":"cat"}}',
      "no json",
      '{"id":"b","url":"2.png"}',
      '{"id":"a","url":"3.png"}',
    ];
    const imported = await people.importSamples(
      animals,
      samplesFromJsonl([lines.join("\n")], { key: "id", gold: "answer" }),
    );
    expect(imported).toMatchObject({ added: 2, known: 1, badLines: 1, bad: [{ line: 2 }], cursor: { line: 4 } });
    const again = await people.importSamples(
      animals,
      samplesFromJsonl([lines.join("\n")], { key: "id", gold: "answer" }),
    );
    expect(again).toMatchObject({ added: 0, known: 3 });

    for (const [labeler, label] of [
      ["ada", cat],
      ["ada", dog],
      ["ben", dog],
      ["ben", dog],
    ] as const) {
      await labeled(t, "animals", labeler, label);
    }
    const jsonl: unknown[] = [];
    for await (const line of labelsToJsonl(people.exportLabels(animals))) jsonl.push(JSON.parse(line));
    expect(jsonl).toMatchObject([
      { key: "a", data: { url: "1.png" }, labeler: "ada", label: cat, late: false, leadMs: 0 },
      { key: "b", labeler: "ada", label: dog },
      { key: "a", labeler: "ben", label: dog },
      { key: "b", labeler: "ben", label: dog },
    ]);
    let csv = "";
    for await (const text of labelsToCsv(people.exportLabels(animals), { fields: ["animal"] })) csv += text;
    expect(csv.split("\n")[0]).toContain("animal");

    const quality = await people.quality(animals);
    expect(quality.agreement).toMatchObject({ agreement: 0.5, fields: { animal: { labels: 4, samples: 2 } } });
    expect(quality.gold.map(({ labeler, right }) => [labeler, right])).toEqual([
      ["ben", 0],
      ["ada", 1],
    ]);
    expect(quality.labelers).toHaveLength(2);
  });

  test("what does not count is left out, and late labels are exported if asked", async () => {
    const name = await newQueue(t, { samples: 2, review: true });
    const { label } = await labeled(t, name, "ada");
    await t.pawl.people.reject(label.id, { actor: "lea" });
    const late = await started(t, name, "ben");
    await t.advance("1h");
    await t.pawl.people.submit(late.id, "ben", { category: "dog" });
    const labelers = async (options: object) => {
      const found: string[] = [];
      for await (const row of t.pawl.people.exportLabels(name, options)) found.push(row.labeler);
      return found;
    };
    expect(await labelers({})).toEqual([]);
    expect(await labelers({ late: true })).toEqual(["ben"]);
    await expect(labelers({ after: { id: "x" } })).rejects.toMatchObject({ code: "option_invalid" });
  });

  describe("pawl verify finds what cannot be so", () => {
    const breaks: [string, (queue: string) => ReturnType<typeof sql>, RegExp][] = [
      [
        "a slot taken from who holds it",
        (name) => sql`update pawl.slots set assignment_id = null where queue = ${name}`,
        /is open, and slot 1 of its sample is not its own/,
      ],
      [
        "a count that is off",
        (name) => sql`update pawl.samples set spent = 1 where queue = ${name}`,
        /It counts 0 of 1 slots filled and 1 spent/,
      ],
      [
        "a sample that says that it is over",
        (name) => sql`update pawl.samples set open = false where queue = ${name}`,
        /It stands in "open", and its row says that it is closed/,
      ],
      [
        "a time that is not the timer's",
        (name) => sql`update pawl.assignments set due_at = due_at + interval '1 hour' where queue = ${name}`,
        /its timer goes off at/,
      ],
      [
        "a sample that no eligible labeler is left for",
        (name) => sql`
          with changed as (
            update pawl.queues set settings = settings || '{"skills": ["unheard of"]}', eligibility_checked = eligibility
            where name = ${name}
          ),
          freed as (update pawl.assignments set desk = null, status = 'expired', expired_at = pawl.now(), due_at = null where queue = ${name})
          update pawl.slots set assignment_id = null, open_in = queue where queue = ${name}`,
        /No eligible labeler is left for it/,
      ],
      [
        "an assignment without its row",
        (name) => sql`delete from pawl.assignments where queue = ${name}`,
        /is an assignment, and has no row as one/,
      ],
    ];
    test.each(breaks)("%s", async (_what, broken, message) => {
      const name = await newQueue(t);
      await started(t, name, "ada");
      expect(await t.pawl.verify()).toEqual([]);
      await expect(
        t.db.transaction(async (tx) => {
          await tx.rows(broken(name));
          const { verify } = await import("../../src/views/verify.ts");
          const found = await verify(tx);
          expect(found.map((one) => one.message).join("\n")).toMatch(message);
          throw new Error("undo");
        }),
      ).rejects.toThrow("undo");
    });
  });
});
