import { lifecycle } from "pawl";
import { expect, test } from "vitest";
import { lanesOf } from "../../src/kernel/lanes/lanes.ts";
import { reportLapsed } from "../../src/kernel/tasks/report-lapsed.ts";
import { eachStore } from "../support/each-store.ts";

const errand = lifecycle("errand", {
  initial: "running",
  states: { running: { run: () => {}, on: { ran: "done" } }, done: { final: "success" } },
});

eachStore((store) => {
  test("lapses that cannot be written keep none behind them from being returned, and are tried again with a pause", async () => {
    await using t = await store.open({ lifecycles: [errand] });
    const claimed: Record<string, string> = {};
    for (const key of ["bad 1", "bad 2", "bad 3", "good 1", "good 2"]) {
      await t.pawl.start(errand, { key });
      claimed[key] = (await t.claim("errand/running")).id;
      await t.advance("1s");
    }
    await t.db.script(`
      create function pawl_test_refuse() returns trigger language plpgsql as $$
      begin
        if old.id in (select id from pawl.instances where key like 'bad%') then raise exception 'jammed'; end if;
        return new;
      end $$;
      create trigger refused before update on pawl.tasks for each row execute function pawl_test_refuse();
      update pawl.test_clock set now = now + interval '1 hour'`);
    const lanes = await lanesOf(t.kernel);
    const round = () => reportLapsed(t.kernel, lanes, 3);
    const first = await round();
    expect(first.returned).toBe(0);
    expect(first.failures.map(({ id }) => id).sort()).toEqual(
      ["bad 1", "bad 2", "bad 3"].map((key) => claimed[key]!).sort(),
    );
    expect(String(first.failures[0]!.error)).toContain("jammed");
    expect(await round()).toEqual({ returned: 2, failures: [] });
    expect(await round()).toEqual({ returned: 0, failures: [] });
    const later = async (time: string) => {
      await t.db.script(`update pawl.test_clock set now = now + interval '${time}'`);
      await round(); // This process learns the time with its reply.
    };
    await later("1 minute");
    expect((await round()).failures).toHaveLength(3);
    await t.db.script("drop trigger refused on pawl.tasks");
    expect(await round()).toEqual({ returned: 0, failures: [] });
    await later("2 minutes");
    expect(await round()).toEqual({ returned: 3, failures: [] });
    expect(await t.pawl.inspect.verify()).toEqual([]);
  });
});
