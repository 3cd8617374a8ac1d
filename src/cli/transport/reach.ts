import { existsSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createPawl } from "../../api/open/create.ts";
import type { Pawl } from "../../api/pawl.ts";
import { PawlError } from "../../base/errors.ts";
import { localApp } from "../../http/app.ts";
import { missingConfig, type Settings } from "../project/settings.ts";
import { readFailure } from "../show/failure.ts";
import { type Call, type Carrier, callOver } from "./client.ts";
import { overSocket } from "./socket-carrier.ts";

/** A Pawl within reach, in this process or in another. */
export interface Reached {
  /** The process that was found running; undefined when the database was opened for this command alone. */
  readonly pid: number | undefined;
  readonly call: Call;
  close(): Promise<void>;
}

export interface ReachOptions {
  /** Make the embedded database when there is none yet. */
  readonly create?: boolean;
  /** Maintenance runs while the command lasts. */
  readonly keepTime?: boolean;
  readonly onWarning?: (text: string) => void;
}

/** How long a process that has the folder open, and listens not yet or no more, is waited for. */
const settledWithinMs = 10_000;
const lookAgainMs = 100;

/**
 * A PostgreSQL server is opened directly. An embedded database belongs to one process: opening it either succeeds, or
 * names the process that has it and where that listens, so there is no moment between looking and opening.
 */
export async function reach(settings: Settings, options: ReachOptions = {}): Promise<Reached> {
  if (settings.database !== undefined) {
    if (settings.config === undefined) missingConfig(process.cwd());
    return inThisProcess(await open(settings, options));
  }
  if (!existsSync(join(settings.folder, "db"))) {
    if (settings.config === undefined) missingConfig(process.cwd());
    if (options.create !== true) throw nothingThere(settings.folder);
  }
  for (const endAt = performance.now() + settledWithinMs; ; ) {
    try {
      const pawl = await open(settings, options);
      if (settings.config === undefined) await pawl.close().then(() => missingConfig(process.cwd()));
      if (options.keepTime === true) pawl.maintain();
      return inThisProcess(pawl);
    } catch (error) {
      const holder = holderOf(error);
      if (holder === undefined) throw error;
      const running = holder.socket === undefined ? undefined : await overSocket(holder.socket);
      if (running !== undefined) return { pid: holder.pid, call: callOver(running), close: async () => {} };
      if (performance.now() > endAt) throw notListening(settings.folder, holder.pid);
      await sleep(lookAgainMs);
    }
  }
}

function open(settings: Settings, { onWarning }: ReachOptions): Promise<Pawl> {
  const { database, folder, config } = settings;
  // A server's schema changes only on request, not because a command reads it.
  const migrate = database === undefined;
  return createPawl({
    database,
    folder,
    lifecycles: config?.lifecycles ?? [],
    schedules: config?.schedules,
    queues: config?.queues,
    crowds: config?.crowds,
    marketplaces: config?.marketplaces,
    breakers: config?.breakers,
    stuckAfter: config?.stuckAfter,
    outcomeTimeout: config?.outcomeTimeout,
    deadLetters: config?.deadLetters,
    migrate,
    onWarning,
  });
}

function inThisProcess(pawl: Pawl): Reached {
  return { pid: undefined, call: callIn(pawl), close: () => pawl.close() };
}

/** Calls the operations of a Pawl of this process: the same requests, without a connection. */
export function callIn(pawl: Pawl): Call {
  const app = localApp(pawl, { throws: true });
  const headers = { "content-type": "application/json" };
  const send: Carrier["send"] = async ({ method, path, body = null }) => app.request(path, { method, body, headers });
  return callOver({ place: "this process", send });
}

export interface Holder {
  readonly pid: number;
  readonly socket: string | undefined;
}

/** The process on this machine that has the folder open, when that is why it could not be opened. */
export function holderOf(error: unknown): Holder | undefined {
  const failure = readFailure(error);
  if (failure?.code !== "folder_locked" || failure.details.host !== hostname()) return undefined;
  const { pid, socket } = failure.details as { pid: number; socket?: string };
  return { pid, socket };
}

function nothingThere(folder: string): PawlError {
  return new PawlError(
    "not_running",
    `No database in ${folder} yet. Start Pawl with \`pawl start\`, start a first instance with ` +
      "`pawl instance start`, or name another place with --folder or DATABASE_URL.",
    { folder },
  );
}

function notListening(folder: string, pid: number): PawlError {
  return new PawlError(
    "folder_locked",
    `The database in ${folder} is open in process ${pid}, which does not accept commands. ` +
      "Only `pawl start` does: use it there, or use PostgreSQL, which several processes can share.",
    { folder, pid },
  );
}
