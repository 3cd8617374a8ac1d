import { lifecycle, schedule } from "pawl";
import { expect, test } from "vitest";
import { CapturedLog } from "../support/captured-log.ts";
import { eachStore } from "../support/each-store.ts";

const audit = lifecycle("audit", {
  initial: "open",
  states: { open: { forever: true, on: { close: "closed" } }, closed: { final: "success" } },
});
const hourly = schedule("hourly", { interval: "1h", start: audit });

eachStore((store) => {
  test("a database clock that was ahead and is right again leaves no schedule waiting for the future", async () => {
    const log = new CapturedLog();
    await using t = await store.open({ lifecycles: [audit], schedules: [hourly], logger: log });
    await t.advance("2h");
    const before = t.now().getTime();
    await t.db.script("update pawl.test_clock set now = now + interval '10 days'");
    await t.maintain();
    await t.db.script("update pawl.test_clock set now = now - interval '10 days'");
    await t.maintain();
    const [status] = await t.pawl.schedules.list();
    expect(status!.nextAt!.getTime() - before).toBeLessThanOrEqual(3_600_000);
    expect(log.said("warn")).toEqual([
      expect.stringContaining("The database's clock was set back by 864000 s"),
      expect.stringContaining("The next run of schedule hourly was moved"),
    ]);
  });
});
