import { type AnySchedule, createPawl, job, lifecycle, type PawlOptions, schedule } from "pawl";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { TestClock } from "../../src/testing/clock.ts";
import type { TestPawl } from "../../src/testing/test-pawl.ts";
import { eachStore } from "../support/each-store.ts";
import { openSecondProcess } from "../support/second-process.ts";

const ran: string[] = [];
const tidy = job("tidy", { run: () => {} });
const report = job("report", {
  payload: z.object({ day: z.string() }),
  run: (step) => void ran.push(step.payload.day),
});
const audit = lifecycle("audit", {
  data: z.object({ at: z.string() }),
  initial: "open",
  states: { open: { forever: true, on: { close: "closed" } }, closed: { final: "success" } },
});

const hourly = schedule("hourly", { interval: "1h", start: audit, data: ({ at }) => ({ at }) });
const nightly = schedule("nightly", {
  cron: "30 3 * * *",
  timezone: "Europe/Berlin",
  start: report,
  data: ({ at }) => ({ day: at.slice(0, 10) }),
});

/** When the instances of `audit` were started for, in the order of their ticks. */
async function audited(t: TestPawl): Promise<string[]> {
  const found = await t.pawl.list(audit, { limit: 1_000 });
  return found.map((one) => one.data.at.slice(11, 16)).sort();
}

function raise(message: string): never {
  throw new Error(message);
}

/** Ticks from one hour to another, of a day that begins at noon. */
function hours(from: number, to: number): string[] {
  return Array.from({ length: to - from + 1 }, (_, index) => `${from + index}:00`);
}

eachStore((store) => {
  const open = (schedules: readonly AnySchedule[] = [hourly]) =>
    store.open({ lifecycles: [audit, report, tidy], schedules });

  test("a schedule starts what it declares at each of its ticks, with data and a key of the tick", async () => {
    await using t = await open();
    await t.advance("59m");
    expect(await audited(t)).toEqual([]);
    await t.advance("3h");
    expect(await audited(t)).toEqual(["13:00", "14:00", "15:00"]);
    const first = await t.pawl.get(audit, "hourly@2030-01-01T13:00:00.000Z");
    expect(first).toMatchObject({ state: "open", createdAt: new Date("2030-01-01T13:00:00Z") });
    expect(await t.pawl.journal(audit, { id: first!.id })).toMatchObject([
      { event: "start", source: "timer", reason: "schedule hourly" },
    ]);
    expect(await t.pawl.schedules.list()).toMatchObject([
      {
        name: "hourly",
        timing: "every 1h",
        starts: "audit",
        status: "active",
        nextAt: new Date("2030-01-01T16:00:00Z"),
        last: { tick: new Date("2030-01-01T15:00:00Z"), at: new Date("2030-01-01T15:00:00Z"), result: "started" },
      },
    ]);
    expect(await t.pawl.inspect.verify()).toEqual([]);
  });

  test("a job is run by the clocks of its time zone, once a day also when they are changed", async () => {
    ran.length = 0;
    await using t = await open([nightly]);
    await (t.kernel.clock as TestClock).set(Date.parse("2024-03-29T12:00:00Z"));
    await t.advance("3d");
    await t.work();
    expect(ran.sort()).toEqual(["2024-03-30", "2024-03-31", "2024-04-01"]);
    const times = (await t.pawl.list(report)).map((one) => one.createdAt.toISOString().slice(11, 16));
    expect(times).toEqual(["01:30", "01:30", "02:30"]);
  });

  test("what fell due while nobody was there is run once, soon after the start", async () => {
    await using t = await open();
    await t.maintain();
    const clock = t.kernel.clock as TestClock;
    await clock.set(Date.parse("2030-01-03T17:20:00Z"));
    await t.maintain();
    expect(await audited(t)).toEqual(["17:00"]);
    await t.advance("2h");
    expect(await audited(t)).toEqual(["17:00", "18:00", "19:00"]);
  });

  test("or not at all, or each of them, as the schedule says", async () => {
    const skipping = schedule("skipping", { interval: "1h", start: tidy, missed: "skip" });
    const all = schedule("all", { interval: "1h", start: audit, data: ({ at }) => ({ at }), missed: "all" });
    await using t = await open([skipping, all]);
    await t.maintain();
    const clock = t.kernel.clock as TestClock;
    await clock.set(clock.nowMs() + 5.5 * 3_600_000);
    expect(await t.maintain()).toMatchObject({ ticks: 5 });
    expect(await audited(t)).toEqual(hours(13, 17));
    expect(await t.pawl.list(tidy)).toEqual([]);
    await t.advance("30m");
    await t.maintain();
    expect(await t.pawl.list(tidy)).toHaveLength(1);
  });

  test("many ticks that were missed are all run, some at a time", async () => {
    const quick = schedule("quick", { interval: "1s", start: tidy, missed: "all" });
    await using t = await open([quick]);
    await t.maintain();
    const clock = t.kernel.clock as TestClock;
    await clock.set(clock.nowMs() + 1_234_000);
    const rounds = [(await t.maintain()).ticks, (await t.maintain()).ticks, (await t.maintain()).ticks];
    expect(rounds).toEqual([1_000, 234, 0]);
    expect(await t.pawl.inspect.counts(tidy)).toEqual({ pending: 1_234 });
  });

  test("a paused schedule runs nothing, leaves out what falls due meanwhile, and goes on when it is resumed", async () => {
    await using t = await open();
    await t.pawl.schedules.pause(hourly, { actor: "ada", reason: "quarter end" });
    await t.pawl.schedules.pause("hourly", { actor: "grace" });
    expect(await t.pawl.schedules.list()).toMatchObject([
      { status: "paused", nextAt: null, paused: { actor: "ada", reason: "quarter end", at: t.now() } },
    ]);
    await t.advance("150m");
    await t.pawl.schedules.resume(hourly);
    await t.pawl.schedules.resume(hourly);
    expect(await t.pawl.schedules.list()).toMatchObject([{ status: "active", paused: null }]);
    await t.advance("1h");
    expect(await audited(t)).toEqual(["15:00"]);
  });

  test("it can be run now, beside its ticks and while it is paused", async () => {
    await using t = await open();
    await t.pawl.schedules.pause(hourly);
    await t.advance("7m");
    const now = await t.pawl.schedules.runNow(hourly);
    expect(now).toMatchObject({ created: true, key: "hourly@2030-01-01T12:07:00.000Z", state: "open" });
    expect(await t.pawl.schedules.runNow("hourly")).toMatchObject({ created: false, id: now.id });
    expect(await t.pawl.schedules.list()).toMatchObject([
      { status: "paused", last: { result: "existed", instance: now.id, tick: t.now() } },
    ]);
  });

  test("with a key of its own, a tick finds the instance that is still open", async () => {
    const one = schedule("one", { interval: "1h", start: tidy, key: () => "the-one" });
    await using t = await open([one]);
    await t.advance("2h");
    expect(await t.pawl.list(tidy)).toHaveLength(1);
    expect(await t.pawl.schedules.list()).toMatchObject([{ last: { result: "existed" } }]);
    await t.work();
    await t.advance("1h");
    expect(await t.pawl.list(tidy)).toHaveLength(2);
    expect(await t.pawl.schedules.list()).toMatchObject([{ last: { result: "started" } }]);
  });

  test.each([
    ["data that throws", "hook_failed", { data: () => raise("no data today") }],
    ["data that its schema refuses", "data_invalid", { data: () => ({ at: 7 }) }],
    ["a key that is none", "key_invalid", { key: () => "" }],
  ])("a tick with %s is told of, and does not hold up the next", async (_, code, wrong) => {
    let isWrong = true;
    const fickle = schedule("fickle", {
      interval: "1h",
      start: audit,
      data: ({ at }) => (isWrong && "data" in wrong ? (wrong.data() as never) : { at }),
      key: ({ at }) => (isWrong && "key" in wrong ? wrong.key() : at),
    });
    await using t = await open([fickle]);
    await t.maintain();
    const clock = t.kernel.clock as TestClock;
    await clock.set(clock.nowMs() + 3_600_000);
    await expect(t.maintain()).rejects.toMatchObject({ code });
    expect(await t.pawl.schedules.list()).toMatchObject([{ last: { result: "failed", error: expect.any(String) } }]);
    expect(await t.maintain()).toMatchObject({ ticks: 0 });
    isWrong = false;
    await clock.set(clock.nowMs() + 3_600_000);
    expect(await t.maintain()).toMatchObject({ ticks: 1 });
    expect(await audited(t)).toEqual(["14:00"]);
  });

  describe("at a deploy", () => {
    const later = schedule("hourly", { cron: "15 * * * *", start: audit, data: ({ at }) => ({ at }) });

    test("another timing counts from the moment that a process of it begins; the older ones leave it alone", async () => {
      await using t = await open();
      await t.advance("90m");
      expect(await audited(t)).toEqual(["13:00"]);
      const next = await openSecondProcess(t, [audit, report, tidy], [later]);
      expect(await next.maintain()).toMatchObject({ ticks: 0 });
      expect(await next.pawl.schedules.list()).toMatchObject([
        { timing: "15 * * * * UTC", nextAt: new Date("2030-01-01T14:15:00Z") },
      ]);
      const clock = t.kernel.clock as TestClock;
      await clock.set(Date.parse("2030-01-01T14:14:00Z"));
      await next.maintain();
      await clock.set(Date.parse("2030-01-01T14:15:00Z"));
      expect(await t.maintain()).toMatchObject({ ticks: 0 });
      expect(await next.maintain()).toMatchObject({ ticks: 1 });
      expect(await audited(t)).toEqual(["13:00", "14:15"]);
      await next.pawl.close();
    });

    test("rolled back, the older timing counts again; and of a process that is gone nothing remains", async () => {
      await using t = await open();
      await t.maintain();
      const next = await openSecondProcess(t, [audit, report, tidy], [later]);
      await next.maintain();
      const again = await openSecondProcess(t, [audit, report, tidy], [hourly]);
      await again.maintain();
      expect(await again.pawl.schedules.list()).toMatchObject([{ timing: "every 1h" }]);
      // The process that spoke last is gone: one that still runs, with what it declares, takes over.
      const clock = t.kernel.clock as TestClock;
      await clock.set(clock.nowMs() + 60_000);
      await next.maintain();
      expect(await next.pawl.schedules.list()).toMatchObject([{ timing: "every 1h" }]);
      await clock.set(clock.nowMs() + 61_000);
      await next.maintain();
      expect(await next.pawl.schedules.list()).toMatchObject([{ timing: "15 * * * * UTC" }]);
      for (const one of [next, again]) await one.pawl.close();
    });

    test("one that is declared no more stops, and is shown as orphaned", async () => {
      await using t = await open();
      await t.maintain();
      const next = await openSecondProcess(t, [audit, report, tidy]);
      await (t.kernel.clock as TestClock).set(Date.parse("2030-01-01T15:10:00Z"));
      await next.maintain();
      expect(await audited(t)).toEqual([]);
      expect(await next.pawl.schedules.list()).toMatchObject([{ name: "hourly", status: "orphaned", nextAt: null }]);
      await expect(next.pawl.schedules.runNow("hourly")).rejects.toMatchObject({ code: "schedule_unknown" });
      await next.pawl.close();
    });
  });

  test("of a schedule that does not exist it is said so, and nothing is written", async () => {
    await using t = await open();
    for (const verb of ["pause", "resume", "runNow"] as const) {
      await expect(t.pawl.schedules[verb]("horly")).rejects.toMatchObject({
        code: "schedule_unknown",
        message: expect.stringContaining("hourly"),
      });
      for (const bad of ["", null, {}, 7]) {
        await expect(t.pawl.schedules[verb](bad as never)).rejects.toMatchObject({ code: "option_invalid" });
      }
    }
    await expect(t.pawl.schedules.pause(hourly, { why: "x" } as never)).rejects.toMatchObject({
      code: "option_invalid",
    });
    expect(await t.pawl.schedules.list()).toMatchObject([{ status: "new", nextAt: null, last: null }]);
  });
});

test.each([
  ["no list", { schedules: "nightly" }],
  ["something else in the list", { schedules: [{ kind: "lifecycle" }] }],
  ["null in the list", { schedules: [null] }],
  ["two of one name", { schedules: [hourly, hourly] }],
  ["one that starts what is not declared", { lifecycles: [tidy], schedules: [hourly] }],
])("%s is refused before anything is opened", async (_, given) => {
  const options = { lifecycles: [audit], folder: "no/such/folder", ...given } as unknown as PawlOptions;
  await expect(createPawl(options)).rejects.toMatchObject({ code: "option_invalid" });
});
