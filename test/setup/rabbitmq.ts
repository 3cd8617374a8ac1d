import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { connect } from "amqplib";
import { foldersWith, inEach, run } from "./find-program.ts";
import { freePort, type KeptServer, keepServer, makeFolder, removeFolder, unprivileged } from "./keep.ts";
import type { RunningService, Service, Start } from "./service.ts";

export interface RabbitmqServer {
  readonly url: string;
  readonly version: string;
  /** Ends it as `kill -9` does. */
  crash(): Promise<void>;
  /** Starts it again after `crash`: same data, same port. */
  restart(): Promise<void>;
  /** Runs `rabbitmqctl`, which takes a second or two. */
  control(...args: readonly string[]): Promise<string>;
  /**
   * Syncs the list of quorum queues to disk. RabbitMQ itself does so seconds after one was declared, and a queue that
   * is missing there after a crash accepts nothing.
   */
  rememberQueues(): Promise<void>;
  /** Ends it permanently and deletes its data. */
  stop(): Promise<void>;
}

const folders = () =>
  foldersWith("rabbitmq-server", [
    "/usr/lib/rabbitmq/bin",
    ...inEach("/usr/lib/rabbitmq/lib", "rabbitmq_server", "sbin"),
    "/opt/homebrew/opt/rabbitmq/sbin",
    "/usr/local/opt/rabbitmq/sbin",
  ]);

/**
 * A RabbitMQ of one's own on free ports of loopback; it ends with this process at the latest. It is kept small: one
 * scheduler, no plugins, a short log for quorum queues.
 */
export async function startRabbitmq(options: { schedulers?: number } = {}): Promise<RabbitmqServer> {
  const binFolder = folders()[0];
  if (binFolder === undefined) throw new Error(`RabbitMQ is missing: ${rabbitmq.howToGet}.`);
  const folder = makeFolder();
  const registry = await startRegistry(folder);
  try {
    const place = await placeOf(folder, binFolder, registry.port, options.schedulers ?? 1);
    let kept = await serve(place);
    const end = async (): Promise<void> => {
      if (!kept.isGone()) kept.send("KILL");
      await kept.gone;
    };
    const control = async (...args: readonly string[]): Promise<string> => {
      const env = { ...process.env, ...place.env };
      const { stdout } = await run(join(binFolder, "rabbitmqctl"), ["-q", ...args], { ...unprivileged(), env });
      return stdout;
    };
    return {
      url: place.url,
      version: await versionOf(place.url),
      crash: end,
      async restart() {
        kept = await serve(place);
      },
      control,
      async rememberQueues() {
        await control("eval", "[ok = dets:sync(Table) || Table <- dets:all()].");
      },
      async stop() {
        await end();
        await registry.stop();
        await removeFolder(folder);
      },
    };
  } catch (error) {
    await registry.stop();
    await removeFolder(folder);
    throw error;
  }
}

interface Place {
  readonly url: string;
  readonly folder: string;
  readonly program: string;
  readonly env: Readonly<Record<string, string>>;
}

async function placeOf(folder: string, binFolder: string, registryPort: number, schedulers: number): Promise<Place> {
  const port = await freePort();
  writeFileSync(join(folder, "rabbitmq.conf"), settingsOf(port));
  writeFileSync(join(folder, "enabled_plugins"), "[].\n");
  return {
    url: `amqp://guest:guest@127.0.0.1:${port}`,
    folder,
    program: join(binFolder, "rabbitmq-server"),
    env: {
      HOME: folder, // Its cookie.
      ERL_EPMD_PORT: String(registryPort),
      ERL_EPMD_ADDRESS: "127.0.0.1",
      RABBITMQ_NODENAME: `pawl${port}@localhost`,
      RABBITMQ_DIST_PORT: String(await freePort()),
      RABBITMQ_MNESIA_BASE: join(folder, "data"),
      RABBITMQ_LOG_BASE: join(folder, "log"),
      RABBITMQ_CONFIG_FILE: join(folder, "rabbitmq"),
      RABBITMQ_CONF_ENV_FILE: join(folder, "no-env.conf"),
      RABBITMQ_GENERATED_CONFIG_DIR: join(folder, "generated"),
      RABBITMQ_ENABLED_PLUGINS_FILE: join(folder, "enabled_plugins"),
      RABBITMQ_PID_FILE: join(folder, "pid"),
      RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: `+S ${schedulers}:${schedulers} +sbwt none -kernel inet_dist_use_interface {127,0,0,1}`,
      RUNNING_UNDER_SYSTEMD: "1", // Its script becomes the server, so that a signal reaches it.
    },
  };
}

/** Messages of 130 MiB are allowed, since a test sends them; the default maximum is 128 MiB. */
function settingsOf(port: number): string {
  return `
listeners.tcp.1 = 127.0.0.1:${port}
log.file = false
log.console = true
log.console.level = warning
raft.wal_max_size_bytes = 16777216
disk_free_limit.absolute = 50MB
max_message_size = 536870912
`;
}

/** Erlang's registry of names, which would otherwise be started by the first node and outlive all. */
async function startRegistry(folder: string): Promise<{ port: number; stop(): Promise<void> }> {
  const port = await freePort();
  const binFolder = foldersWith("epmd", ["/usr/lib/erlang/bin", "/usr/local/lib/erlang/bin", "/opt/homebrew/bin"])[0];
  if (binFolder === undefined) return { port, stop: async () => {} };
  const kept = keepServer(folder, "KILL", [join(binFolder, "epmd"), "-port", String(port), "-address", "127.0.0.1"]);
  return {
    port,
    async stop() {
      kept.send("KILL");
      await kept.gone;
    },
  };
}

async function serve(place: Place): Promise<KeptServer> {
  const env = Object.entries(place.env).map(([name, value]) => `${name}=${value}`);
  const kept = keepServer(place.folder, "KILL", ["/usr/bin/env", ...env, place.program]);
  for (const giveUpAt = Date.now() + 120_000; !kept.isGone() && Date.now() < giveUpAt; ) {
    if (await answers(place.url)) return kept;
    await Promise.race([pause(50), kept.gone]);
  }
  if (!kept.isGone()) kept.send("KILL");
  await kept.gone;
  throw new Error(`RabbitMQ did not start:\n${kept.log().split("\n").slice(-20).join("\n")}`);
}

async function answers(url: string): Promise<boolean> {
  try {
    await versionOf(url);
    return true;
  } catch {
    return false;
  }
}

async function versionOf(url: string): Promise<string> {
  const connection = await connect(url, { timeout: 5_000 });
  connection.on("error", () => {}); // Also reported as the rejection of the call.
  const { version } = connection.connection.serverProperties;
  await connection.close();
  return version;
}

export const rabbitmq: Service = {
  name: "RabbitMQ",
  required: false,
  onDemand: "PAWL_TEST_RABBITMQ",
  needs: [],
  packages: ["rabbitmq-server"],
  howToGet: "install RabbitMQ (apt install rabbitmq-server, brew install rabbitmq), or set PAWL_AMQP_URL",
  async find(): Promise<Start | undefined> {
    const given = process.env.PAWL_AMQP_URL;
    if (given !== undefined && given !== "") return () => useGiven(given);
    return process.platform === "win32" || folders().length === 0 ? undefined : startPrivate;
  },
};

/** An external broker: tests create queues of their own on it, and delete them. */
async function useGiven(url: string): Promise<RunningService> {
  const version = await versionOf(url).catch((error: Error) => {
    throw new Error(`The broker of PAWL_AMQP_URL cannot be used: ${error.message}.`, { cause: error });
  });
  return {
    about: `RabbitMQ ${version}, the one of PAWL_AMQP_URL, at ${new URL(url).host}`,
    env: { PAWL_TEST_RABBITMQ_URL: url },
    stop: async () => {},
  };
}

async function startPrivate(): Promise<RunningService> {
  const server = await startRabbitmq();
  return {
    about: `RabbitMQ ${server.version}, private, at ${new URL(server.url).host}`,
    env: { PAWL_TEST_RABBITMQ_URL: server.url },
    stop: () => server.stop(),
  };
}
