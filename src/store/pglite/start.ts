import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { Worker } from "node:worker_threads";
import { PawlError } from "../../base/errors.ts";
import { threadFile } from "../port/thread-file.ts";
import { unusable } from "./folder.ts";
import { RequestQueue } from "./request-queue.ts";
import type { Start } from "./thread.ts";

/** The part of it that is used here; its own types need those of browsers. */
declare const WebAssembly: { compile(bytes: Uint8Array): Promise<object> };

let engine: Promise<object | undefined> | undefined;

/** Compiled once for all threads of a process: what one of them has made fast is fast in the next. */
function compiledEngine(): Promise<object | undefined> {
  engine ??= readFile(join(dirname(createRequire(import.meta.url).resolve("@electric-sql/pglite")), "pglite.wasm"))
    .then((bytes) => WebAssembly.compile(bytes))
    .catch(() => undefined); // The thread finds it by itself, or reports why not.
  return engine;
}

/** Starts the thread that holds the database, and waits until it answers. */
export async function startThread(start: Omit<Start, "engine">): Promise<RequestQueue> {
  const { file, execArgv } = threadFile(new URL("./thread.ts", import.meta.url));
  const worker = new Worker(file, {
    name: "pawl-pglite",
    workerData: { ...start, engine: await compiledEngine() } satisfies Start,
    execArgv,
    // A nesting that Postgres refuses in its own words would otherwise break the engine before it notices.
    resourceLimits: { stackSizeMb: 64 },
  });
  const line = new RequestQueue(worker);
  try {
    await line.started;
    return line;
  } catch {
    await line.gone;
    const reason = line.lastWords ?? "its thread ended";
    if (start.folder !== undefined)
      throw unusable(start.folder, `the embedded database did not start on it (${reason})`);
    throw new PawlError("database_unreachable", `The embedded database did not start: ${reason}.`);
  }
}
