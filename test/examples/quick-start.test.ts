import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { testPawl } from "pawl/testing";
import { beforeAll, expect, test } from "vitest";
import { expense } from "../../examples/quick-start/expense.ts";
import { build, newProject, root } from "../cli/pawl-command.ts";

beforeAll(build, 120_000);
const example = join(root, "examples/quick-start");

test("the program of the quick start runs, and says what the README says", () => {
  const cwd = mkdtempSync(join(tmpdir(), "pawl-quick-start-"));
  const { DATABASE_URL: _, NODE_OPTIONS: __, ...env } = process.env;
  const tsx = pathToFileURL(join(root, "node_modules/tsx/dist/loader.mjs")).href;
  for (const time of ["first", "second"]) {
    const ran = spawnSync(process.execPath, ["--import", tsx, join(example, "main.ts")], {
      cwd,
      env,
      encoding: "utf8",
    });
    expect(ran.stderr).toBe("");
    expect(ran.stdout.replace(/`expense` [0-9a-f-]{36}/, "`expense` …"), time).toBe(
      [
        "started in submitted",
        "refused: `approve` was refused by `expense` … in `submitted`: nobody approves their own expense.",
        "paid, approved by grace",
        "1. start: (new) → submitted, by ada",
        "2. fail: submitted → failed, by grace",
        "3. recover: failed → submitted, by grace",
        "4. approve: submitted → approved, by grace",
        "5. paid: approved → paid",
        "",
      ].join("\n"),
    );
  }
  rmSync(cwd, { recursive: true, force: true });
}, 120_000);

test("its config is sound, and a first start finds three expenses", async () => {
  const project = newProject({});
  try {
    const config = ["--config", join(example, "pawl.config.ts")];
    const running = await project.start(...config, "--folder", "here");
    expect(running.stdout).toMatch(/expense +version 1 +submitted 1 · returned 1 · (approved|paid) 1/);
    await running.end();
    expect(await project.pawl("check", ...config)).toMatchObject({ code: 0, stderr: "" });
    const { stdout } = await project.pawl("diagram", "expense", ...config);
    expect(stdout).toContain("  submitted --> approved: approve\n");
    expect(stdout).toContain("  submitted --> submitted: remind (stays)\n");
  } finally {
    await project.remove();
  }
}, 120_000);

test("an expense that nobody looks at is reminded of, then escalated, then fails and can be discarded", async () => {
  const t = await testPawl({ lifecycles: [expense] });
  const { pawl } = t;
  await pawl.start(expense, { key: "e1", data: { employee: "ada", purpose: "a hat", amount: 20 } });
  await t.advance("30s");
  expect(await pawl.get(expense, "e1")).toMatchObject({ state: "submitted", data: { reminders: 1 } });
  await t.advance("90s");
  expect(await pawl.get(expense, "e1")).toMatchObject({ state: "escalated" });
  await t.advance("7d");
  expect(await pawl.get(expense, "e1")).toMatchObject({ state: "failed" });
  expect(await pawl.send(expense, "e1", "discard", { actor: "grace" })).toMatchObject({ state: "discarded" });
  await t.close();
});
