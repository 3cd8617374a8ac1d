import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { labelShape } from "../../policy/agreement/schema-shape.ts";
import { csvRecords } from "./csv-records.ts";
import { type LabelRow, labelsToCsv, labelsToJsonl } from "./export-labels.ts";
import { type LabelStudioOptions, labelsToLabelStudio } from "./label-studio.ts";

async function textOf(chunks: AsyncIterable<string>): Promise<string> {
  let text = "";
  for await (const chunk of chunks) text += chunk;
  return text;
}

let count = 0;
function row(sample: string, labeler: string, label: unknown, more: Partial<LabelRow> = {}): LabelRow {
  const createdAt = new Date("2026-03-01T10:00:00Z");
  const data = { text: `text of ${sample}`, source: "mail" };
  return {
    id: `l${++count}`,
    sample: { id: sample, key: null, data },
    labeler,
    label,
    leadMs: 4_200,
    createdAt,
    ...more,
  };
}

test("JSON Lines hold a label each, all with the same fields", async () => {
  const rows = [
    row("s1", "ada", { animal: "cat" }, { id: "x1" }),
    row("s1", "bob", undefined, { id: "x2", skipped: true }),
  ];
  const lines = (await textOf(labelsToJsonl(rows))).trimEnd().split("\n");
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    {
      id: "x1",
      sample: "s1",
      key: null,
      data: { text: "text of s1", source: "mail" },
      labeler: "ada",
      label: { animal: "cat" },
      skipped: false,
      late: false,
      leadMs: 4_200,
      createdAt: "2026-03-01T10:00:00.000Z",
    },
    expect.objectContaining({ id: "x2", label: null, skipped: true }),
  ]);
});

describe("CSV", () => {
  test("has a column for each field that is asked for", async () => {
    const rows = [
      row("s1", "ada", { animal: "cat", tags: ["old", "wet"], sure: -2, note: 'a "small", wet\none' }, { id: "x1" }),
      row("s2", "bob", null, { id: "x2", skipped: true, leadMs: null, late: true }),
    ];
    const text = await textOf(labelsToCsv(rows, { fields: ["animal", "tags", "sure", "note"], data: ["text"] }));
    expect(text).toBe(
      [
        "id,sample,key,labeler,label.animal,label.tags,label.sure,label.note,skipped,late,lead_ms,created_at,data.text",
        'x1,s1,,ada,cat,"[""old"",""wet""]",-2,"a ""small"", wet\none",false,false,4200,2026-03-01T10:00:00.000Z,text of s1',
        "x2,s2,,bob,,,,,true,true,,2026-03-01T10:00:00.000Z,text of s2",
        "",
      ].join("\r\n"),
    );
  });

  test("takes a label that is one answer, a mark for spreadsheets, another separator", async () => {
    const text = await textOf(labelsToCsv([row("s1", "ada", "cat;dog")], { byteOrderMark: true, delimiter: ";" }));
    expect(text.startsWith("\ufeffid;sample")).toBe(true);
    expect(text).toContain(';"cat;dog";');
    await expect(textOf(labelsToCsv([], { delimiter: "|" }))).rejects.toMatchObject({ code: "option_invalid" });
  });

  test("lets no text run as a formula", async () => {
    const formulas = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", " =1", "\u0000=1", "\ufeff=1", "＝1", "\n-1"];
    const rows = formulas.map((formula) => row("s1", formula, { animal: formula }, { sample: sampleWith(formula) }));
    const records: (readonly string[])[] = [];
    for await (const { fields } of csvRecords([
      await textOf(labelsToCsv(rows, { fields: ["animal"], data: ["text"] })),
    ])) {
      records.push(fields!);
    }
    for (const fields of records) for (const field of fields) expect(field).not.toMatch(/^\s*[=+\-@＝]/u);
    expect(records.slice(1).map((fields) => fields[3])).toEqual(formulas.map((formula) => `'${formula}`));
  });

  const sampleWith = (text: string) => ({ id: text, key: text, data: { text } });

  test("gives every text back that is no formula", async () => {
    const texts = fc.string({ unit: "binary" }).filter((text) => /^[\p{L}\p{N}]/u.test(text));
    await fc.assert(
      fc.asyncProperty(texts, async (text) => {
        const records = csvRecords([
          await textOf(labelsToCsv([row("s1", "ada", { note: text })], { fields: ["note"] })),
        ]);
        await records.next();
        expect((await records.next()).value).toMatchObject({ fields: expect.arrayContaining([text]) });
      }),
    );
  });
});

describe("Label Studio's JSON", () => {
  const shape = labelShape({
    required: ["animal", "tags", "sure"],
    properties: {
      animal: { enum: ["cat", "dog"] },
      wild: { type: "boolean" },
      tags: { type: "array", items: { enum: ["old", "wet"] } },
      sure: { type: "integer", minimum: 1, maximum: 5 },
      size: { type: "number" },
      note: { type: "string" },
      box: { type: "object" },
      boxes: { type: "array", items: { type: "object" } },
    },
  });
  const tasksOf = async (rows: LabelRow[], options?: LabelStudioOptions) =>
    JSON.parse(await textOf(labelsToLabelStudio(rows, { shape, ...options })));

  test("has a task for each sample and a region for each field", async () => {
    const box = { x: 10, y: 20.5, width: 30, height: 40 };
    const label = {
      animal: "cat",
      wild: false,
      tags: ["old", "wet"],
      sure: 4,
      size: 1.5,
      note: "on a mat",
      box,
      boxes: [{ ...box, label: "ear", rotation: 5, image_width: 640, image_height: 480 }],
    };
    const rows = [
      row("s1", "ada@example.com", label, { id: "x1", leadMs: 4_288 }),
      row("s2", "bob", { animal: "dog" }),
    ];
    const [task, second] = await tasksOf(rows, { ratings: ["sure"] });
    expect(task).toEqual({
      id: 1,
      data: { text: "text of s1", source: "mail" },
      meta: { pawl: { sample: "s1", key: null, labels: [{ id: "x1", labeler: "ada@example.com", late: false }] } },
      annotations: [
        {
          id: 1,
          completed_by: { email: "ada@example.com" },
          result: expect.any(Array),
          was_cancelled: false,
          ground_truth: false,
          lead_time: 4.288,
          created_at: "2026-03-01T10:00:00.000Z",
        },
      ],
      predictions: [],
    });
    const { result } = task.annotations[0];
    expect(result.map((region: Record<string, unknown>) => [region.from_name, region.type, region.value])).toEqual([
      ["animal", "choices", { choices: ["cat"] }],
      ["wild", "choices", { choices: ["false"] }],
      ["tags", "choices", { choices: ["old", "wet"] }],
      ["sure", "rating", { rating: 4 }],
      ["size", "number", { number: 1.5 }],
      ["note", "textarea", { text: ["on a mat"] }],
      ["box", "rectangle", { ...box, rotation: 0 }],
      ["boxes", "rectanglelabels", { ...box, rotation: 5, rectanglelabels: ["ear"] }],
    ]);
    expect(result[7]).toMatchObject({ original_width: 640, original_height: 480 });
    expect(new Set(result.map(({ id }: { id: string }) => id)).size).toBe(result.length);
    for (const region of result)
      expect(region).toMatchObject({ id: expect.stringMatching(/^[\w-]+$/), to_name: "text" });
    expect(second).toMatchObject({ id: 2, annotations: [{ id: 2, completed_by: null }] });
  });

  test("tells who skipped, and who labeled as the caller knows them", async () => {
    const rows = [
      row("s1", "ada", { animal: "cat" }),
      row("s1", "bob", null, { skipped: true, leadMs: null, late: true }),
    ];
    const [task] = await tasksOf(rows, { completedBy: (labeler) => (labeler === "ada" ? 7 : 8), shows: "source" });
    expect(task.annotations).toMatchObject([
      { completed_by: 7, was_cancelled: false, result: [{ to_name: "source" }] },
      { completed_by: 8, was_cancelled: true, result: [], lead_time: null },
    ]);
    expect(task.meta.pawl.labels[1]).toMatchObject({ labeler: "bob", late: true });
  });

  test("has the consensus as a prediction when asked, and none in a tie", async () => {
    const vote = (sample: string, animal: string) => row(sample, animal, { animal, tags: [], sure: 3 });
    const rows = [vote("s1", "cat"), vote("s1", "cat"), vote("s1", "dog"), vote("s2", "cat"), vote("s2", "dog")];
    const [agreed, tied] = await tasksOf(rows, { consensus: true });
    expect(agreed.predictions).toMatchObject([
      { model_version: "consensus", result: [{ value: { choices: ["cat"] } }, {}, {}] },
    ]);
    expect(agreed.predictions[0].score).toBeCloseTo((1 / 3 + 1 + 1) / 3, 12);
    expect(tied.predictions).toEqual([]);
  });

  test("of no labels is an empty list, and of labels without fields one control called label", async () => {
    expect(JSON.parse(await textOf(labelsToLabelStudio([])))).toEqual([]);
    const [task] = JSON.parse(await textOf(labelsToLabelStudio([row("s1", "ada", "cat")])));
    expect(task.annotations[0].result).toMatchObject([
      { from_name: "label", type: "choices", value: { choices: ["cat"] } },
    ]);
  });
});

test("an export takes its rows one at a time and keeps none of them", async () => {
  for (const [out, most] of [
    [labelsToJsonl, 2],
    [labelsToCsv, 2],
    [labelsToLabelStudio, 8],
  ] as const) {
    let given = 0;
    function* endless() {
      for (;;) yield row(`s${given++ >> 2}`, "ada", { animal: "cat" });
    }
    let taken = 0;
    for await (const _ of out(endless())) if (++taken === 2_000) break;
    expect(given).toBeLessThanOrEqual(taken * (out === labelsToLabelStudio ? 4 : 1) + most);
  }
});
