import { expect, test } from "vitest";
import { PawlError } from "../base/errors.ts";
import { errorFields, isLog, type Log, logFailure, makeLog } from "./log.ts";

test("an error is logged by its kind and its words, never by its details", () => {
  const error = new PawlError("data_invalid", "It was refused.", { data: "canary" }, { cause: new Error("canary") });
  expect(errorFields(error)).toEqual({ err: { type: "PawlError", message: "It was refused.", code: "data_invalid" } });
  expect(errorFields(new TypeError("no ink"))).toEqual({
    err: { type: "TypeError", message: "no ink", stack: expect.stringContaining("log.test") },
  });
  expect(errorFields("text")).toEqual({ err: { type: "string", message: "text" } });
  const nasty = Object.defineProperty(new Error("x"), "stack", {
    get: () => {
      throw new Error("no stack");
    },
  });
  expect(errorFields(nasty)).toEqual({ err: { type: "Error", message: "x" } });
});

test("what time mends is a warning, all else an error", () => {
  const levels: string[] = [];
  const keep = (level: string) => () => void levels.push(level);
  const log: Log = { debug: keep("debug"), info: keep("info"), warn: keep("warn"), error: keep("error") };
  for (const error of [
    new PawlError("busy", ""),
    new PawlError("lease_lost", ""),
    new PawlError("hook_failed", ""),
    new Error("x"),
    undefined,
  ]) {
    logFailure(log, error);
  }
  expect(levels).toEqual(["warn", "warn", "error", "error", "error"]);
});

test("a logger of one's own is used as it is; options make a pino logger; false makes none", async () => {
  const own = { debug() {}, info() {}, warn() {}, error() {} };
  const lines: string[] = [];
  (await makeLog({ ...own, info: (_: object, message: string) => lines.push(message) })).info({}, "a line");
  expect(lines).toEqual(["a line"]);
  const levels: number[] = [];
  const logMethod = (_args: unknown, _method: unknown, level: number) => void levels.push(level);
  const pino = await makeLog({ level: "error", hooks: { logMethod } });
  pino.warn({}, "below its level");
  pino.error({}, "at its level");
  expect(levels).toEqual([50]);
  expect(isLog(await makeLog(undefined))).toBe(true);
  expect((await makeLog(false)).error({}, "nobody hears it")).toBeUndefined();
});
