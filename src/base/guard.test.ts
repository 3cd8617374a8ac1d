import { expect, test } from "vitest";
import { compute, guardListener, isThenable } from "./guard.ts";

/** What makes an object a promise, for all that await it. */
const awaited = ["th", "en"].join("");

const boom = () => {
  throw new Error("boom");
};

test("a listener that throws or rejects is reported and never seen by its caller", async () => {
  const reports: unknown[] = [];
  const report = (error: unknown) => reports.push((error as Error).message);
  guardListener(boom, report)();
  guardListener(async () => boom(), report)();
  guardListener(() => ({ [awaited]: boom }), report)();
  guardListener(() => new Promise(() => {}), report)();
  guardListener(undefined, report)();
  await new Promise((resolve) => setImmediate(resolve));
  expect(reports).toEqual(["boom", "boom", "boom"]);
});

test("a report that fails harms nobody either", async () => {
  guardListener(boom, boom)();
  guardListener(boom, async () => boom())();
  guardListener(async () => boom(), boom)();
  await new Promise((resolve) => setImmediate(resolve));
});

test("what computes at once may neither throw nor answer later", () => {
  expect(compute("set_failed", "The sum", () => 3)).toBe(3);
  expect(() => compute("set_failed", "The sum", boom)).toThrow("The sum threw: boom.");
  expect(() => compute("set_failed", "The sum", async () => boom())).toThrow("The sum returned a promise");
  const getter = Object.defineProperty({}, awaited, { get: boom });
  expect(isThenable(getter)).toBe(false);
});
