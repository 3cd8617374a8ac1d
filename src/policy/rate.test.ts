import { describe, expect, test } from "vitest";
import { rateOf } from "./rate.ts";

describe("a rate", () => {
  test("is so many in a second, minute, hour or day", () => {
    expect(rateOf("10/s")).toEqual({ steps: 10, perMs: 1_000, sliceMs: 1 });
    expect(rateOf("100/m")).toMatchObject({ steps: 100, perMs: 60_000 });
    expect(rateOf("7/h")).toMatchObject({ perMs: 3_600_000 });
    expect(rateOf("1/d")).toMatchObject({ perMs: 86_400_000 });
  });

  test("is written down in at most a thousand rows, to the millisecond where that is enough", () => {
    expect(rateOf("1000/d").sliceMs).toBe(1);
    expect(rateOf("1001/d").sliceMs).toBe(86_400);
    expect(rateOf("50000/s").sliceMs).toBe(1);
  });
});
