import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Call, callOver } from "../../src/cli/transport/client.ts";
import { overSocket } from "../../src/cli/transport/socket-carrier.ts";
import { build, newProject, type Project } from "./pawl-command.ts";

/** What workers answer is told with the question, so that each test says what comes in. */
const config = `
import { crowd, defineConfig } from "pawl";
import { memoryMarketplace } from "pawl/testing";
import { z } from "zod";

const market = memoryMarketplace();
const publish = market.publish.bind(market);
market.publish = async (posting, call) => {
  const job = await publish(posting, call);
  for (const [worker, total] of Object.entries(posting.content.read)) market.workers.work(job.id, worker, { total });
  return job;
};

const receipts = crowd("receipts", {
  label: z.object({ total: z.number() }),
  marketplace: "memory",
  submissions: 2,
  autoApprove: false,
  onSubmitted: ({ label }) => {
    if (label.total < 0) throw new Error("no receipt is below nought");
  },
});
export default defineConfig({ lifecycles: [], crowds: [receipts], marketplaces: { memory: market } });
`;

interface Submission {
  readonly id: string;
}

let project: Project;

beforeAll(async () => {
  build();
  project = newProject({ "pawl.config.mjs": config });
}, 120_000);
afterAll(() => project.remove());

describe("a crowd from a terminal, with the process that has its marketplace", () => {
  let call: Call;
  beforeAll(async () => {
    const running = await project.start();
    expect(running.stdout).toContain("crowd ask receipts --content '{…}'");
    call = callOver((await overSocket(project.path(".pawl/db.sock")))!);
  });

  function until(id: string, ...states: string[]): Promise<unknown> {
    return call("wait", { id, until: states });
  }

  /** What its workers have submitted is there, and waits for a person. */
  async function takenIn(id: string): Promise<Submission[]> {
    await until(id, "running");
    const found = await call("submissionsOfJob", { id });
    await Promise.all(found.map((one) => until(one.id, "pending_approval", "errored")));
    return found;
  }

  test("it is asked, looked at, approved and finished; asking twice asks once", async () => {
    const asking = ["crowd", "ask", "receipts", "--key", "r-1", "--content"];
    const { id } = await project.json<{ id: string }>(...asking, '{"read":{"W1":12.5,"W2":12.5}}');
    await until(id, "running");
    expect(await project.json("crowd", "sync", "receipts/r-1")).toMatchObject({ id, state: "syncing" });
    const [one, other] = await takenIn(id);
    const [listed, again, jobs, show] = await Promise.all([
      project.json("crowd"),
      project.pawl(...asking, "{}"),
      project.pawl("crowd", "jobs"),
      project.json("crowd", "show", id),
    ]);
    expect(listed).toEqual([
      {
        name: "receipts",
        marketplace: "memory",
        title: "the in-memory marketplace",
        paysBonuses: true,
        sandbox: false,
        jobs: { running: 1 },
        submissions: { pending_approval: 2 },
      },
    ]);
    expect(again).toMatchObject({ code: 0, stdout: `${id}  already exists; it is running\n` });
    expect(jobs.stdout).toMatch(/^receipts\tr-1\trunning\t2\t0\t0\t/m);
    expect(show).toMatchObject({ key: "r-1", submissions: [{ id: one!.id, label: { total: 12.5 } }, {}] });
    const approved = await project.pawl("crowd", "approve", one!.id, "--actor", "ada");
    expect(approved).toMatchObject({ code: 0, stdout: expect.stringContaining("\tapproving\t") });
    await call("approveSubmission", { id: other!.id });
    await until(id, "finished");
    const [bonus, twice, closed] = await Promise.all([
      project.pawl("crowd", "bonus", one!.id, "--amount", "0.50", "--reason", "Quick."),
      project.pawl("crowd", "approve", one!.id),
      project.pawl("crowd", "close", "receipts/r-1"),
    ]);
    expect(bonus).toMatchObject({ code: 0, stdout: expect.stringContaining("bonus of 0.50 queued") });
    expect([twice.code, closed.code]).toEqual([4, 4]);
  }, 60_000);

  test("what its check cannot decide waits for a person, who has it looked at again, or rejects it", async () => {
    const { id: job } = (await call("askCrowd", {
      crowd: "receipts",
      key: "r-2",
      content: { read: { W: -1 } },
    })) as {
      id: string;
    };
    await until(job, "running");
    await call("syncCrowdJob", { id: job });
    const [{ id } = { id: "" }] = await takenIn(job);
    const [found, none, wrong] = await Promise.all([
      project.pawl("crowd", "submissions", "--job", "receipts/r-2"),
      project.pawl("crowd", "reject", id),
      project.pawl("crowd", "submissions", "receipts", "--state", "erored"),
    ]);
    expect(found.stdout).toMatch(/\tW\terrored\t.*\t\{"total":-1\}\tno receipt is below nought$/m);
    expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining("--feedback") });
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining("errored") });
    expect(await project.json("crowd", "retry", id)).toMatchObject({ id, state: "submitted" });
    await until(id, "errored");
    const rejected = await project.json("crowd", "reject", id, "--feedback", "It is below nought.");
    expect(rejected).toMatchObject({ state: "rejecting", feedback: "It is below nought." });
  }, 60_000);

  test("marketplaces are asked for their balance and compared with what is known here; exit codes tell what is unknown", async () => {
    const [balance, unknown, astray, repaired, nobody] = await Promise.all([
      project.json("crowd", "balance"),
      project.pawl("crowd", "balance", "mturk"),
      project.pawl("crowd", "reconcile"),
      project.pawl("crowd", "reconcile", "--repair"),
      project.pawl("crowd", "show", "receipts/r-99"),
    ]);
    expect(balance).toEqual([{ marketplace: "memory", balance: null }]);
    expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining("Known marketplaces: memory") });
    for (const one of [astray, repaired])
      expect(one).toMatchObject({ code: 0, stdout: "No discrepancies.\n", stderr: "" });
    expect(nobody).toMatchObject({ code: 3, stderr: expect.stringContaining("found by its id.\n") });
  }, 60_000);
});

describe("`pawl check`", () => {
  test("tells which crowds there are, and what keeps one from being asked", async () => {
    project.write({
      "lost.config.mjs": config.replace('marketplace: "memory"', 'marketplace: "mturk"'),
      "none.config.mjs": config.replace("{ memory: market }", "{ memory: 5 }"),
      "list.config.mjs": config.replace("[receipts]", '["receipts"]'),
    });
    const check = (file: string) => project.pawl("check", "--config", file);
    const [sound, lost, none, list] = await Promise.all([
      project.pawl("check"),
      check("lost.config.mjs"),
      check("none.config.mjs"),
      check("list.config.mjs"),
    ]);
    expect(sound).toMatchObject({ code: 0, stdout: "✓ receipts  crowd on memory, 2 submissions per job\n" });
    expect(lost).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("uses the marketplace `mturk`, which is not in"),
    });
    expect(none).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("`marketplaces.memory` is not a marketplace"),
    });
    expect(list).toMatchObject({ code: 1, stderr: expect.stringContaining('has "receipts" as crowds[0]') });
  }, 60_000);
});
