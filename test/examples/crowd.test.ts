import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { papers } from "../../examples/crowd/papers.ts";
import { courseOf, team } from "../../examples/crowd/workers.ts";
import { callOver } from "../../src/cli/transport/client.ts";
import { overSocket } from "../../src/cli/transport/socket-carrier.ts";
import { build, newProject, type Project, root } from "../cli/pawl-command.ts";

const example = join(root, "examples/crowd");
const config = ["--config", join(example, "pawl.config.ts")];

let project: Project;
beforeAll(() => {
  build();
  project = newProject({});
}, 120_000);
afterAll(() => project.remove());

test("its workers do the same for the same seed, each in their own way", () => {
  const courses = (seed: number) => team.flatMap((worker) => papers.map((paper) => courseOf(worker, paper, seed)));
  expect(courses(7)).toEqual(courses(7));
  expect(courses(7)).toEqual(expect.arrayContaining(["returns", "vanishes"]));
});

test("whatever goes wrong, every receipt is read or says why not, nothing is published twice, nobody paid twice", async () => {
  const { status, stdout, stderr } = simulate("--folder", project.path("here"));
  expect([status, stderr]).toEqual([0, ""]);
  expect(stdout).toMatch(/^ {2}12 receipts: \d+ read, \d+ of them right; \d+ fell short\.$/m);
  expect(stdout).toContain("A rained-on one: It has 0 of 3 approved submissions: 6 were rejected");
  expect(stdout).toContain("Four metres long: It has 0 of 3 approved submissions, and its time has expired.");
  expect(stdout).toMatch(/^ {2}Paid by voucher +0\.00 +3 +3 +0 +1\.00$/m);
  expect(stdout).toMatch(/^ {2}and against its will +1$/m);
  expect(stdout.match(/^ {2}✓ /gm)).toHaveLength(5);
  const jobs = await project.pawl("crowd", "jobs", "--state", "incomplete", ...config, "--folder", "here");
  expect(jobs.stdout).toContain("6 were rejected, and the maximum is 6 places.");
}, 120_000);

test("a reader is the crowd: reads one receipt right and one wrong", async () => {
  const here = [...config, "--folder", "own"];
  const running = await project.start(...here);
  expect(running.stdout).toContain("queue next crowd-receipt-readers --labeler me --start");
  const call = callOver((await overSocket(project.path("own/db.sock")))!);
  const [queue, labeler] = ["crowd-receipt-readers", "me"];
  const { assignment } = await project.json<Next>("queue", "next", queue, "--labeler", labeler, "--start", ...here);
  const right = JSON.stringify({ total: 12.84, tax: 0.84 });
  await project.json("queue", "answer", assignment.id, right, "--labeler", labeler, ...here);
  await call("wait", { lifecycle: "receipt", key: "you-r-01", until: "read" });
  const { assignment: next } = (await call("next", { queue, labeler })) as Next;
  await call("startAssignment", { id: next.id, labeler });
  await call("submitLabel", { id: next.id, labeler, label: { total: 99, tax: 1 } });
  await vi.waitFor(async () => {
    const found = await call("submissions", { state: "rejected" });
    expect(found).toMatchObject([
      { worker: "me", feedback: expect.stringContaining("The tax does not fit the total.") },
    ]);
  }, 30_000);
  await running.end();
}, 120_000);

test("its program says what it can be told", () => {
  const { status, stderr } = simulate("--seed", "any");
  expect([status, stderr]).toEqual([2, expect.stringContaining("--seed must be a number from 0 to")]);
});

interface Next {
  readonly assignment: { readonly id: string };
}

/** Runs the program of the example to its end. */
function simulate(...flags: string[]) {
  const { DATABASE_URL: _, NODE_OPTIONS: __, ...env } = process.env;
  const tsx = pathToFileURL(join(root, "node_modules/tsx/dist/loader.mjs")).href;
  return spawnSync(process.execPath, ["--import", tsx, join(example, "main.ts"), ...flags], {
    cwd: root,
    env: { ...env, NO_COLOR: "1", TSX_TSCONFIG_PATH: join(root, "tsconfig.base.json") },
    encoding: "utf8",
  });
}
