import { join } from "node:path";
import { createPawl, lifecycle } from "pawl";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, vi } from "vitest";
import { type PostgresServer, startPostgres } from "../setup/postgres.ts";
import { onOwnPostgres } from "../setup/suites.ts";
import { breaking } from "./ways.ts";

const parcel = lifecycle("parcel", {
  initial: "packed",
  states: { packed: { forever: true, on: { sent: "done" } }, done: { final: "success" } },
});

onOwnPostgres("a server that asks for passwords", () => {
  let server: PostgresServer;
  let target: { host: string; port: number; user: string; database: string };
  beforeAll(async () => {
    server = await startPostgres();
    const admin = new pg.Client({ connectionString: server.url });
    await admin.connect();
    await admin.query("create role ada login superuser password 'open'");
    await admin.query(
      `copy (select 'host all postgres 127.0.0.1/32 trust' union all
      select 'host all all 127.0.0.1/32 scram-sha-256') to '${join(server.dataFolder, "pg_hba.conf")}'`,
    );
    await admin.query("select pg_reload_conf()");
    await admin.end();
    const { hostname, port } = new URL(server.url);
    target = { host: hostname, port: Number(port), user: "ada", database: "postgres" };
    // The server reads its file a moment after it was told to.
    const wrong = new pg.Pool({ ...target, password: "wrong" });
    await vi.waitFor(() => expect(wrong.query("select 1")).rejects.toThrow("password"), { timeout: 30_000 });
    await wrong.end();
  }, 120_000);
  afterAll(() => server.stop());

  describe("a function that returns the password", () => {
    breaking("DatabaseOptions.password", async (_how, password) => {
      const opening = () => createPawl({ database: { ...target, password }, lifecycles: [parcel], logger: false });
      await expect(opening()).rejects.toMatchObject({ code: "database_unreachable" });
      // What comes later is not harmed: a password that is right opens it.
      await (
        await createPawl({ database: { ...target, password: "open" }, lifecycles: [parcel], logger: false })
      ).close();
    });
  });
});
