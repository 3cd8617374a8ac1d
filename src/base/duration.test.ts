import fc from "fast-check";
import { expect, test } from "vitest";
import { durationMs, formatDuration, parseDuration } from "./duration.ts";

test("a duration is milliseconds, or a number with its unit", () => {
  const written = { "90s": 90_000, "10m": 600_000, "1.5h": 5_400_000, "60d": 5_184_000_000, "2w": 1_209_600_000 };
  for (const [text, ms] of Object.entries(written)) expect(parseDuration(text)).toBe(ms);
  expect(parseDuration(250)).toBe(250);
  expect(parseDuration("250ms")).toBe(250);
  expect(parseDuration(0)).toBe(0);
});

test("a duration may have several units, the larger one first and each of them once", () => {
  const written = {
    "9m59s": 599_000,
    "1h30m": 5_400_000,
    "1h30m15s": 5_415_000,
    "1d12h": 129_600_000,
    "2s500ms": 2_500,
  };
  for (const [text, ms] of Object.entries(written)) expect(parseDuration(text)).toBe(ms);
  expect(parseDuration("1w2d3h4m5s6ms")).toBe(788_645_006);
  for (const wrong of ["30m1h", "5s5s", "1h 30m", "1h-30m", "h30m"])
    expect(parseDuration(wrong)).toMatch(/is not a duration/);
});

test("a duration is whole milliseconds, however it was written", () => {
  expect(parseDuration(1.5)).toBe(2);
  expect(parseDuration("0.0004s")).toBe(0);
});

test("what is no duration is answered with a sentence that shows it and says what to write", () => {
  const wrong = ["", "5", "5 m", "-5m", "5y", "1e3s", "Infinitys", " 5m", "5m ", "5M", -1, Number.NaN, Infinity];
  for (const given of [...wrong, null, undefined, true, {}, [], new Date(0), 5n, Symbol("x"), () => 5]) {
    expect(parseDuration(given)).toMatch(/ is not a duration; write one such as "90s"/);
  }
  expect(parseDuration("soon")).toMatch(/^"soon" is not/);
  expect(parseDuration(Number.NaN)).toMatch(/^NaN is not/);
});

test("a hundred years is the most", () => {
  expect(parseDuration("36525d")).toBe(36_525 * 86_400_000);
  expect(parseDuration("36526d")).toBe('"36526d" is longer than a hundred years.');
  expect(parseDuration(1e300)).toMatch(/longer than a hundred years/);
});

test("the error names what the duration was for, whatever was given", () => {
  const circular: Record<string, unknown> = {};
  circular.self = circular;
  for (const given of ["soon", 5n, circular, "x".repeat(10_000)]) {
    expect(() => durationMs(given, "after")).toThrow(expect.objectContaining({ code: "option_invalid" }));
    expect(() => durationMs(given, "after")).toThrow(/^after: .{1,200}$/s);
  }
});

test("a length of time is shown in its largest unit that leaves no rest", () => {
  expect([0, 1, 1_500, 90_000, 3_600_000, 5_400_000, 172_800_000].map(formatDuration)).toEqual([
    "0ms",
    "1ms",
    "1500ms",
    "90s",
    "1h",
    "90m",
    "2d",
  ]);
});

test("what is shown can be read again, and is the same length of time", () => {
  fc.assert(fc.property(fc.nat({ max: 1e12 }), (ms) => parseDuration(formatDuration(ms)) === ms));
});
