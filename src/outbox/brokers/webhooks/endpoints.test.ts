import { expect, test } from "vitest";
import { Endpoints } from "./endpoints.ts";

function at(start = 0): { endpoints: Endpoints; pass: (ms: number) => void } {
  let now = start;
  return {
    endpoints: new Endpoints(() => now),
    pass: (ms) => {
      now += ms;
    },
  };
}

test("an endpoint rests after five failures in a row, longer each time, and one success ends it", () => {
  const { endpoints, pass } = at();
  for (let time = 0; time < 4; time++) endpoints.failed("a");
  expect(endpoints.restMs("a")).toBe(0);
  endpoints.failed("a");
  const first = endpoints.restMs("a");
  expect(first).toBeGreaterThanOrEqual(24_000);
  pass(first);
  expect(endpoints.restMs("a")).toBe(0);
  endpoints.failed("a");
  expect(endpoints.restMs("a")).toBeGreaterThan(first);
  endpoints.succeeded("a");
  expect(endpoints.restMs("a")).toBe(0);
  expect(endpoints.restMs("b")).toBe(0);
});

test("after a rest one message is the probe, and the others rest on until it is answered", () => {
  const { endpoints, pass } = at();
  endpoints.failed("a", 1_000);
  expect(endpoints.restMs("a")).toBe(1_000);
  pass(1_000);
  expect([endpoints.restMs("a"), endpoints.restMs("a")]).toEqual([0, 30_000]);
  pass(30_000); // The probe was lost, for example with its process: another attempt is allowed.
  expect(endpoints.restMs("a")).toBe(0);
});

test("how many are known is bounded", () => {
  const { endpoints } = at();
  endpoints.disable("first", "gone");
  for (let n = 0; n < 10_000; n++) endpoints.failed(`e${n}`);
  expect(endpoints.disabled("first")).toBeUndefined();
});
