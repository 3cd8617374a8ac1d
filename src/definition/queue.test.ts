import { describe, expect, test } from "vitest";
import { z } from "zod";
import { crowd } from "./crowd.ts";
import type { Fault } from "./fault.ts";
import { queue } from "./queue.ts";

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
      overlap: 1,
      finishWithinMs: 3_600_000,
      startWithinMs: 300_000,
      maxAttemptsPerLabeler: 3,
      maxAttemptsTotal: 5,
      reassignExpired: true,
      reassignSkipped: true,
      skipRequiresReason: false,
    });
  });

  test("takes settings of its own", () => {
    const made = queue("essays", { label, overlap: 7, maxAttemptsTotal: 20, startWithin: null, finishWithin: "2h" });
    expect(made).toMatchObject({ overlap: 7, maxAttemptsTotal: 20, startWithinMs: null, finishWithinMs: 7_200_000 });
  });

  test("takes a JSON Schema for its labels", () => {
    const schema = { type: "object", properties: { ok: { type: "boolean" } } } as const;
    expect(queue("checks", { label: schema }).label).toBe(schema);
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
      marketplace: "local",
      submissions: 1,
    });
    expect(faultsOf(() => crowd("receipts", { label } as never))).toEqual(["name_invalid marketplace"]);
    expect(faultsOf(() => crowd("receipts", { label, marketplace: "local", submissions: 0 }))).toEqual([
      "number_invalid submissions",
    ]);
  });
});
