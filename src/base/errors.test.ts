import { expect, test } from "vitest";
import { isPawlError, messageOf, PawlError } from "./errors.ts";

test("an error says by its code where the fault is", () => {
  expect(new PawlError("definition_invalid", "…").fault).toBe("definition");
  expect(new PawlError("data_invalid", "…").fault).toBe("request");
  expect(new PawlError("database_unreachable", "…").fault).toBe("environment");
  expect(new PawlError("invariant_broken", "…").fault).toBe("internal");
});

test("errors of Pawl are told apart from others, and by their code", () => {
  const error = new PawlError("busy", "…");
  expect([isPawlError(error), isPawlError(error, "busy"), isPawlError(error, "closed")]).toEqual([true, true, false]);
  expect(isPawlError(Object.assign(new Error("…"), { code: "busy" }))).toBe(false);
});

test("whatever was thrown has a text", () => {
  const hostile = {
    toString() {
      throw new Error("no");
    },
  };
  const nameless = Object.assign(new Error("x"), { message: 5 });
  const thrown = [new Error("x"), "x", undefined, null, 5n, Symbol("x"), Object.create(null), hostile, nameless];
  for (const one of thrown) expect(messageOf(one)).toMatch(/./);
  expect(messageOf(new TypeError())).toBe("TypeError");
});

test("an error that stands for several is told by the first of them", () => {
  expect(messageOf(new AggregateError([new Error("connect ECONNREFUSED"), new Error("…")]))).toBe(
    "connect ECONNREFUSED",
  );
  expect(messageOf(new AggregateError([], "all failed"))).toBe("all failed");
});
