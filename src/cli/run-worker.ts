import { PawlError } from "../base/errors.ts";
import { openDatabase, openOn } from "../create.ts";
import { makeTelemetry } from "../telemetry/telemetry.ts";
import { exitCodes } from "./failure.ts";
import { makeLogger } from "./log.ts";
import type { Context } from "./program.ts";
import { loadProject, shownUrl } from "./settings.ts";
import { untilStopped } from "./until-stopped.ts";

/** Runs steps on a server until it is told to stop; what runs then is let finish, the rest is given back. */
export async function runWorker(context: Context, concurrency: number): Promise<number> {
  const { terminal } = context;
  const { database, folder, config } = await loadProject(context.flags, context.env, context.cwd);
  if (database === undefined) {
    throw new PawlError(
      "option_invalid",
      "`pawl work` shares a database server with other processes, and none is set. Set DATABASE_URL; the embedded database is run by `pawl start`.",
    );
  }
  const stopped = untilStopped();
  const telemetry = await makeTelemetry(makeLogger(terminal, context.env));
  const db = await openDatabase({ database, folder, onWarning: (text) => telemetry.log.warn({}, text) });
  const { pawl } = await openOn(db, config, { telemetry });
  try {
    const worker = pawl.work({ concurrency });
    terminal.print(`${worker.id} works on ${shownUrl(database)}, ${concurrency} steps at once.`);
    terminal.note(`${await stopped}: finishing what runs.`);
  } finally {
    await pawl.close();
  }
  return exitCodes.ok;
}
