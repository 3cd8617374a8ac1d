import { describe, expect, test } from "vitest";
import { z } from "zod";
import { job } from "../job.ts";
import { parseCron } from "./cron.ts";
import { schedule } from "./schedule.ts";

const tidy = job("tidy", { run: () => {} });
const mail = job("mail", { payload: z.object({ to: z.string() }), run: () => {} });

describe("a cron expression", () => {
  test.each([
    ["30 3 * * *", { minutes: [30], hours: [3], eitherDay: false }],
    ["*/15 0-2 * * *", { minutes: [0, 15, 30, 45], hours: [0, 1, 2] }],
    ["5/20 * * * *", { minutes: [5, 25, 45] }],
    ["0 0 1,15 jan-mar,dec *", { days: [1, 15], months: [1, 2, 3, 12] }],
    ["0 9 * * mon-fri", { weekdays: [1, 2, 3, 4, 5], eitherDay: false }],
    ["0 9 * * 5-7", { weekdays: [0, 5, 6] }],
    ["0 9 13 * FRI", { days: [13], weekdays: [5], eitherDay: true }],
    ["0 0 29 2 *", { days: [29], months: [2] }],
    ["0 0 31 2 mon", { eitherDay: true }],
    [" 0  0 * * * ", { minutes: [0], weekdays: [0, 1, 2, 3, 4, 5, 6] }],
  ])("%j is understood", (text, expected) => {
    expect(parseCron(text)).toMatchObject(expected);
  });

  test.each([
    ["", "fields"],
    ["* * * *", "4 fields"],
    ["0 0 3 * * *", "6 fields"],
    ["60 * * * *", "The minute"],
    ["* 24 * * *", "The hour"],
    ["* * 0 * *", "The day of the month"],
    ["* * * 13 *", "The month"],
    ["* * * * 8", "The day of the week"],
    ["* * * * mond", "The day of the week"],
    ["mon * * * *", "The minute"],
    ["*/0 * * * *", "a step of 0"],
    ["30-10 * * * *", "runs backwards"],
    ["1,,2 * * * *", "neither"],
    ["1.5 * * * *", "neither"],
    ["-5 * * * *", "neither"],
    ["0 0 31 2 *", "never occurs"],
    ["0 0 31 4,6,9,11 *", "never occurs"],
  ])("%j is refused", (text, reason) => {
    expect(parseCron(text)).toEqual(expect.stringContaining(reason));
  });
});

describe("a schedule", () => {
  test("starts a job by the clock of a time zone", () => {
    const nightly = schedule("nightly", { cron: "30 3 * * *", timezone: "Europe/Berlin", start: tidy });
    expect(nightly).toMatchObject({ kind: "schedule", name: "nightly", timezone: "Europe/Berlin", missed: "once" });
    expect(nightly.cron?.text).toBe("30 3 * * *");
    expect(nightly.start).toBe(tidy);
    const tick = { schedule: "nightly", at: "2026-01-01T03:30:00.000Z" };
    expect([nightly.key(tick), nightly.data(tick)]).toEqual(["nightly@2026-01-01T03:30:00.000Z", undefined]);
  });

  test("or ever so often, with data made for each time", () => {
    const hourly = schedule("hourly", {
      interval: "1h",
      start: mail,
      data: ({ at }) => ({ to: at }),
      key: () => "k",
      missed: "all",
    });
    expect(hourly).toMatchObject({ cron: undefined, everyMs: 3_600_000, timezone: "UTC", missed: "all" });
    expect(hourly.data({ schedule: "hourly", at: "now" })).toEqual({ to: "now" });
    const fixed = schedule("fixed", { interval: "1h", start: mail, data: { to: "ada" } });
    expect(fixed.data({ schedule: "fixed", at: "now" })).toEqual({ to: "ada" });
  });

  test.each([
    ["name", { cron: "* * * * *", start: tidy }, "Every Night"],
    ["cron", { cron: "every night", start: tidy }],
    ["cron", { cron: 5, start: tidy }],
    ["timezone", { cron: "* * * * *", timezone: "Europe/Atlantis", start: tidy }],
    ["timezone", { cron: "* * * * *", timezone: "+02:00", start: tidy }],
    ["timezone", { interval: "1h", timezone: "Europe/Berlin", start: tidy }],
    ["interval", { interval: "10ms", start: tidy }],
    ["interval", { interval: "often", start: tidy }],
    ["definition", { start: tidy }],
    ["definition", { cron: "* * * * *", interval: "1h", start: tidy }],
    ["definition", null],
    ["start", { interval: "1h" }],
    ["start", { interval: "1h", start: { kind: "queue" } }],
    ["missed", { interval: "1h", start: tidy, missed: "never" }],
    ["crn", { interval: "1h", start: tidy, crn: "" }],
  ])("is refused for its %s: %j", (place, definition, name: string = "s") => {
    expect(() => schedule(name, definition as never)).toThrow(`\n  - ${place}: `);
  });
});
