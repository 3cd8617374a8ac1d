import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { PawlError } from "../../base/errors.ts";
import { unusable } from "./folder.ts";
import { Line } from "./line.ts";
import type { Start } from "./thread.ts";

/** The little of it that is used here; its types come with those of browsers. */
declare const WebAssembly: { compile(bytes: Uint8Array): Promise<object> };

let engine: Promise<object | undefined> | undefined;

/** Compiled once for all threads of a process: what one of them has made fast is fast in the next. */
function compiledEngine(): Promise<object | undefined> {
  engine ??= readFile(join(dirname(createRequire(import.meta.url).resolve("@electric-sql/pglite")), "pglite.wasm"))
    .then((bytes) => WebAssembly.compile(bytes))
    .catch(() => undefined); // The thread finds it by itself, or says why not.
  return engine;
}

/** Starts the thread that holds the database, and waits until it answers. */
export async function startThread(start: Omit<Start, "engine">): Promise<Line> {
  const source = import.meta.url.endsWith(".ts");
  const worker = new Worker(new URL(source ? "./thread.ts" : "./thread.js", import.meta.url), {
    name: "pawl-pglite",
    workerData: { ...start, engine: await compiledEngine() } satisfies Start,
    execArgv: source ? typescriptArguments() : [],
    // A nesting that Postgres refuses in its own words would otherwise break the engine before it notices.
    resourceLimits: { stackSizeMb: 64 },
  });
  const line = new Line(worker);
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

/** Node 20 cannot read TypeScript by itself, and on it `--import tsx` is for the main thread only. */
function typescriptArguments(): string[] {
  if ((process.features as { typescript?: unknown }).typescript) return [];
  const loader = pathToFileURL(createRequire(import.meta.url).resolve("tsx"));
  const tsx = JSON.stringify(new URL("./esm/api/index.mjs", loader).href);
  return ["--import", `data:text/javascript,import { register } from ${tsx}; register();`];
}
