import { PawlError } from "../base/errors.ts";
import { openDatabase, openOn } from "../create.ts";
import type { HttpServer } from "../http/serve.ts";
import type { Pawl } from "../pawl.ts";
import { makeTelemetry } from "../telemetry/telemetry.ts";
import { exitCodes } from "./failure.ts";
import { makeLogger } from "./log.ts";
import type { Context } from "./program.ts";
import { serveIfAsked } from "./serve.ts";
import { loadProject, shownUrl } from "./settings.ts";
import { untilStopped } from "./until-stopped.ts";

/** Runs steps on a server until it is told to stop; what runs then is let finish, the rest is given back. */
export function runWorker(context: Context, work: { concurrency: number; only?: readonly string[] }): Promise<number> {
  return runOnServer(context, "work", (pawl, server) => {
    const worker = pawl.work(work);
    return `${worker.id} works on ${server}, ${work.concurrency} steps at once.`;
  });
}

/** Sends what is in the outbox of a server until it is told to stop. */
export function runRelay(context: Context): Promise<number> {
  return runOnServer(context, "relay", (pawl, server) => {
    const relay = pawl.relay();
    return `${relay.id} sends what is in the outbox of ${server}.`;
  });
}

async function runOnServer(
  context: Context,
  command: string,
  begin: (pawl: Pawl, server: string) => string,
): Promise<number> {
  const { terminal } = context;
  const { database, folder, config } = await loadProject(context.flags, context.env, context.cwd);
  if (database === undefined) {
    throw new PawlError(
      "option_invalid",
      `\`pawl ${command}\` shares a database server with other processes, and none is set. Set DATABASE_URL; the embedded database is run by \`pawl start\`.`,
    );
  }
  const stopped = untilStopped();
  const telemetry = await makeTelemetry(makeLogger(terminal, context.env));
  const db = await openDatabase({ database, folder, onWarning: (text) => telemetry.log.warn({}, text) });
  const { pawl } = await openOn(db, config, { telemetry });
  let server: HttpServer | undefined;
  try {
    server = command === "work" ? await serveIfAsked(pawl, config) : undefined;
    terminal.print(begin(pawl, shownUrl(database)));
    if (server !== undefined) terminal.print(`It takes callbacks and tells how it is at ${server.url}.`);
    terminal.note(`${await stopped}: finishing what runs.`);
  } finally {
    await server?.close();
    await pawl.close();
  }
  return exitCodes.ok;
}
