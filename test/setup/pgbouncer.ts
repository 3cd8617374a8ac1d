import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { foldersWith, run } from "./find-program.ts";
import { freePort, keepServer, makeFolder, removeFolder } from "./keep.ts";
import { accepts } from "./postgres.ts";
import type { RunningService, Service } from "./service.ts";

/** A pooler in transaction mode before the tests' PostgreSQL: what breaks when an engine leans on its session. */
export const pgbouncer: Service = {
  name: "PgBouncer",
  required: false,
  needs: ["PAWL_TEST_POSTGRES_URL"],
  packages: ["pgbouncer"],
  howToGet: "install pgbouncer (apt install pgbouncer, brew install pgbouncer)",
  async find() {
    if (process.platform === "win32") return undefined;
    const folder = foldersWith("pgbouncer", ["/opt/homebrew/bin"])[0];
    return folder === undefined
      ? undefined
      : (env) => start(join(folder, "pgbouncer"), env.PAWL_TEST_POSTGRES_URL ?? "");
  },
};

async function start(program: string, behind: string): Promise<RunningService> {
  const { stdout } = await run(program, ["--version"]);
  const folder = makeFolder();
  try {
    const port = await freePort();
    const config = join(folder, "pgbouncer.ini");
    writeFileSync(config, configOf(new URL(behind), port));
    const url = `postgres://${new URL(behind).username}@127.0.0.1:${port}/postgres`;
    // It holds nothing that a kill could spoil, and what its other signals mean differs between versions.
    const kept = keepServer(folder, "KILL", [program, config]);
    if (!(await accepts(url, kept))) throw new Error(`PgBouncer did not start:\n${kept.log()}`);
    return {
      about: `PgBouncer ${/\d+\.\d+\.\d+/.exec(stdout)?.[0]}, private, at 127.0.0.1:${port}, transaction mode`,
      env: { PAWL_TEST_PGBOUNCER_URL: url },
      async stop() {
        kept.send("KILL");
        await kept.gone;
        await removeFolder(folder);
      },
    };
  } catch (error) {
    await removeFolder(folder);
    throw error;
  }
}

/** A small pool, so that clients really share connections and a session that is leaned on is soon another's. */
function configOf(behind: URL, port: number): string {
  const user = quoted(behind.username);
  const password = behind.password === "" ? "" : ` password=${quoted(behind.password)}`;
  return `
[databases]
* = host=${behind.hostname} port=${behind.port || 5432} user=${user}${password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 4
max_client_conn = 500
`;
}

function quoted(part: string): string {
  return `'${decodeURIComponent(part).replaceAll("'", "''")}'`;
}
