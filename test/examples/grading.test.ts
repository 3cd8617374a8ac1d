import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { memoryBroker, testPawl } from "pawl/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { callbackReader } from "../../examples/grading/callback.ts";
import { submissionLifecycle } from "../../examples/grading/submission.ts";
import { build, newProject, root } from "../cli/pawl-command.ts";
import { onOwnRabbitmq } from "../setup/suites.ts";

const example = join(root, "examples/grading");
const made: string[] = [];

beforeAll(build, 120_000);
afterAll(() => {
  for (const folder of made) rmSync(folder, { recursive: true, force: true });
});

test("a request goes out with the move; a grade in time counts, a late one is kept and may be accepted, an error is asked again", async () => {
  const submission = submissionLifecycle();
  const broker = memoryBroker();
  const t = await testPawl({ lifecycles: [submission], outbox: { brokers: [broker] } });
  const read = callbackReader(submission);
  try {
    const keys = ["ada", "ben", "cem"];
    for (const key of keys) await t.pawl.start(submission, { key, data: { skill: "writing", text: key } });
    const asked = async () => {
      await t.work();
      await t.relay();
      return broker.messages.map(({ body }) => JSON.parse(body) as { requestId: string; submissionId: string });
    };
    const [ada, ben, cem] = await asked();
    const bring = (json: object) => {
      const {
        payload,
        dedupeKey: dedupe = "",
        event,
      } = read(json) as unknown as { payload: never; dedupeKey?: string; event: "graded" };
      const { submissionId: id } = json as { submissionId: string };
      return t.pawl.receive(submission, { id }, event, payload, { dedupeKey: dedupe });
    };
    const grade = { status: "completed", score: 7.5, feedback: "Well put." };
    expect(await bring({ ...ada, ...grade })).toMatchObject({ accepted: true, late: false });
    expect(await bring({ ...ada, ...grade })).toMatchObject({ duplicate: true });
    await expect(bring({ ...ben, ...grade, score: "very good" })).rejects.toMatchObject({ code: "payload_invalid" });
    expect(() => read({ ...ben, status: "who knows" })).toThrow();
    const { error } = read({ ...cem, status: "failed", error: { message: "no idea" } });
    await t.pawl.callbacks.receiveError(submission, "cem", "graded", error!, { dedupeKey: "cem" });
    await t.advance("2m");
    const [again] = (await asked()).slice(3);
    expect([again!.submissionId, again!.requestId === cem!.requestId]).toEqual([cem!.submissionId, false]);
    await t.advance("18m");
    expect(await t.pawl.get(submission, "ben")).toMatchObject({ state: "failed" });
    const late = await bring({ ...ben, ...grade });
    expect(late).toMatchObject({ accepted: true, late: true });
    expect(await t.pawl.get(submission, "ben")).toMatchObject({ state: "failed" });
    const accepted = await t.pawl.callbacks.acceptLate(late.id, { actor: "grace" });
    expect(accepted).toMatchObject({ state: "scored", data: { score: 7.5 } });
    expect(await t.pawl.inspect.verify()).toEqual([]);
  } finally {
    await t.close();
  }
});

test("with a grader that is all that a grader can be, every submission is graded in the end or explained", async () => {
  const { code, stdout, stderr } = await simulate("--broker", "memory", "--submissions", "36", "--minute", "50");
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout).toMatch(/^ {2}36 submissions · in memory · a minute lasts 0.05 s$/m);
  expect(stdout).toMatch(/the grader was killed, with \d+ open requests$/m);
  expect(stdout).toMatch(/^ {2}writing +24 +\d+ +\d+ +\d+ +\d+$/m);
  expect(stdout).toMatch(/^ {2}\d+ failed: deadline\.$/m);
  expect(stdout).toMatch(
    /^ {2}✓ Of 36 submissions none is lost and none was graded twice; all that is stored is verified\.$/m,
  );
}, 60_000);

onOwnRabbitmq("over RabbitMQ, with the grader as a process of its own", () => {
  test("what a killed grader had in hand comes again, and nothing is graded twice", async () => {
    const flags = ["--broker", "rabbitmq", "--submissions", "18", "--minute", "150", "--trouble", "slow,down"];
    const { code, stdout, stderr } = await simulate(...flags);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/^ {2}18 submissions · RabbitMQ [\d.]+, started for this · a minute lasts 0.15 s$/m);
    expect(stdout).toMatch(/^ {2}taken by it +\d+ {2}it was killed with \d+ open requests, which came again$/m);
    expect(stdout).toMatch(/^ {2}✓ Of 18 submissions none is lost and none was graded twice; /m);
  }, 120_000);
});

test("`pawl check` has nothing to say against it, and its program says what it can be told", async () => {
  const project = newProject({});
  try {
    const [checked, wrong] = await Promise.all([
      project.pawl("check", "--config", join(example, "pawl.config.ts")),
      simulate("--trouble", "slow,absent"),
    ]);
    expect(checked).toMatchObject({ code: 0, stderr: "" });
    const said = '--trouble must be some of none, slow, down, limited, wrong, late, not "absent".';
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining(said) });
  } finally {
    await project.remove();
  }
}, 60_000);

/** Runs the program of the example to its end. */
function simulate(...flags: string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const folder = mkdtempSync(join(tmpdir(), "pawl-grading-"));
  made.push(folder);
  const { DATABASE_URL: _, NODE_OPTIONS: __, PAWL_AMQP_URL: ___, ...env } = process.env;
  const tsx = pathToFileURL(join(root, "node_modules/tsx/dist/loader.mjs")).href;
  const child = spawn(process.execPath, ["--import", tsx, join(example, "main.ts"), ...flags, "--folder", folder], {
    cwd: root,
    env: { ...env, NO_COLOR: "1", TSX_TSCONFIG_PATH: join(root, "tsconfig.base.json") },
  });
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (text) => {
    stdout += text;
  });
  child.stderr.on("data", (text) => {
    stderr += text;
  });
  return new Promise((resolve) => child.on("close", (code) => resolve({ code, stdout, stderr })));
}
