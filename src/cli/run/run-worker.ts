import type { PawlConfig } from "../../api/open/config.ts";
import type { Pawl } from "../../api/pawl.ts";
import { PawlError } from "../../base/errors.ts";
import type { HttpServer } from "../../http/serve.ts";
import { makeTelemetry } from "../../telemetry/telemetry.ts";
import type { Context } from "../program.ts";
import { loadProject, shownLocation } from "../project/settings.ts";
import { exitCodes } from "../show/failure.ts";
import { makeLogger } from "./log.ts";
import { openPawl } from "./open-pawl.ts";
import { requestedPort, serveIfConfigured, serveUnlessForbidden } from "./serve.ts";
import { untilStopped } from "./until-stopped.ts";

/** Runs steps on a server until it is stopped; running steps may finish, the others are returned. */
export function runWorker(
  context: Context,
  { wait, ...work }: { concurrency: number; lanes?: readonly string[] } & Waits,
): Promise<number> {
  return runOnServer(context, { command: "work", wait }, async (pawl, { database, config }) => {
    const worker = pawl.work(work);
    const server = await serveIfConfigured(pawl, config);
    context.terminal.print(`Worker ${worker.id} started on ${database}, concurrency ${work.concurrency}.`);
    if (server !== undefined) context.terminal.print(`Console and API: ${server.url}.`);
    return server;
  });
}

/** Sends the messages of a server's outbox until it is stopped. */
export function runRelay(context: Context, { wait }: Waits): Promise<number> {
  return runOnServer(context, { command: "relay", wait }, async (pawl, { database }) => {
    const relay = pawl.relay();
    context.terminal.print(`Relay ${relay.id} started on ${database}.`);
    return undefined;
  });
}

/** Serves the console and the API of a server until it is stopped, and runs no steps. */
export function runServer(context: Context, { port, wait }: { port?: string } & Waits): Promise<number> {
  const wanted = requestedPort(port, context.env);
  return runOnServer(context, { command: "serve", wait }, async (pawl, { database, config }) => {
    const server = await serveUnlessForbidden(pawl, config, wanted);
    if (server === undefined)
      throw new PawlError("config_invalid", "The config has `http: false`, so `pawl serve` has nothing to serve.");
    context.terminal.print(`Console and API of ${database}: ${server.url}.`);
    return server;
  });
}

/** Runs a role on a server, once that is open; returns what it serves, to be closed first. */
type Begin = (pawl: Pawl, on: { database: string; config: PawlConfig }) => Promise<HttpServer | undefined>;

/** Whether to wait for a database that cannot be reached at the start. */
interface Waits {
  readonly wait: boolean;
}

async function runOnServer(
  context: Context,
  { command, wait }: { command: string } & Waits,
  begin: Begin,
): Promise<number> {
  const { terminal } = context;
  const settings = await loadProject(context.flags, context.env, context.cwd);
  const { database, config } = settings;
  if (database === undefined) {
    throw new PawlError(
      "option_invalid",
      `\`pawl ${command}\` needs a database server. Set DATABASE_URL; for the embedded database, use \`pawl start\`.`,
    );
  }
  const stopped = untilStopped();
  const telemetry = await makeTelemetry(makeLogger(terminal, context.env));
  const opened = await openPawl(settings, { telemetry, wait, stopped });
  if (opened === undefined) return exitCodes.ok;
  const { pawl } = opened;
  let server: HttpServer | undefined;
  try {
    server = await begin(pawl, { database: shownLocation(database), config });
    terminal.note(`${await stopped} received; finishing running steps.`);
  } finally {
    await pawl.drain(); // Probes are answered meanwhile.
    await server?.close();
    await pawl.close();
  }
  return exitCodes.ok;
}
