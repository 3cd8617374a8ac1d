import { realpathSync } from "node:fs";
import { userInfo } from "node:os";
import { announceSocket, type Database, databaseVersions } from "../../api/open/database.ts";
import type { Pawl } from "../../api/pawl.ts";
import { messageOf } from "../../base/errors.ts";
import type { HttpServer } from "../../http/serve.ts";
import type { Log } from "../../telemetry/log.ts";
import { makeTelemetry } from "../../telemetry/telemetry.ts";
import type { Context } from "../program.ts";
import { loadProject } from "../project/settings.ts";
import { printAlreadyRunning, printBanner } from "../show/banner.ts";
import { exitCodes } from "../show/failure.ts";
import { watchCounts } from "../show/watch-counts.ts";
import { type LocalSocket, listenLocally } from "../transport/local-socket.ts";
import { holderOf } from "../transport/reach.ts";
import { makeLogger } from "./log.ts";
import { openPawl } from "./open-pawl.ts";
import { seedPawl } from "./seed.ts";
import { requestedPort, serveUnlessForbidden } from "./serve.ts";
import { untilStopped } from "./until-stopped.ts";

/** Runs Pawl until it is stopped; returns the exit code. */
export async function runPawl(context: Context, { port, wait }: { port?: string; wait: boolean }): Promise<number> {
  const { terminal } = context;
  const wanted = requestedPort(port, context.env);
  const settings = await loadProject(context.flags, context.env, context.cwd);
  const { database, folder, config } = settings;
  const telemetry = await makeTelemetry(makeLogger(terminal, context.env));
  const { log } = telemetry;
  const stopped = untilStopped();
  let opened: Awaited<ReturnType<typeof openPawl>>;
  try {
    opened = await openPawl(settings, { telemetry, wait, stopped });
  } catch (error) {
    const holder = holderOf(error);
    if (holder === undefined) throw error;
    printAlreadyRunning(context, settings, holder);
    return exitCodes.ok;
  }
  if (opened === undefined) return exitCodes.ok;
  const { pawl, db } = opened;
  let socket: LocalSocket | undefined;
  let server: HttpServer | undefined;
  try {
    server = await serveUnlessForbidden(pawl, config, wanted);
    if (database === undefined) {
      await Promise.race([seedPawl(pawl, config), stopped]);
      socket = await answerOthers(log, pawl, db, { folder, url: server?.url });
    }
    const versions = await databaseVersions(db);
    await printBanner(context, settings, pawl, {
      versions,
      socket: socket?.path,
      http: server?.url,
      signIn: server && (await signInLink(pawl, server)),
    });
    pawl.work();
    const watch = watchCounts(terminal, pawl);
    const signal = await stopped;
    await watch.stop();
    terminal.note(`${signal} received; shutting down.`);
  } finally {
    await pawl.drain(); // Probes are answered meanwhile.
    await server?.close();
    await socket?.close();
    await pawl.close();
  }
  terminal.note("Stopped. All data is kept; start again to continue.");
  return exitCodes.ok;
}

/** A sign-in link for the local user. Servers that others can reach require a token. */
async function signInLink(pawl: Pawl, { url, isLocal }: HttpServer): Promise<string | undefined> {
  if (!isLocal) return undefined;
  return `${url}/sign-in/${await pawl.access.createSignInCode({ name: userInfo().username, role: "admin" })}`;
}

/** Without a socket Pawl still runs; only other terminals cannot talk to it. */
async function answerOthers(
  log: Log,
  pawl: Pawl,
  db: Database,
  { folder, url }: { folder: string; url: string | undefined },
): Promise<LocalSocket | undefined> {
  try {
    const socket = await listenLocally(pawl, realpathSync(folder), url);
    await announceSocket(db, socket.path).catch(async (error: unknown) => {
      await socket.close();
      throw error;
    });
    return socket;
  } catch (error) {
    log.warn({}, `Commands in other terminals cannot reach this process: ${messageOf(error)}`);
    return undefined;
  }
}
