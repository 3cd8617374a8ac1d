import { openDatabase, openOn } from "../../api/open/create.ts";
import type { Telemetry } from "../../telemetry/telemetry.ts";
import type { loadProject } from "../project/settings.ts";
import { openWhenReachable } from "./open-when-reachable.ts";

type Project = Awaited<ReturnType<typeof loadProject>>;

export interface OpenOptions {
  readonly telemetry: Telemetry;
  /** Whether to wait for a database server that cannot be reached. */
  readonly wait: boolean;
  /** Ends the waiting. */
  readonly stopped: Promise<unknown>;
}

/** Opens the Pawl of a project; undefined when it was stopped while it waited for its database. */
export async function openPawl({ database, folder, config }: Project, { telemetry, wait, stopped }: OpenOptions) {
  const { log } = telemetry;
  let failure: Error | undefined;
  const open = async () => {
    const db = await openDatabase({ database, folder, onWarning: (text) => log.warn({}, text) });
    return { db, ...(await openOn(db, config, { telemetry })) };
  };
  const onWait = (error: Error, pauseMs: number) => {
    failure = error;
    log.warn({ retryAfterMs: pauseMs }, `${error.message} Retrying in ${pauseMs / 1_000} s; --no-wait exits instead.`);
  };
  // An embedded database exists or not: only a server can become reachable.
  const opened = wait && database !== undefined ? await openWhenReachable(open, { onWait, stopped }) : await open();
  // Other workers could not renew their leases either.
  if (failure !== undefined) opened?.kernel.expiry.failed(failure);
  return opened;
}
