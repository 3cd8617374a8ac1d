import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type PostgresServer, startPostgres } from "../../setup/postgres.ts";
import { build, newProject, type PawlCommand, type Project } from "../pawl-command.ts";

const config = `
import { defineConfig, job } from "pawl";

const mail = job("mail", { run: (step) => console.log("mailed " + step.key) });

export default defineConfig({ lifecycles: [mail] });
`;

describe.skipIf(process.env.PAWL_TEST_PG_BIN === undefined)("a process that is started before its database", () => {
  let server: PostgresServer;
  let project: Project;
  beforeAll(async () => {
    build();
    server = await startPostgres();
    project = newProject({ "pawl.config.mjs": config });
  }, 180_000);
  afterAll(async () => {
    await project?.remove();
    await server?.stop();
  });

  const begin = (...args: string[]): PawlCommand => project.begin(args, { DATABASE_URL: server.url });

  test.each([
    ["work", "concurrency"],
    ["start", "Press Ctrl-C"],
  ])(
    "A58 pawl %s waits for it with a log line, then works",
    async (command, ready) => {
      await server.crash();
      const waiting = begin(command);
      await waiting.says("Retrying in 1 s; --no-wait exits instead.");
      await server.restart();
      await waiting.says(ready);
      expect(await begin("jobs", "enqueue", "mail", "--key", command).ended).toMatchObject({ code: 0 });
      await waiting.says(`mailed ${command}`);
      expect(await waiting.end()).toMatchObject({ code: 0 });
    },
    120_000,
  );

  test("A58 SIGTERM ends the waiting, and --no-wait exits with the code of an unreachable database", async () => {
    await server.crash();
    const waiting = begin("work");
    await waiting.says("Retrying in");
    expect(await waiting.end()).toMatchObject({ code: 0 });
    const ends = ["work", "relay", "serve", "start"].map((command) => begin(command, "--no-wait").ended);
    for (const ended of await Promise.all(ends)) expect(ended).toMatchObject({ code: 6 });
    await server.restart();
  }, 120_000);
});
