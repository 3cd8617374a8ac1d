import { expect, test } from "vitest";
import { retryAfterMs } from "./retry-after.ts";

const now = Date.UTC(2030, 0, 1);
const cases: readonly [header: string | undefined, ms: number | undefined][] = [
  [undefined, undefined],
  ["0", 0],
  ["30", 30_000],
  ["31536000", 3_600_000],
  ["99999999999999999999", undefined],
  ["Tue, 01 Jan 2030 00:01:00 GMT", 60_000],
  ["Mon, 31 Dec 2029 00:00:00 GMT", 0],
  ["Wed, 01 Jan 2031 00:00:00 GMT", 3_600_000],
  ["soon", undefined],
  ["", undefined],
];

for (const [header, ms] of cases) {
  test(`Retry-After: ${header ?? "not there"} means ${ms ?? "nothing"}`, () =>
    expect(retryAfterMs(header, now)).toBe(ms));
}
