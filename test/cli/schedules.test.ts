import { expect, test } from "vitest";
import { onPostgres } from "../setup/suites.ts";
import { projectOnPostgres } from "./on-postgres.ts";

const config = `
import { defineConfig, job, schedule } from "pawl";

const tidy = job("tidy", { run: () => {} });

export default defineConfig({
  lifecycles: [tidy],
  schedules: [
    schedule("nightly", { cron: "30 3 * * *", timezone: "Europe/Berlin", start: tidy }),
    schedule("often", { interval: "1s", start: tidy }),
  ],
});
`;

onPostgres("pawl schedules", () => {
  const { begin, pawl } = projectOnPostgres(config);
  const schedules = (...args: string[]) => pawl("schedules", ...args);

  test("shows them without keeping them, pauses, resumes and runs them; a worker keeps them", async () => {
    expect(await schedules()).toMatchObject({
      code: 0,
      stdout: [
        "schedule\tstatus\tdue\tstarts\tnext\tlast\tresult",
        "nightly\tnew\t30 3 * * * Europe/Berlin\ttidy\t\t\t",
        "often\tnew\tevery 1s\ttidy\t\t\t",
        "",
      ].join("\n"),
    });
    const paused = await schedules("pause", "nightly", "--actor", "ada", "--reason", "holiday", "--json");
    expect(JSON.parse(paused.stdout)).toMatchObject({ status: "paused", paused: { actor: "ada", reason: "holiday" } });
    const run = await schedules("run", "nightly", "--json");
    expect(JSON.parse(run.stdout)).toMatchObject({ lifecycle: "tidy", state: "pending", created: true });
    const resumed = await schedules("resume", "nightly", "--json");
    expect(JSON.parse(resumed.stdout)).toMatchObject({ status: "active", last: { result: "started" } });
    expect(await schedules("run", "nightli")).toMatchObject({ code: 3, stderr: expect.stringContaining("nightly") });
    const working = begin("work");
    await working.says("concurrency 16");
    await working.says('"msg":"Schedule often ran."'); // Nobody looks on: the log is JSON.
    for (;;) {
      const listed = await schedules("list", "--json");
      const [, often] = JSON.parse(listed.stdout) as { status: string; last: unknown }[];
      if (often!.last !== null) break;
      expect(["new", "active"]).toContain(often!.status);
    }
    expect(await working.end()).toMatchObject({ code: 0 });
  }, 60_000);
});
