import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { Client } from "pg";
import { foldersWith, inEach, run } from "./find-program.ts";
import { freePort, type KeptServer, keepServer, makeFolder, removeFolder, unprivileged } from "./keep.ts";
import type { RunningService, Service, Start } from "./service.ts";

const oldest = 14;

type Settings = Readonly<Record<string, string | number>>;

export interface PostgresOptions {
  /** Syncs to the disk as a real server does. Without it a crash of the machine would lose data, and tests are fast. */
  readonly durable?: boolean;
  /** More settings, or others than the ones below. */
  readonly settings?: Settings;
  /** Begins as a standby of this server, which streams from it. */
  readonly standbyOf?: PostgresServer;
  /** The parent of the data folder. By default the system's temporary folder. */
  readonly parent?: string;
}

export interface PostgresServer {
  /** Of the superuser, on the database `postgres`. */
  readonly url: string;
  readonly version: string;
  readonly binFolder: string;
  readonly dataFolder: string;
  /** Ends it without a checkpoint and without a word to its clients, as `kill -9` of all its processes would. */
  crash(): Promise<void>;
  /** Ends its main process by SIGKILL, as a machine that loses its power would. */
  kill(): Promise<void>;
  /** Ends it in order, its clients too. */
  halt(): Promise<void>;
  /** Starts it again after it ended: same data, same port; with more settings, if given. */
  restart(settings?: Settings): Promise<void>;
  /** Replaces its data by those of another server, and starts it as its standby on the same port. */
  restartAsStandbyOf(primary: PostgresServer): Promise<void>;
  /** Ends it for good and removes its data. */
  stop(): Promise<void>;
}

const always = { max_connections: 300, shared_buffers: "256MB", jit: "off", autovacuum: "on" };
const forgetful = { fsync: "off", synchronous_commit: "off", full_page_writes: "off" };

/**
 * A PostgreSQL of one's own on a free port of loopback; it ends with this process at the latest.
 *
 * ```ts
 * const server = await startPostgres({ durable: true });
 * await server.crash();
 * await server.restart();
 * await server.stop();
 * ```
 */
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const installed = await findPostgres();
  if (installed === undefined) throw new Error(`PostgreSQL is missing: ${postgres.howToGet}.`);
  const folder = makeFolder(options.parent);
  try {
    return await startIn(folder, installed, options);
  } catch (error) {
    await removeFolder(folder);
    throw error;
  }
}

async function startIn(folder: string, installed: Installed, options: PostgresOptions): Promise<PostgresServer> {
  const dataFolder = join(folder, "data");
  if (options.standbyOf === undefined) await createCluster(installed, dataFolder, options.durable ?? false);
  else await copyCluster(installed, dataFolder, options.standbyOf);
  let { port, kept } = await serve(folder, installed, options, undefined);
  async function end(signal: "INT" | "QUIT" | "KILL"): Promise<void> {
    if (!kept.isGone()) kept.send(signal);
    await kept.gone;
  }
  return {
    url: urlOf(port),
    version: installed.version,
    binFolder: installed.binFolder,
    dataFolder,
    crash: () => end("QUIT"),
    kill: () => end("KILL"),
    halt: () => end("INT"),
    async restart(settings = {}) {
      const again = { ...options, settings: { ...options.settings, ...settings } };
      ({ port, kept } = await serve(folder, installed, again, port));
    },
    async restartAsStandbyOf(primary) {
      await end("QUIT");
      await rm(dataFolder, { recursive: true, maxRetries: 10 });
      await copyCluster(installed, dataFolder, primary);
      ({ port, kept } = await serve(folder, installed, options, port));
    },
    async stop() {
      await end("QUIT");
      await removeFolder(folder);
    },
  };
}

async function createCluster(installed: Installed, dataFolder: string, durable: boolean): Promise<void> {
  const command = ["--pgdata", dataFolder, "--username", "postgres", "--auth", "trust"];
  command.push("--encoding", "UTF8", "--locale", "C");
  if (!durable) command.push("--no-sync");
  await run(join(installed.binFolder, "initdb"), command, unprivileged());
}

async function copyCluster(installed: Installed, dataFolder: string, primary: PostgresServer): Promise<void> {
  const command = ["--pgdata", dataFolder, "--dbname", primary.url, "--write-recovery-conf", "--wal-method", "stream"];
  command.push("--checkpoint", "fast", "--no-sync");
  await run(join(installed.binFolder, "pg_basebackup"), command, unprivileged());
}

interface Serving {
  readonly port: number;
  readonly kept: KeptServer;
}

/** Another process may take a free port before it is bound, so a new one is tried a few times. */
async function serve(
  folder: string,
  installed: Installed,
  options: PostgresOptions,
  samePort: number | undefined,
): Promise<Serving> {
  for (let left = 3; ; left--) {
    const port = samePort ?? (await freePort());
    const kept = keepServer(folder, "QUIT", [
      join(installed.binFolder, "postgres"),
      "-D",
      join(folder, "data"),
      ...settingsOf(options, folder, port).flatMap(([name, value]) => ["-c", `${name}=${value}`]),
    ]);
    if (await accepts(urlOf(port), kept)) return { port, kept };
    const log = kept.log();
    if (left > 1 && samePort === undefined && log.includes("could not bind")) continue;
    // Killed a moment ago: its last processes are about to notice.
    if (left > 1 && log.includes("is still in use")) {
      await pause(500);
      continue;
    }
    throw new Error(`PostgreSQL did not start:\n${log.split("\n").slice(-12).join("\n")}`);
  }
}

function settingsOf(options: PostgresOptions, folder: string, port: number): [string, string | number][] {
  const place = { port, listen_addresses: "127.0.0.1", unix_socket_directories: folder };
  return Object.entries({ ...always, ...(options.durable ? {} : forgetful), ...options.settings, ...place });
}

function urlOf(port: number): string {
  return `postgres://postgres@127.0.0.1:${port}/postgres`;
}

/** Whether the server accepted a connection before it ended, or before half a minute. */
export async function accepts(url: string, kept: KeptServer): Promise<boolean> {
  const giveUpAt = Date.now() + 30_000;
  while (!kept.isGone() && Date.now() < giveUpAt) {
    if (await answers(url)) return true;
    await Promise.race([pause(10), kept.gone]);
  }
  if (!kept.isGone()) kept.send("KILL");
  await kept.gone;
  return false;
}

async function answers(url: string): Promise<boolean> {
  try {
    await ask(url, "select 1");
    return true;
  } catch {
    return false;
  }
}

async function ask(url: string, question: string): Promise<string> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  client.on("error", () => {}); // Also reported as the rejection of the call.
  try {
    await client.connect();
    const { rows } = await client.query({ text: question, rowMode: "array" });
    return String(rows[0]?.[0]);
  } finally {
    await client.end();
  }
}

interface Installed {
  readonly binFolder: string;
  readonly version: string;
}

/** Looked up each time: the first search may be followed by an installation. */
const places = () => [
  ...inEach("/usr/lib/postgresql", "", "bin"), // Debian, Ubuntu
  ...inEach("/usr", "pgsql-", "bin"), // Red Hat
  ...inEach("/opt/homebrew/opt", "postgresql", "bin"),
  ...inEach("/usr/local/opt", "postgresql", "bin"),
  ...inEach("/Applications/Postgres.app/Contents/Versions", "", "bin"),
];

/** The newest one installed; `PAWL_TEST_PG_BIN` names another. */
async function findPostgres(): Promise<Installed | undefined> {
  if (process.platform === "win32") return undefined; // No /bin/sh to keep it; DATABASE_URL works.
  const named = process.env.PAWL_TEST_PG_BIN;
  const folders = named === undefined ? foldersWith("postgres", places()) : [named];
  const whole = folders.filter((folder) => existsSync(join(folder, "initdb")));
  const found = await Promise.all(whole.map(async (binFolder) => ({ binFolder, version: await versionIn(binFolder) })));
  const usable = found.filter(({ version }) => Number.parseInt(version, 10) >= oldest);
  return usable.sort((one, other) => other.version.localeCompare(one.version, "en", { numeric: true }))[0];
}

async function versionIn(binFolder: string): Promise<string> {
  const { stdout } = await run(join(binFolder, "postgres"), ["--version"]);
  return /\d+(?:\.\d+)?/.exec(stdout)?.[0] ?? "0";
}

export const postgres: Service = {
  name: "PostgreSQL",
  required: true,
  needs: [],
  packages: ["postgresql"],
  howToGet: `install PostgreSQL ${oldest} or newer (apt install postgresql, brew install postgresql), or set DATABASE_URL`,
  async find(): Promise<Start | undefined> {
    const given = process.env.DATABASE_URL;
    const installed = await findPostgres();
    // Even with a given server: fault tests crash one of their own.
    const env = { PAWL_TEST_PG_BIN: installed?.binFolder };
    if (given !== undefined && given !== "") return () => useGiven(given, env);
    return installed === undefined ? undefined : () => startPrivate(env);
  },
};

/** An external server. Tests get it by our name only, so that no code under test falls back to it. */
async function useGiven(url: string, env: Record<string, string | undefined>): Promise<RunningService> {
  const version = await ask(url, "show server_version").catch((error: Error) => {
    throw new Error(`The server of DATABASE_URL cannot be used: ${error.message}.`, { cause: error });
  });
  if (Number.parseInt(version, 10) < oldest)
    throw new Error(`DATABASE_URL is PostgreSQL ${version}; ${oldest} is needed.`);
  return {
    about: `PostgreSQL ${version}, the one of DATABASE_URL, at ${new URL(url).host}`,
    env: { ...env, PAWL_TEST_POSTGRES_URL: url, DATABASE_URL: undefined },
    stop: async () => {},
  };
}

async function startPrivate(env: Record<string, string | undefined>): Promise<RunningService> {
  const server = await startPostgres();
  return {
    about: `PostgreSQL ${server.version}, private, at ${new URL(server.url).host}, data in ${server.dataFolder}`,
    env: { ...env, PAWL_TEST_POSTGRES_URL: server.url, PAWL_TEST_PG_DATA: server.dataFolder },
    stop: () => server.stop(),
  };
}
