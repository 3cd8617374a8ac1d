import { describe, expect, test } from "vitest";
import { parseCron } from "./cron.ts";
import { latestTick, ticksOf } from "./ticks.ts";

function cronTicks(text: string, timezone: string) {
  const cron = parseCron(text);
  if (typeof cron === "string") throw new Error(cron);
  return ticksOf({ cron, everyMs: undefined, timezone });
}

/** A number of ticks after a moment, as ISO texts. */
function listed(text: string, timezone: string, from: string, count: number): string[] {
  const ticks = cronTicks(text, timezone);
  const found: string[] = [];
  for (let at = ticks.after(Date.parse(from)); at !== undefined && found.length < count; at = ticks.after(at)) {
    found.push(new Date(at).toISOString().replace(":00.000Z", "Z"));
  }
  return found;
}

describe("the ticks of a cron expression", () => {
  test.each([
    ["*/20 * * * *", "2024-01-31T23:30:00Z", ["2024-01-31T23:40Z", "2024-02-01T00:00Z", "2024-02-01T00:20Z"]],
    ["30 3 * * *", "2024-02-28T03:30:00Z", ["2024-02-29T03:30Z", "2024-03-01T03:30Z"]],
    ["0 9 * * mon-fri", "2024-05-03T10:00:00Z", ["2024-05-06T09:00Z", "2024-05-07T09:00Z"]],
    ["0 0 31 * *", "2024-01-31T00:00:00Z", ["2024-03-31T00:00Z", "2024-05-31T00:00Z"]],
    ["0 0 13 * fri", "2024-09-10T00:00:00Z", ["2024-09-13T00:00Z", "2024-09-20T00:00Z"]],
    ["0 0 13 10 sun", "2024-10-01T00:00:00Z", ["2024-10-06T00:00Z", "2024-10-13T00:00Z", "2024-10-20T00:00Z"]],
    ["0 0 29 2 *", "2096-03-01T00:00:00Z", ["2104-02-29T00:00Z", "2108-02-29T00:00Z"]],
    ["0 0 29 2 */7", "2024-03-01T00:00:00Z", ["2032-02-29T00:00Z", "2060-02-29T00:00Z"]],
    ["0 12 1 1 *", "1969-06-01T00:00:00Z", ["1970-01-01T12:00Z"]],
  ])("%s", (cron, from, expected) => {
    expect(listed(cron, "UTC", from, expected.length)).toEqual(expected);
  });

  test("go by the clocks of their time zone, in winter and in summer", () => {
    expect(listed("0 9 1 * *", "America/New_York", "2024-01-15T00:00:00Z", 3)).toEqual([
      "2024-02-01T14:00Z",
      "2024-03-01T14:00Z",
      "2024-04-01T13:00Z",
    ]);
    expect(listed("0 0 * * *", "Asia/Kolkata", "2024-01-15T00:00:00Z", 1)).toEqual(["2024-01-15T18:30Z"]);
  });
});

describe("when clocks are changed", () => {
  test.each([
    // Berlin, on 31 March 2024, goes from 2:00 to 3:00.
    ["Europe/Berlin", "30 2 * * *", "2024-03-30T12:00:00Z", ["2024-03-31T01:00Z", "2024-04-01T00:30Z"]],
    ["Europe/Berlin", "0,20,40 2 * * *", "2024-03-30T12:00:00Z", ["2024-03-31T01:00Z", "2024-04-01T00:00Z"]],
    // Lord Howe moves its clocks by half an hour only.
    ["Australia/Lord_Howe", "15 2 * * *", "2024-10-05T00:00:00Z", ["2024-10-05T15:30Z", "2024-10-06T15:15Z"]],
    // Samoa has left out a day.
    ["Pacific/Apia", "30 3 30 12 *", "2011-12-01T00:00:00Z", ["2011-12-30T10:00Z", "2012-12-29T13:30Z"]],
  ])("a time that is skipped in %s happens when they go on: %s", (zone, cron, from, expected) => {
    expect(listed(cron, zone, from, 2)).toEqual(expected);
  });

  test.each([
    // Berlin, on 27 October 2024, goes from 3:00 back to 2:00.
    ["Europe/Berlin", "30 2 * * *", "2024-10-26T12:00:00Z", ["2024-10-27T00:30Z", "2024-10-28T01:30Z"]],
    ["America/New_York", "15 1 * * *", "2024-11-02T12:00:00Z", ["2024-11-03T05:15Z", "2024-11-04T06:15Z"]],
    ["Australia/Lord_Howe", "45 1 * * *", "2024-04-06T00:00:00Z", ["2024-04-06T14:45Z", "2024-04-07T15:15Z"]],
  ])("a time that comes twice in %s happens the first time: %s", (zone, cron, from, expected) => {
    expect(listed(cron, zone, from, 2)).toEqual(expected);
    const second = new Date(Date.parse(expected[0]!.replace("Z", ":00Z")) + 60_000).toISOString();
    expect(listed(cron, zone, second, 1), "also for who asks between the two").toEqual([expected[1]]);
  });

  test("a rhythm goes on: nothing in the hour that is skipped, all of the one that comes twice", () => {
    const quarters = "*/30 * * * *";
    expect(listed(quarters, "Europe/Berlin", "2024-03-31T00:15:00Z", 3)).toEqual([
      "2024-03-31T00:30Z",
      "2024-03-31T01:00Z",
      "2024-03-31T01:30Z",
    ]);
    const back = listed(quarters, "Europe/Berlin", "2024-10-26T23:45:00Z", 6);
    expect(back).toEqual(["00:00", "00:30", "01:00", "01:30", "02:00", "02:30"].map((time) => `2024-10-27T${time}Z`));
    expect(listed("*/30 2 * * *", "Europe/Berlin", "2024-03-30T12:00:00Z", 1)).toEqual(["2024-04-01T00:00Z"]);
    expect(listed("*/30 2 * * *", "Europe/Berlin", "2024-10-26T12:00:00Z", 5)).toEqual([
      "2024-10-27T00:00Z",
      "2024-10-27T00:30Z",
      "2024-10-27T01:00Z",
      "2024-10-27T01:30Z",
      "2024-10-28T01:00Z",
    ]);
  });

  test.each(["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Africa/Casablanca", "America/St_Johns"])(
    "in %s no tick is left out or told twice, from wherever one asks",
    (zone) => {
      const ticks = cronTicks("20,50 */3 * * *", zone);
      const year: number[] = [];
      const end = Date.parse("2025-01-01T00:00:00Z");
      for (let at = ticks.after(Date.parse("2024-01-01T00:00:00Z"))!; at < end; at = ticks.after(at)!) year.push(at);
      expect(year).toEqual([...new Set(year)].sort((one, other) => one - other));
      for (const [index, at] of year.entries()) {
        if (index % 7 === 0) expect(ticks.after(at - 1)).toBe(at);
      }
      expect(Math.abs(year.length - 366 * 16)).toBeLessThanOrEqual(4);
    },
  );
});

describe("the ticks of an interval", () => {
  const ticks = ticksOf({ cron: undefined, everyMs: 5_400_000, timezone: "UTC" });

  test("are counted from 1970, whoever asks and whenever it began", () => {
    expect(new Date(ticks.after(Date.parse("2030-01-01T12:00:00Z"))!).toISOString()).toBe("2030-01-01T13:30:00.000Z");
    expect(ticks.after(5_400_000)).toBe(10_800_000);
    expect(ticks.after(-1)).toBe(0);
  });

  test("the latest up to a moment is found, however far back it lies", () => {
    expect(latestTick(ticks, 0, 20_000_000)).toBe(16_200_000);
    expect(latestTick(ticks, 17_000_000, 20_000_000)).toBeUndefined();
    const yearly = cronTicks("0 0 1 1 *", "UTC");
    expect(latestTick(yearly, 0, Date.parse("2024-12-31T00:00:00Z"))).toBe(Date.parse("2024-01-01T00:00:00Z"));
  });
});
