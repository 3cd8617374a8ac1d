import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { PawlError } from "../base/errors.ts";
import { CircuitOpenError, PermanentError, TransientError } from "../base/step-errors.ts";
import {
  afterProbes,
  type BreakerOptions,
  breakerPolicies,
  breakerPolicy,
  pauseOf,
  rampLimit,
  sliceOf,
  standardBreaker,
  trips,
  verdictOn,
} from "./breaker.ts";

test("unless told otherwise: a minute, more than half of ten, thirty seconds, five probes, four fifths of them good", () => {
  expect(standardBreaker).toEqual({
    windowMs: 60_000,
    sliceMs: 5_000,
    threshold: 0.5,
    minimum: 10,
    openForMs: 30_000,
    openAtMostMs: 3_600_000,
    probes: 5,
    healthy: 0.8,
    rampMs: 10_000,
    publish: null,
  });
  expect(breakerPolicies({ llm: { minimum: 3 } }).get("llm")).toEqual({ ...standardBreaker, minimum: 3 });
  expect(breakerPolicy("slow", { openFor: "2h" }).openAtMostMs).toBe(7_200_000);
});

test("R80 it opens at more than half, of ten or more calls: not at half, and not of nine", () => {
  const opens = (failed: number, good: number) => trips(standardBreaker, { failed, good });
  expect([opens(9, 0), opens(10, 0), opens(5, 5), opens(6, 4), opens(6, 5), opens(6, 6)]).toEqual([
    false,
    true,
    false,
    true,
    true,
    false,
  ]);
  fc.assert(
    fc.property(fc.nat(500), fc.nat(500), (failed, good) => {
      expect(opens(failed, good)).toBe(failed + good >= 10 && failed > good);
    }),
  );
});

test("R82 it closes after five probes that went well, and any that failed opens it", () => {
  const after = (done: number, good: number) => afterProbes(standardBreaker, { done, good });
  expect([after(0, 0), after(4, 4), after(5, 5)]).toEqual([undefined, undefined, "closed"]);
  expect([after(1, 0), after(5, 4), after(3, 2)]).toEqual(["open", "open", "open"]);
});

test("a dependency can ask to be left alone for longer, but neither for less time nor for ever", () => {
  expect([null, 0, 5_000, 90_000, 1e12].map((asked) => pauseOf(standardBreaker, asked))).toEqual([
    30_000, 30_000, 30_000, 90_000, 3_600_000,
  ]);
});

test("after it has closed, as many steps run at once as there were probes, twice as many each second, then any number", () => {
  const limits = [0, 999, 1_000, 3_500, 9_999, 10_000].map((ms) => rampLimit(standardBreaker, ms));
  expect(limits).toEqual([5, 5, 10, 40, 2_560, undefined]);
  expect(rampLimit(breakerPolicy("a", { ramp: 0 }), 0)).toBeUndefined();
  expect(rampLimit(breakerPolicy("a", { ramp: "30d", probes: 1_000 }), 1e9)).toBeLessThan(2 ** 31);
});

test("calls are counted by slices that a window is made of", () => {
  expect([0, 4_999, 5_000, 61_234].map((ms) => sliceOf(standardBreaker, ms))).toEqual([0, 0, 5_000, 60_000]);
});

test("throws count as failures, unless no dependency could help it", () => {
  expect([new Error("x"), new TransientError("x"), new DOMException("x", "TimeoutError"), "x"].map(verdictOn)).toEqual(
    Array.from({ length: 4 }, () => "failed"),
  );
  const ours = [new PermanentError("x"), new PawlError("lease_lost", "x"), new CircuitOpenError("llm", "x", 1)];
  expect(ours.map(verdictOn)).toEqual([null, null, null]);
});

describe("settings that make no sense are refused, by name", () => {
  const bad: [BreakerOptions, string][] = [
    [{ window: 10 }, "`window` must be at least 1000"],
    [{ window: "soon" as never }, "not a duration"],
    [{ threshold: 1 }, "`threshold` must be a number from 0"],
    [{ threshold: Number.NaN }, "`threshold`"],
    [{ minimum: 0 }, "`minimum` must be a whole number"],
    [{ probes: 2.5 }, "`probes`"],
    [{ probes: "5" as never }, "`probes`"],
    [{ healthy: -0.1 }, "`healthy`"],
    [{ openFor: 0 }, "`openFor`"],
    [{ openfor: "30s" } as never, "Did you mean `openFor`?"],
    [{ publish: true as never }, "`publish` must be a text"],
    [7 as never, "takes an object"],
  ];
  test.each(bad)("%j", (options, message) => {
    expect(() => breakerPolicies({ llm: options })).toThrow(expect.objectContaining({ code: "option_invalid" }));
    expect(() => breakerPolicies({ llm: options })).toThrow(message);
    expect(() => breakerPolicies({ llm: options })).toThrow("llm");
  });

  test("and so is what is no list of breakers", () => {
    for (const given of [null, [], "llm", { "": {} }]) {
      expect(() => breakerPolicies(given)).toThrow(expect.objectContaining({ code: "option_invalid" }));
    }
  });
});
