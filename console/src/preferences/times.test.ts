import { expect, test, vi } from "vitest";

test("moments and lengths are told in few words", async () => {
  vi.stubGlobal("document", { hidden: true });
  const { countdown, length, relative, utc } = await import("./times.ts");
  const at = Date.parse("2026-01-31T12:00:05Z");
  expect(relative(at, at + 1_000)).toBe("just now");
  expect(relative(at, at + 200_000)).toBe("3 min ago");
  expect(relative(at, at - 7_300_000)).toBe("in 2 h");
  expect([12, 41_000, 7_500_000, 90_000_000, 36_000_000].map(length)).toEqual([
    "12 ms",
    "41 s",
    "2 h 5 min",
    "1 d 1 h",
    "10 h",
  ]);
  expect([-5, 400, 61_000, 7_265_000, 90_000_000].map(countdown)).toEqual([
    "0:00",
    "0:01",
    "1:01",
    "2:01:05",
    "1 d 1 h",
  ]);
  expect(utc(at)).toBe("2026-01-31 12:00:05 UTC");
  vi.unstubAllGlobals();
});
