import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { GivenLabel } from "pawl/quality";
import { expect, test } from "vitest";
import { courseOf, labelBy, team } from "../../examples/labeling/labelers.ts";
import { messages, pictures } from "../../examples/labeling/queues.ts";
import { loadMessages, loadPictures } from "../../examples/labeling/samples.ts";
import { tableOf } from "../../examples/labeling/table.ts";
import { build, newProject, root } from "../cli/pawl-command.ts";

const example = join(root, "examples/labeling");

test("the samples of the labeling example can be read, and some of them are gold", async () => {
  for (const [examples, count] of [
    [await loadMessages(), 40],
    [await loadPictures(), 18],
  ] as const) {
    expect(examples).toHaveLength(count);
    expect(new Set(examples.map(({ key }) => key)).size).toBe(count);
    expect(examples.filter(({ isGold }) => isGold).length).toBeGreaterThan(5);
  }
});

test("its labelers say the same for the same seed, and the table names the careless ones", async () => {
  for (const [queue, examples] of [
    [messages, await loadMessages()],
    [pictures, await loadPictures()],
  ] as const) {
    const labels: GivenLabel[] = examples.flatMap((example) =>
      team.flatMap((labeler) => {
        const done = labelBy(labeler, example, 7);
        expect(labelBy(labeler, example, 7)).toEqual(done);
        expect(courseOf(labeler, example.key, 1, 7)).toBe(courseOf(labeler, example.key, 1, 7));
        return "label" in done ? [{ sample: example.key, labeler: labeler.name, label: done.label }] : [];
      }),
    );
    const careless = tableOf(queue, labels, examples)
      .split("\n")
      .filter((line) => line.endsWith("careless"))
      .map((line) => line.trim().split(" ")[0]);
    expect(careless.sort()).toEqual(["eddy", "finn"]);
  }
});

test("its pictures are files that can be looked at", async () => {
  for (const { content } of await loadPictures()) expect(existsSync(join(example, String(content.file)))).toBe(true);
});

test("a reader labels from a terminal what `pawl start` has put into the queues, then the team does the rest", async () => {
  build();
  const project = newProject({});
  const config = ["--config", join(example, "pawl.config.ts"), "--folder", "here"];
  try {
    const running = await project.start(...config);
    expect(running.stdout).toMatch(/Queues +messages +\d+ labels needed\n +pictures +\d+ labels needed/);
    expect(running.stdout).toContain("queue next messages --labeler me --start");
    const next = async (queue: string, ...flags: string[]) =>
      (await project.json<Next>("queue", "next", queue, "--labeler", "me", ...flags, ...config)) as Next;
    const picture = await next("pictures");
    expect(picture).toMatchObject({ assignment: { status: "pending" }, sample: { key: "1-p01" } });
    expect(picture.sample.data).toEqual({
      image: expect.stringMatching(/^data:image\/svg/),
      file: "data/pictures/p01.svg",
    });
    const does = (verb: string, id: string, ...words: string[]) =>
      project.pawl("queue", verb, id, ...words, "--labeler", "me", ...config);
    expect(await does("start", picture.assignment.id)).toMatchObject({ code: 0 });
    expect(await does("skip", picture.assignment.id, "--reason", "too small")).toMatchObject({ code: 0 });
    const text = await next("messages", "--start");
    const hasty = await does("answer", text.assignment.id, '{"mood":"praise","urgency":5}');
    expect(hasty).toMatchObject({ code: 2, stderr: expect.stringContaining(": say why praise cannot wait.") });
    expect(await does("answer", text.assignment.id, '{"mood":"praise","urgency":1}')).toMatchObject({ code: 0 });
    await running.end();
    const { status, stdout, stderr } = simulate("--minute", "60", "--folder", project.path("here"));
    expect([status, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/^ {2}58 samples, 8 labelers · some are begun already/m);
    expect(stdout).toMatch(/^ {2}40 messages: \d+ agreed/m);
    expect(stdout).toMatch(/^ {4}me +1 +\d+ % +1 of 1 /m);
    expect(stdout).toMatch(
      /^ {2}✓ \d+ labels: none too many, none by one person twice; all that is stored is verified\.$/m,
    );
  } finally {
    await project.remove();
  }
}, 120_000);

test("its program says what it can be told", () => {
  const { status, stderr } = simulate("--minute", "soon");
  expect([status, stderr]).toEqual([
    2,
    expect.stringContaining('--minute must be a number from 20 to 60000, not "soon".'),
  ]);
});

interface Next {
  readonly assignment: { readonly id: string };
  readonly sample: { readonly data: unknown };
}

/** Runs the program of the example to its end. */
function simulate(...flags: string[]) {
  build();
  const { DATABASE_URL: _, NODE_OPTIONS: __, ...env } = process.env;
  const tsx = pathToFileURL(join(root, "node_modules/tsx/dist/loader.mjs")).href;
  return spawnSync(process.execPath, ["--import", tsx, join(example, "main.ts"), ...flags], {
    cwd: root,
    env: { ...env, NO_COLOR: "1", TSX_TSCONFIG_PATH: join(root, "tsconfig.base.json") },
    encoding: "utf8",
  });
}
