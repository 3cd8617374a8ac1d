import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Client } from "pg";
import { expect, test } from "vitest";
import { startPostgres } from "./postgres.ts";
import { onOwnPostgres } from "./suites.ts";

onOwnPostgres("a PostgreSQL of a test's own", () => {
  test("keeps what was committed when it crashes", async () => {
    const server = await startPostgres({ durable: true, settings: { work_mem: "5MB" } });
    try {
      expect(await ask(server.url, "select current_setting('fsync') || current_setting('work_mem') as answer")).toBe(
        "on5MB",
      );
      await ask(server.url, "create table kept as select 'safe' as answer");
      await server.crash();
      await expect(ask(server.url, "select answer from kept")).rejects.toThrow("ECONNREFUSED");
      await server.restart();
      expect(await ask(server.url, "select answer from kept")).toBe("safe");
    } finally {
      await server.stop();
    }
    expect(existsSync(server.dataFolder)).toBe(false);
  });

  test("goes with the process that started it, even one that is killed", async () => {
    const file = pathToFileURL(join(import.meta.dirname, "postgres.ts")).href;
    const program = `const { startPostgres } = await import("${file}"); process.send(await startPostgres());`;
    const args = ["--import", "tsx", "--input-type=module", "--eval", program];
    const owner = spawn(process.execPath, args, { stdio: ["ignore", "inherit", "inherit", "ipc"] });
    const [server] = (await once(owner, "message")) as [{ url: string; dataFolder: string }];
    expect(await ask(server.url, "select 'here' as answer")).toBe("here");
    owner.kill("SIGKILL");
    await expect.poll(() => existsSync(server.dataFolder), { timeout: 10_000 }).toBe(false);
    await expect(ask(server.url, "select 1")).rejects.toThrow("ECONNREFUSED");
  });
});

async function ask(url: string, question: string): Promise<string | undefined> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ answer: string }>(question);
    return rows[0]?.answer;
  } finally {
    await client.end();
  }
}
