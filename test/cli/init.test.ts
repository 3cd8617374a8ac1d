import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { beforeAll, expect, test } from "vitest";
import { build, newProject, root } from "./pawl-command.ts";

beforeAll(build, 120_000);

test("pawl init writes a project that is sound, whose test passes, and never writes over anything", async () => {
  const project = newProject({ "package.json": '{ "type": "module" }', ".gitignore": "node_modules/" });
  try {
    const made = await project.pawl("init");
    expect(made).toMatchObject({ code: 0, stdout: expect.stringContaining("Wrote pawl.config.ts") });
    expect(readFileSync(project.path(".gitignore"), "utf8")).toBe("node_modules/\n.pawl/\n");
    expect(await project.pawl("check")).toMatchObject({ code: 0, stdout: expect.stringContaining("order") });
    const tsx = pathToFileURL(`${root}/node_modules/tsx/dist/loader.mjs`).href;
    const { NODE_OPTIONS: _, ...env } = process.env;
    const tested = spawnSync(process.execPath, ["--import", tsx, "--test", "order.test.ts"], {
      cwd: project.folder,
      env,
      encoding: "utf8",
    });
    expect(tested.stdout).toContain("# pass 1");

    const well = await project.pawl("doctor");
    expect(well).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/✓ Config +\S+pawl\.config\.ts: 1 lifecycle, /),
    });
    const nowhere = { DATABASE_URL: "postgres://nobody@127.0.0.1:1/none" };
    const ill = await project.begin(["doctor"], nowhere).ended;
    expect(ill).toMatchObject({ code: 1, stdout: expect.stringMatching(/✗ Database .*cannot be reached/) });

    const before = readFileSync(project.path("order.ts"), "utf8");
    const again = await project.pawl("init");
    expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining("already exist") });
    expect(readFileSync(project.path("order.ts"), "utf8")).toBe(before);
    mkdirSync(project.path("elsewhere"));
    expect(await project.json("init", "elsewhere")).toMatchObject({
      written: expect.arrayContaining(["package.json"]),
    });
  } finally {
    await project.remove();
  }
}, 60_000);
