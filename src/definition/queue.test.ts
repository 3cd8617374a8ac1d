import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { crowd } from "./crowd.ts";
import { queue } from "./queue.ts";
import type { Fault } from "./read/fault.ts";

const label = z.object({ score: z.number() });

function faultsOf(make: () => unknown): string[] {
  try {
    make();
    return [];
  } catch (error) {
    const { faults } = (error as { details: { faults: readonly Fault[] } }).details;
    return faults.map((fault) => `${fault.code} ${fault.place}`);
  }
}

describe("a queue", () => {
  test("has the settings of a labeling queue unless told otherwise", () => {
    expect(queue("essays", { label })).toEqual({
      kind: "queue",
      name: "essays",
      label,
      form: expect.objectContaining({ type: "object", required: ["score"] }),
      rules: {},
      validate: undefined,
      rank: undefined,
      instructions: null,
      overlap: 1,
      finishWithinMs: 3_600_000,
      startWithinMs: 300_000,
      graceMs: 0,
      maxAttemptsPerLabeler: 3,
      maxAttemptsTotal: 5,
      maxExtensions: 10,
      reassignExpired: true,
      reassignSkipped: true,
      skipRequiresReason: false,
      skipUnstarted: false,
      labelers: null,
      skills: [],
      order: "oldest",
      concurrency: 1,
      review: false,
      agreement: null,
    });
  });

  test("takes settings of its own", () => {
    const made = queue("essays", { label, overlap: 7, maxAttemptsTotal: 20, startWithin: null, finishWithin: "2h" });
    expect(made).toMatchObject({ overlap: 7, maxAttemptsTotal: 20, startWithinMs: null, finishWithinMs: 7_200_000 });
    const strict = queue("essays", {
      instructions: "Read it twice.\nThen judge.",
      label,
      overlap: 2,
      grace: "30s",
      labelers: ["ada", "ben", "cal", "ada"],
      skills: ["latin"],
      order: "least_labeled",
      concurrency: 2,
      review: true,
      agreement: { atLeast: 0.7, maxOverlap: 3 },
    });
    expect(strict).toMatchObject({
      instructions: "Read it twice.\nThen judge.",
      graceMs: 30_000,
      labelers: ["ada", "ben", "cal"],
      skills: ["latin"],
      order: "least_labeled",
      concurrency: 2,
      review: true,
      agreement: { atLeast: 0.7, maxOverlap: 3 },
    });
  });

  test("takes a JSON Schema for its labels", () => {
    const schema = { type: "object", properties: { ok: { type: "boolean" } } } as const;
    expect(queue("checks", { label: schema })).toMatchObject({ label: schema, form: schema });
  });

  test("makes its form of what the schema lets a labeler fill in", () => {
    const { form } = queue("essays", { label: z.object({ score: z.number().default(5) }) });
    expect(form).toMatchObject({ properties: { score: { type: "number", default: 5 } } });
    expect(form.required).toBeUndefined();
  });

  test("refuses a schema of which no form can be made, and says what to do", () => {
    const make = (label: unknown) => () => queue("essays", { label: label as never });
    expect(make(v.object({ score: v.number() }))).toThrow(/"valibot" has no JSON Schema.*toStandardJsonSchema/);
    expect(make(z.object({ at: z.date() }))).toThrow(
      /It has no JSON Schema.*Date cannot be represented.*Use what JSON/,
    );
    expect(make({ type: "object", propertys: {} })).toThrow(/label.propertys.*Did you mean "properties"/);
  });

  test("takes rules and a check, which see typed labels", () => {
    const made = queue("essays", {
      label,
      rules: { not_too_good: ({ label }) => label.score < 10 || "nobody is perfect" },
      validate: async ({ label, labeler }) => label.score > 0 || `${labeler} should say why`,
    });
    expect(made.rules.not_too_good!({ label: { score: 10 }, sample: null, labeler: "ada" })).toBe("nobody is perfect");
  });

  test.each([
    ["name_invalid name", () => queue("Essays", { label })],
    ["schema_invalid label", () => queue("essays", { label: "score" as never })],
    ["schema_invalid label", () => queue("essays", {} as never)],
    ["number_invalid overlap", () => queue("essays", { label, overlap: 0 })],
    ["number_invalid maxAttemptsTotal", () => queue("essays", { label, overlap: 6 })],
    ["number_invalid maxAttemptsPerLabeler", () => queue("essays", { label, maxAttemptsPerLabeler: 1.5 })],
    ["duration_invalid finishWithin", () => queue("essays", { label, finishWithin: 0 })],
    ["duration_invalid startWithin", () => queue("essays", { label, startWithin: "soon" as never })],
    ["shape_invalid reassignExpired", () => queue("essays", { label, reassignExpired: 1 as never })],
    ["name_invalid rules.Not-a-name", () => queue("essays", { label, rules: { "Not-a-name": () => true } })],
    ["shape_invalid rules.one", () => queue("essays", { label, rules: { one: 5 as never } })],
    ["shape_invalid rules", () => queue("essays", { label, rules: [] as never })],
    ["shape_invalid validate", () => queue("essays", { label, validate: "yes" as never })],
    ["duration_invalid grace", () => queue("essays", { label, grace: -1 })],
    ["shape_invalid instructions", () => queue("essays", { label, instructions: " " })],
    ["shape_invalid instructions", () => queue("essays", { label, instructions: "a\u0000" })],
    ["shape_invalid labelers", () => queue("essays", { label, labelers: "ada" as never })],
    ["shape_invalid labelers", () => queue("essays", { label, labelers: [""] })],
    ["shape_invalid labelers", () => queue("essays", { label, labelers: ["a\u0000"] })],
    ["number_invalid labelers", () => queue("essays", { label, overlap: 2, labelers: ["ada"] })],
    ["shape_invalid skills", () => queue("essays", { label, skills: [7 as never] })],
    ["shape_invalid order", () => queue("essays", { label, order: "newest" as never })],
    ["number_invalid concurrency", () => queue("essays", { label, concurrency: 0 })],
    ["shape_invalid agreement", () => queue("essays", { label, agreement: 0.7 as never })],
    ["shape_invalid agreement.maxOverlap", () => queue("essays", { label, agreement: { atLeast: 0.7 } as never })],
    ["number_invalid agreement.atLeast", () => queue("essays", { label, agreement: { atLeast: 70, maxOverlap: 3 } })],
    [
      "number_invalid agreement.maxOverlap",
      () =>
        queue("essays", {
          label,
          labelers: ["ada", "bob"],
          overlap: 2,
          agreement: { atLeast: 0.9, maxOverlap: 3 },
        }),
    ],
    [
      "number_invalid agreement.maxOverlap",
      () => queue("essays", { label, overlap: 3, agreement: { atLeast: 0.7, maxOverlap: 3 } }),
    ],
    ["key_unknown overlaps", () => queue("essays", { label, overlaps: 2 } as never)],
    ["shape_invalid definition", () => queue("essays", 5 as never)],
  ])("is refused for %s", (fault, make) => {
    expect(faultsOf(make)).toContain(fault);
  });
});

describe("a crowd", () => {
  test("needs a marketplace", () => {
    expect(crowd("receipts", { label, marketplace: "local" })).toEqual({
      kind: "crowd",
      name: "receipts",
      label,
      form: expect.objectContaining({ type: "object", required: ["score"] }),
      marketplace: "local",
      submissions: 1,
      maxPlaces: 3,
      title: "receipts",
      description: "",
      keywords: [],
      reward: null,
      lifetime: "7d",
      workTime: "1h",
      approvedAfter: "30d",
      autoApprove: true,
      whenExpired: "extend",
      maxExtensions: 3,
      syncInterval: "10m",
      disposeAfter: null,
    });
    expect(faultsOf(() => crowd("receipts", { label } as never))).toEqual(["name_invalid marketplace"]);
  });

  test("has a name that leaves room for those of its lifecycles", () => {
    expect(crowd("r".repeat(80), { label, marketplace: "local" }).name).toHaveLength(80);
    expect(faultsOf(() => crowd("r".repeat(81), { label, marketplace: "local" }))).toEqual(["name_invalid name"]);
  });

  const withField = (fields: object) => () => crowd("receipts", { label, marketplace: "local", ...fields } as never);
  test.each([
    ["number_invalid submissions", { submissions: 0 }],
    ["number_invalid maxPlaces", { submissions: 5, maxPlaces: 4 }],
    ["shape_invalid title", { title: "" }],
    ["shape_invalid keywords", { keywords: "receipts" }],
    ["shape_invalid reward", { reward: 0.25 }],
    ["shape_invalid reward", { reward: "0.255" }],
    ["duration_invalid lifetime", { lifetime: "soon" }],
    ["shape_invalid autoApprove", { autoApprove: "yes" }],
    ["shape_invalid whenExpired", { whenExpired: "wait" }],
    ["number_invalid maxExtensions", { maxExtensions: -1 }],
    ["shape_invalid onSubmitted", { onSubmitted: "check" }],
    ["key_unknown onSubmit", { onSubmit: () => {} }],
  ])("is refused for %s", (fault, fields) => {
    expect(faultsOf(withField(fields))).toEqual([fault]);
  });
});
