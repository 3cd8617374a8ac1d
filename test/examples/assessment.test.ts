import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type TestPawl, testPawl } from "pawl/testing";
import { expect, test } from "vitest";
import { assessment } from "../../examples/assessment/assessment.ts";
import { candidatesOf } from "../../examples/assessment/candidates.ts";
import { servicesAt } from "../../examples/assessment/services/clients.ts";
import { Trouble } from "../../examples/assessment/services/trouble.ts";
import { type Stage, setStage } from "../../examples/assessment/stage.ts";
import { build, newProject, root } from "../cli/pawl-command.ts";

const example = join(root, "examples/assessment");
const minuteMs = 100;
const answers = ["two-sum", "knapsack"].map((question) => ({ question, code: `// ${question}` }));

/** An assessment on its real services, with a clock that is moved: a minute of it lasts a tenth of a second. */
class Scene {
  readonly stage: Stage;
  readonly trouble: Trouble;
  readonly t: TestPawl;

  constructor(stage: Stage, trouble: Trouble, t: TestPawl) {
    this.stage = stage;
    this.trouble = trouble;
    this.t = t;
  }

  static async open(faults = 0): Promise<Scene> {
    const trouble = new Trouble({ seed: 1, rate: faults });
    const stage = await setStage(trouble, { minuteMs, patienceMs: 500 });
    const t = await testPawl({ lifecycles: stage.lifecycles, breakers: stage.breakers });
    stage.takeVerdictsTo(t.pawl);
    return new Scene(stage, trouble, t);
  }

  /** An attempt that was completed, by its key. */
  async start(key: string, codes = answers): Promise<void> {
    await this.t.pawl.start(this.stage.attempt, { key, data: { candidate: key, finished: true, answers: codes } });
    await this.t.pawl.send(this.stage.attempt, key, "complete");
  }

  /** All that can be done now, also by the code checker. */
  async settle(): Promise<void> {
    for (let ran = 1; ran > 0; ) {
      ran = await this.t.work();
      await this.stage.checker.idle();
      ran += await this.t.work();
    }
  }

  /** So many minutes, one after the other. */
  async pass(minutes: number): Promise<void> {
    for (let minute = 0; minute < minutes; minute++) {
      await this.settle();
      await this.t.advance(minuteMs);
    }
    await this.settle();
  }

  async state(key: string): Promise<string> {
    return (await this.t.pawl.get(this.stage.attempt, key))!.state;
  }

  async events(key: string): Promise<string[]> {
    return (await this.t.pawl.journal(this.stage.attempt, key)).map(({ event }) => event);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    expect(await this.t.pawl.inspect.verify()).toEqual([]);
    await this.t.close();
    await this.stage.close();
  }
}

test("the whole pipeline leads from a completed attempt to a processed one, with all that was found out on the way", async () => {
  await using s = await Scene.open();
  await s.start("ada", [...answers, { question: "empty", code: " " }]);
  await s.pass(3);
  const ada = (await s.t.pawl.get(s.stage.attempt, "ada"))!;
  expect(ada).toMatchObject({ state: "processed", outcome: "success" });
  const { scores, score, linesOfCode, oddities, similarity } = ada.data;
  expect(Object.keys(scores!)).toEqual(["two-sum", "knapsack"]); // An empty answer is no solve.
  expect(score).toBe(scores!["two-sum"]! + scores!.knapsack!);
  expect([linesOfCode, oddities, similarity]).toEqual([2, expect.any(Number), expect.any(Number)]);
  expect(await s.events("ada")).toEqual([
    "start",
    "complete",
    "clean_up",
    "start_solve_processing",
    "joined",
    "enqueue_plagiarism_index",
    "start_index_for_plagiarism",
    "index_done",
    "store_info",
    "generate_proctoring_results",
    "verify_proctor_results",
    "enqueue_plagiarism_calculation",
    "finish",
  ]);
});

test("with every fifth call going wrong, every attempt is processed in the end or explained, and no verdict taken twice", async () => {
  await using s = await Scene.open(0.2);
  const { attempt, solve, checker } = s.stage;
  const candidates = candidatesOf(10);
  for (const { name, answers: codes } of candidates) await s.start(name, [...codes]);
  const waitForPeople = async () =>
    new Set((await s.t.pawl.deadLetters.list({ lifecycle: attempt })).map(({ instance }) => instance));
  let letters = await waitForPeople();
  for (let minute = 0, left = candidates.length; left > letters.size && minute < 200; minute++) {
    await s.pass(1);
    letters = await waitForPeople();
    left = candidates.length - ((await s.t.pawl.inspect.counts(attempt)).processed ?? 0);
  }
  expect(s.trouble.struck).toBeGreaterThan(10);
  for (const { name } of candidates) {
    const { id, state } = (await s.t.pawl.get(attempt, name))!;
    if (state === "processed") continue;
    expect([state, letters.has(id)]).toEqual(["failed", true]);
    expect((await s.t.pawl.explain(attempt, name)).recovery?.next).toMatchObject({ kind: "person" });
  }
  for (const { id } of await s.t.pawl.list(solve, { state: "checked", limit: 1_000 })) {
    const journal = await s.t.pawl.journal(solve, { id });
    expect(journal.filter(({ event }) => event === "verdict")).toHaveLength(1);
  }
  const keys = checker.scored.map(({ idempotencyKey }) => idempotencyKey);
  expect(new Set(keys).size).toBe(keys.length);
}, 60_000);

test("R23 what the checker died over too often fails its attempt; the recovery resets its runs, and leaves alone what is checked", async () => {
  await using s = await Scene.open();
  const { attempt, solve, checker } = s.stage;
  await s.start("ada", [...answers, { question: "heavy", code: "exhaust(4)" }]);
  await s.pass(10);
  expect(await s.state("ada")).toBe("failed");
  expect((await s.t.pawl.journal(attempt, "ada")).at(-1)).toMatchObject({ reason: "child_failed" });
  expect(await s.t.pawl.get(attempt, "ada")).toMatchObject({
    failure: { reason: "child_failed", error: { message: expect.stringContaining("heavy") } },
  });
  await s.pass(20);
  expect(await s.state("ada")).toBe("processed");
  expect((await s.events("ada")).filter((event) => event === "recover")).toHaveLength(1);
  const { id } = (await s.t.pawl.get(attempt, "ada"))!;
  const solves = await s.t.pawl.list(solve, { parent: { id } });
  expect(solves.reverse().map(({ data }) => [data.question, data.runs])).toEqual([
    ["two-sum", 1],
    ["knapsack", 1],
    ["heavy", 2], // Three in vain, then from 0 on: one in vain, one with a verdict.
  ]);
  expect(checker.scored).toHaveLength(3);
  expect(await s.t.pawl.deadLetters.list({ lifecycle: solve })).toEqual([]);
});

test("R28 R29 R30 it can be restarted, told to process its solves again, and discarded, by hand", async () => {
  await using s = await Scene.open();
  const { attempt, solve, checker } = s.stage;
  await s.start("ada");
  await s.pass(3);
  await s.t.pawl.send(attempt, "ada", "restart", { actor: "grace" });
  await s.pass(3);
  expect(await s.state("ada")).toBe("processed");
  expect((await s.events("ada")).filter((event) => event === "complete")).toHaveLength(2);
  expect(checker.scored).toHaveLength(2 * answers.length);

  await s.start("bob", [{ question: "endless", code: "exhaust(3)" }]);
  await s.pass(10);
  expect(await s.state("bob")).toBe("failed");
  await s.t.pawl.send(attempt, "bob", "reprocess_solves", { actor: "grace" });
  await s.pass(3);
  expect(await s.state("bob")).toBe("processed");

  await s.start("eve");
  await s.t.pawl.send(attempt, "eve", "discard", { actor: "grace" });
  const before = s.trouble.tally("plagiarism index").requests;
  await s.settle();
  expect(await s.state("eve")).toBe("discarded");
  expect(s.trouble.tally("plagiarism index").requests).toBe(before + 1); // It was told to forget her.
  expect(await s.t.pawl.list(solve, { state: "discarded" })).toEqual([]);
});

test("a verdict that comes twice gets its first answer; one that is early or of an earlier run is refused", async () => {
  await using s = await Scene.open();
  const { attempt, solve, addresses } = s.stage;
  const bring = async (verdict: object) => {
    const response = await fetch(addresses.verdicts, { method: "POST", body: JSON.stringify(verdict) });
    return response.status;
  };
  await s.start("ada", [{ question: "endless", code: "exhaust(1)" }]);
  for (const state of ["completed", "attempt_cleanup"]) await (await s.t.claim(`attempt/${state}`)).run();
  const [{ id } = { id: "" }] = await s.t.pawl.list(solve);
  const verdict = { solve: id, runId: "some-run", score: 7 };
  expect(await bring(verdict)).toBe(409); // It is still being submitted.
  await (await s.t.claim("solve/submitting")).run();
  expect(await bring(verdict)).toBe(409);
  const { runId } = (await s.t.pawl.get(solve, { id }))!.data;
  expect(await bring({ ...verdict, runId })).toBe(200);
  expect(await bring({ ...verdict, runId })).toBe(200);
  expect((await s.t.pawl.journal(solve, { id })).map(({ event }) => event)).toEqual(["start", "submitted", "verdict"]);
  await s.settle();
  expect(await s.t.pawl.get(attempt, "ada")).toMatchObject({ data: { scores: { endless: 7 } } });
});

test("its minutes are those of an office unless told otherwise", () => {
  const nowhere = "http://127.0.0.1:9";
  const services = servicesAt({ checker: nowhere, plagiarism: nowhere, proctoring: nowhere, verdicts: nowhere });
  const { attempt } = assessment(services);
  expect(attempt.recovery).toMatchObject({ maxFailures: 3, after: 10 * 60_000 });
  expect(attempt.states.get("score_calculated")?.release).toMatchObject({ interval: 60_000, limit: 500 });
});

test("`pawl check` has nothing to say against it", async () => {
  build();
  const project = newProject({});
  try {
    const config = ["--config", join(example, "pawl.config.ts")];
    expect(await project.pawl("check", ...config)).toMatchObject({ code: 0, stderr: "" });
    const { stdout } = await project.pawl("diagram", "attempt", ...config);
    expect(stdout).toContain("  failed --> additional_attempt_info_stored: retry_verify_proctor_results\n");
  } finally {
    await project.remove();
  }
}, 120_000);

test("the simulation shows its way, ends by itself, and explains what it could not process", () => {
  build();
  const folder = mkdtempSync(join(tmpdir(), "pawl-assessment-"));
  const { DATABASE_URL: _, NODE_OPTIONS: __, ...env } = process.env;
  const tsx = pathToFileURL(join(root, "node_modules/tsx/dist/loader.mjs")).href;
  const flags = ["--attempts", "20", "--minute", "100", "--folder", folder];
  const run = spawnSync(process.execPath, ["--import", tsx, join(example, "main.ts"), ...flags], {
    cwd: root,
    env: { ...env, NO_COLOR: "1", TSX_TSCONFIG_PATH: join(root, "tsconfig.base.json") },
    encoding: "utf8",
  });
  rmSync(folder, { recursive: true, force: true });
  expect([run.status, run.stderr]).toEqual([0, ""]);
  expect(run.stdout).toMatch(/^ {2}20 attempts · 10 % of all calls go wrong · a minute lasts 0.1 s$/m);
  expect(run.stdout).toMatch(/^0 s, answers scored 0, faults \d+, recoveries 0, alerts 0: created 20$/m);
  expect(run.stdout).toMatch(/^ {2}20 attempts: \d+ processed, \d+ left to a person, and explained\.$/m);
  expect(run.stdout).toMatch(/^ {2}faults injected +\d+$/m);
  expect(run.stdout).toMatch(/^ {2}moves in the journal +\d+ {2}verified$/m);
  expect(run.stdout.replace(/\s+/g, " ")).toContain("A recovery now would be refused: the candidate is still working.");
}, 120_000);
