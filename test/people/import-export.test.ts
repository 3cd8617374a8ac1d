import { queue } from "pawl";
import { labelsToCsv, labelsToJsonl, labelsToLabelStudio, samplesFromJsonl } from "pawl/formats";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { sql } from "../../src/store/port/db.ts";
import type { TestPawl } from "../../src/testing/test-pawl.ts";
import { eachStore } from "../support/each-store.ts";
import { expectSound, labeled, newQueue, started } from "./labeling.ts";

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
      { key: "a", labeler: "ben", label: dog },
      { key: "b", labeler: "ada", label: dog },
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

  test("a gold label that its queue refuses is reported with its line, and all other lines are added", async () => {
    const lines = Array.from({ length: 1_200 }, (_, n) =>
      JSON.stringify({ id: `g${n + 1}`, answer: { animal: n === 2 || n === 3 || n === 700 ? "fish" : "cat" } }),
    );
    lines[10] = "no json";
    const read = () => samplesFromJsonl([lines.join("\n")], { key: "id", gold: "answer" });
    const imported = await t.pawl.people.importSamples(animals, read());
    expect(imported).toMatchObject({ added: 1_196, known: 0, badLines: 4, cursor: { line: 1_200 } });
    expect(imported.bad.map((one) => one.line)).toEqual([3, 4, 11, 701]);
    expect(imported.bad[0]!.problem).toContain("/animal");
    expect(imported.bad[0]!.problem).not.toContain("Nothing of the list was written");
    expect(await t.pawl.people.importSamples(animals, read())).toMatchObject({ added: 0, known: 1_196, badLines: 4 });
  });

  test("Label Studio gets one task per sample with all its labels and skips, and free text as a textarea", async () => {
    const label = {
      type: "object",
      properties: { animal: { enum: ["cat", "dog"] }, note: { type: "string" } },
      required: ["animal", "note"],
    } as const;
    const name = await newQueue(t, { label, overlap: 2, order: "least_labeled", samples: 3 });
    for (const labeler of ["ada", "ben"]) {
      for (let n = 0; n < 3; n++) await labeled(t, name, labeler, { animal: "cat", note: `seen by ${labeler}` });
    }
    await t.pawl.people.add(name, { key: "s4", data: { picture: 4 } });
    const { id } = await started(t, name, "ada");
    await t.pawl.people.skip(id, "ada");
    await labeled(t, name, "ben", { animal: "dog", note: "" });
    await labeled(t, name, "cem", { animal: "dog", note: "far away" });
    const { labelSchema } = await t.pawl.people.queue(name);
    let text = "";
    const rows = t.pawl.people.exportLabels(name, { skipped: true });
    for await (const part of labelsToLabelStudio(rows, { form: labelSchema })) text += part;
    const tasks = JSON.parse(text) as { data: object; annotations: { was_cancelled: boolean; result: object[] }[] }[];
    expect(tasks.map((task) => [task.data, task.annotations.map((one) => one.was_cancelled)])).toEqual([
      [{ picture: 1 }, [false, false]],
      [{ picture: 2 }, [false, false]],
      [{ picture: 3 }, [false, false]],
      [{ picture: 4 }, [true, false, false]],
    ]);
    expect(tasks[0]!.annotations[0]!.result).toMatchObject([
      { from_name: "animal", type: "choices", value: { choices: ["cat"] } },
      { from_name: "note", type: "textarea", value: { text: ["seen by ada"] } },
    ]);
  });

  test("an export goes on behind any of its rows", async () => {
    const name = await newQueue(t, { overlap: 2, order: "least_labeled", samples: 3 });
    for (const labeler of ["ada", "ben"]) for (let n = 0; n < 3; n++) await labeled(t, name, labeler);
    const ids = async (after?: { id: string }) => {
      const found: { id: string }[] = [];
      for await (const row of t.pawl.people.exportLabels(name, { after })) found.push({ id: row.id });
      return found;
    };
    const all = await ids();
    expect(all).toHaveLength(6);
    for (const [index, one] of all.entries()) expect(await ids(one)).toEqual(all.slice(index + 1));
  });

  test("a late label that was accepted counts the time that was worked on it, and is exported once", async () => {
    const name = await newQueue(t, { finishWithin: "10m" });
    const { id } = await started(t, name, "ada");
    await t.advance("11m");
    const { label } = await t.pawl.people.submit(id, "ada", { category: "dog" });
    await t.advance("1h");
    await t.pawl.people.accept(label.id, { actor: "lea" });
    expect(await t.pawl.people.metrics(name)).toMatchObject({ avgTimeToComplete: 660, late: 1 });
    for (const late of [false, true]) {
      const rows = [];
      for await (const row of t.pawl.people.exportLabels(name, { late })) rows.push(row);
      expect(rows).toMatchObject([{ labeler: "ada", label: { category: "dog" }, leadMs: 660_000 }]);
    }
    await expectSound(t);
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
        /It is in "open", and its row says that it is closed/,
      ],
      [
        "a time that is not the timer's",
        (name) => sql`update pawl.assignments set due_at = due_at + interval '1 hour' where queue = ${name}`,
        /its timer fires at/,
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
        "a sum of metrics that is off",
        (name) => sql`update pawl.labeler_hours set given = given + 1 where queue = ${name}`,
        /The metrics of labeler "ada" in queue "queue-\d+" count/,
      ],
      [
        "an assignment without its row",
        (name) => sql`delete from pawl.assignments where queue = ${name}`,
        /is an assignment, and has no row as one/,
      ],
    ];
    test("a label that was changed, and time that was", async () => {
      const name = await newQueue(t);
      await labeled(t, name, "ada");
      for (const [broken, message] of [
        [
          sql`update pawl.labels set value = '{"category":"dog"}' where queue = ${name}`,
          /not the one that was submitted/,
        ],
        [
          sql`update pawl.labeler_hours set worked_ms = worked_ms + 5000 where queue = ${name}`,
          /The metrics of labeler "ada"/,
        ],
      ] as const) {
        await expect(
          t.db.transaction(async (tx) => {
            await tx.rows(broken);
            const { verify } = await import("../../src/inspect/verify/verify.ts");
            expect((await verify(tx)).map((one) => one.message).join("\n")).toMatch(message);
            throw new Error("undo");
          }),
        ).rejects.toThrow("undo");
      }
    });
    test.each(breaks)("%s", async (_what, broken, message) => {
      const name = await newQueue(t);
      await started(t, name, "ada");
      expect(await t.pawl.inspect.verify()).toEqual([]);
      await expect(
        t.db.transaction(async (tx) => {
          await tx.rows(broken(name));
          const { verify } = await import("../../src/inspect/verify/verify.ts");
          const found = await verify(tx);
          expect(found.map((one) => one.message).join("\n")).toMatch(message);
          throw new Error("undo");
        }),
      ).rejects.toThrow("undo");
    });
  });
});
