import { expect, test } from "vitest";
import { onPostgres } from "../setup/suites.ts";
import { projectOnPostgres } from "./on-postgres.ts";

const config = `
import { defineConfig, job } from "pawl";

const mail = job("mail", { run: () => {} });

export default defineConfig({ lifecycles: [mail], stuckAfter: { noWorker: 1 } });
`;

onPostgres("what is stuck, in a terminal", () => {
  const { pawl } = projectOnPostgres(config);

  test("`stuck` lists it, `status` and `doctor` say so, by the thresholds of the config", async () => {
    await pawl("migrate");
    const nothing = expect.stringMatching(/✓ Stuck +nothing is stuck/);
    expect(await pawl("doctor")).toMatchObject({ code: 0, stdout: nothing });
    await pawl("jobs", "enqueue", "mail", "--key", "m1");
    const row =
      /^reason\tlifecycle\tplace\tcount\tsince\twhat_to_do\nno_worker\tmail\tmail@1\/pending\t1\t\S+Z\t1 task is stuck /;
    expect(await pawl("stuck")).toMatchObject({ code: 0, stdout: expect.stringMatching(row) });
    const status = JSON.parse((await pawl("status", "--json")).stdout);
    expect(status.stuck).toMatchObject([{ reason: "no_worker", instances: [{ key: "m1" }] }]);
    const failing = { code: 1, stderr: expect.stringContaining("1 task") };
    expect(await pawl("status", "--fail-on", "breakers,stuck", "--watch", "1")).toMatchObject(failing);
    expect(await pawl("status", "--fail-on", "dead-letters")).toMatchObject({ code: 0, stderr: "" });
    expect(await pawl("status", "--fail-on", "stuk")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("Did you mean stuck?"),
    });
    const warning = expect.stringMatching(/! Stuck +1 task is stuck in `mail@1\/pending`.*\n.*pawl stuck/);
    expect(await pawl("doctor")).toMatchObject({ code: 0, stdout: warning });
  }, 120_000);
});
