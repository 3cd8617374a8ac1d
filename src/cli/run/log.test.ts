import { expect, test } from "vitest";
import type { Log } from "../../telemetry/log.ts";
import { makeTerminal, type Terminal } from "../show/terminal.ts";
import { makeLogger } from "./log.ts";

function watched(over: Partial<Terminal> = {}): Terminal & { lines: string[] } {
  const lines: string[] = [];
  const terminal = makeTerminal({ color: false }, {});
  return { ...terminal, isNotesTty: true, note: (text) => void lines.push(text), lines, ...over };
}

test("a person reads one line each: when, how bad, and what", () => {
  const terminal = watched();
  const log = makeLogger(terminal, {}) as Log;
  log.debug({}, "nothing to see");
  log.info({ schedule: "nightly" }, "Schedule nightly ran.");
  log.warn({}, "The database is busy.\nTry again.");
  log.warn({}, "The database is busy.\nTry again.");
  log.error({}, "essay@1/grading was given up.");
  expect(terminal.lines.map((line) => line.replace(/\d\d:\d\d:\d\d/, "12:00:00"))).toEqual([
    "  12:00:00  · Schedule nightly ran.",
    "  12:00:00  ! The database is busy. Try again.",
    "  12:00:00  ✗ essay@1/grading was given up.",
  ]);
});

test("how much is told is for the user to say", () => {
  const terminal = watched();
  const quiet = makeLogger(terminal, { PAWL_LOG_LEVEL: "ERROR" }) as Log;
  quiet.warn({}, "delivery failed");
  quiet.error({}, "told");
  expect(terminal.lines).toHaveLength(1);
  expect(() => makeLogger(terminal, { PAWL_LOG_LEVEL: "loud" })).toThrow(/debug, info, warn, error, silent/);
});

test.each([
  ["where nobody looks on", { isNotesTty: false }],
  ["where JSON is asked for", { json: true }],
])("%s, the log is pino's JSON", (_, over) => {
  expect(makeLogger(watched(over), {})).toEqual({ level: "info" });
  expect(makeLogger(watched(over), { PAWL_LOG_LEVEL: "debug" })).toEqual({ level: "debug" });
});
