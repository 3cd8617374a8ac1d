import { expect, test } from "vitest";
import { type CrowdDefinition, crowd } from "../../../definition/crowd.ts";
import type { JsonSchema } from "../../../definition/schema/json-schema.ts";
import { checkCrowd } from "./check-crowd.ts";

const fine = {
  label: { type: "string" },
  marketplace: "mturk",
  title: "Look",
  description: "Say what you see.",
  reward: "0.10",
} as const satisfies CrowdDefinition<JsonSchema>;

function faultsOf(changes: Partial<CrowdDefinition<JsonSchema>>): readonly string[] {
  return checkCrowd(crowd("looks", { ...fine, ...changes }));
}

test("a crowd within the bounds can be published", () => {
  expect(faultsOf({})).toEqual([]);
  const widest = { title: "t".repeat(128), lifetime: "365d", workTime: "30s", approvedAfter: 1 } as const;
  expect(faultsOf(widest)).toEqual([]);
});

test("each fault is told with its remedy", () => {
  expect(
    faultsOf({
      title: "t".repeat(129),
      description: "d".repeat(2_001),
      keywords: ["k".repeat(600), "l".repeat(400), "a,b"],
      lifetime: "29s",
      workTime: "366d",
      approvedAfter: "31d",
    }),
  ).toEqual([
    "`title` has 129 characters; the maximum is 128.",
    "`description` has 2001 characters; the maximum is 2000.",
    "`keywords` has 1005 characters, joined by commas; the maximum is 1000.",
    "`keywords` has a keyword with a comma: split it.",
    "`lifetime` is 29s; it must be from 30s to 365d.",
    "`workTime` is 366d; it must be from 30s to 365d.",
    "`approvedAfter` is 31d; it must be from 0ms to 30d.",
  ]);
  const { description: _, reward: __, ...bare } = fine;
  expect(checkCrowd(crowd("looks", bare))).toEqual([
    expect.stringContaining("`description` is missing"),
    expect.stringContaining("`reward` is missing"),
  ]);
});
