import { readFileSync } from "node:fs";
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { gzipSync } from "node:zlib";
import { PGlite, protocol } from "@electric-sql/pglite";
import { messageOf } from "../../base/errors.ts";
import { finishFolder } from "./folder.ts";
import { SyncedFolder } from "./sync.ts";
import { unpack, unzip } from "./unpack.ts";

/** The data with which the thread is started. */
export interface Start {
  /** Undefined keeps everything in memory. */
  readonly folder: string | undefined;
  /** The folder holds nothing yet. */
  readonly fresh: boolean;
  readonly snapshot: string | Uint8Array | undefined;
  /** A WebAssembly.Module. */
  readonly engine: object | undefined;
}

export type Request =
  /** Messages of Postgres' protocol, one after the other; `ends` has the end of each. */
  | {
      readonly kind: "run";
      readonly bytes: Uint8Array;
      readonly ends: readonly number[];
      readonly inTransaction: boolean;
    }
  | { readonly kind: "syncs" }
  | { readonly kind: "dump"; readonly gzip: boolean }
  | { readonly kind: "close" };

export type Answer =
  | { readonly kind: "ready"; readonly walBytes: number }
  /** Whole replies, in order; a long run gives several of these. */
  | { readonly kind: "ran"; readonly bytes: Uint8Array; readonly walBytes: number }
  | { readonly kind: "syncs"; readonly syncs: Syncs }
  | { readonly kind: "dumped"; readonly bytes: Uint8Array }
  | { readonly kind: "failed"; readonly text: string };

/** How often the WAL, and how often other files, were brought to the disk. */
export interface Syncs {
  readonly wal: number;
  readonly other: number;
}

/** The parts of the engine that are called directly: one step of its loop, and the end of the WAL on the disk. */
const mainLoop = "_PostgresMainLoopOnce";
const flushedWal = "_GetFlushRecPtr";

interface Engine {
  [mainLoop]: (this: void) => void;
  readonly [flushedWal]: (this: void, timeline: number) => bigint;
}

/** How the engine signals that a statement failed and was handled. */
const handled = 100;
/** An answer waits for others to share its sync and its message, but not longer than this. */
const answerWithinMs = 3;

const commonSettings = {
  // Far below the thread's own stack: Postgres must notice a deep nesting before the engine breaks on it.
  max_stack_depth: "1MB",
  min_wal_size: "32MB",
  max_wal_size: "128MB",
};
const memorySettings = { ...commonSettings, fsync: "off", shared_buffers: "32MB" };
// Of the ways to sync, this is the one that the engine passes on to its file system.
const folderSettings = { ...commonSettings, fsync: "on", wal_sync_method: "fsync", synchronous_commit: "on" };

const port = parentPort!;
const start = workerData as Start;
const lastWords: string[] = [];

function end(text: string): never {
  post(port, { kind: "failed", text });
  process.exit(1);
}

const folder =
  start.folder === undefined
    ? undefined
    : new SyncedFolder(start.folder, (error) => end(`writing to the disk failed: ${messageOf(error)}`));

const pg = await open().catch((error) => end(reason(error)));
const engine = pg.Module as unknown as Engine;
endWhenBroken();
if (start.folder !== undefined && start.fresh) finishFolder(start.folder);

let output = Buffer.allocUnsafeSlow(65_536);
let outputLength = 0;

port.on("message", (request: Request) => {
  answer(request).catch((error) => end(messageOf(error)));
});
post(port, { kind: "ready", walBytes: walBytes() });

/** The last error of Postgres itself, if any: it says more than the exception that follows. */
function reason(error: unknown): string {
  const said = lastWords.findLast((line) => /(PANIC|FATAL|ERROR): /.test(line));
  return said?.replace(/^.*?(?=PANIC|FATAL|ERROR)/, "") ?? [messageOf(error), ...lastWords].join("; ");
}

async function open(): Promise<PGlite> {
  const common = PGlite.defaultStartParams.filter((param) => param !== "-F");
  const settings = folder === undefined ? memorySettings : folderSettings;
  const snapshot = start.fresh ? readSnapshot() : undefined;
  if (start.folder !== undefined && snapshot !== undefined) unpack(snapshot, start.folder);
  return PGlite.create({
    ...(folder === undefined ? { dataDir: "memory://" } : { fs: folder }),
    ...(folder === undefined && snapshot !== undefined ? { loadDataDir: new Blob([snapshot]) } : {}),
    ...(start.engine === undefined ? {} : { pgliteWasmModule: start.engine }),
    initDbStartParams: ["--wal-segsize=4"],
    startParams: [...common, ...Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`])],
    onStderr: (line) => {
      lastWords.push(line);
      if (lastWords.length > 5) lastWords.shift();
      return false;
    },
  });
}

function readSnapshot(): Buffer | undefined {
  if (start.snapshot === undefined) return undefined;
  return unzip(typeof start.snapshot === "string" ? readFileSync(start.snapshot) : start.snapshot);
}

/**
 * An exception that is no handled failure of a statement (a PANIC, a stack overflow) leaves the engine in pieces, and
 * it would answer nothing, or nonsense, from then on. Its files are as after a crash: the next start recovers.
 */
function endWhenBroken(): void {
  const loop = engine[mainLoop];
  engine[mainLoop] = () => {
    try {
      loop();
    } catch (error) {
      if ((error as { status?: unknown }).status === handled) throw error;
      end(reason(error));
    }
  };
}

async function answer(request: Request): Promise<void> {
  switch (request.kind) {
    case "run":
      return run(request.bytes, request.ends, request.inTransaction);
    case "syncs":
      return post(port, { kind: "syncs", syncs: folder?.syncs ?? { wal: 0, other: 0 } });
    case "dump": {
      const tar = Buffer.from(await (await pg.dumpDataDir("none")).arrayBuffer());
      const bytes = new Uint8Array(request.gzip ? gzipSync(tar) : tar);
      return post(port, { kind: "dumped", bytes }, bytes.buffer);
    }
    case "close":
      await pg.close();
      process.exit(0);
  }
}

async function run(bytes: Uint8Array, ends: readonly number[], inTransaction: boolean): Promise<void> {
  let from = 0;
  let answered = performance.now();
  folder?.hold();
  for (const to of ends) {
    await execute(bytes.subarray(from, to), collect);
    // A text outside a transaction must not open one that would include the texts after it and never be committed.
    if (!inTransaction && pg.isInTransaction()) await execute(protocol.serialize.query("rollback"), () => {});
    from = to;
    if (to !== ends.at(-1) && performance.now() - answered < answerWithinMs) continue;
    folder?.settle();
    postOutput();
    folder?.hold();
    answered = performance.now();
  }
  folder?.settle();
}

function execute(message: Uint8Array, onRawData: (bytes: Uint8Array) => void): Promise<void> {
  return pg.execProtocolRawStream(message, { syncToFs: false, onRawData });
}

/** The bytes are in the engine's own memory, and are overwritten when it continues. */
function collect(bytes: Uint8Array): void {
  if (outputLength + bytes.length > output.length) {
    const grown = Buffer.allocUnsafeSlow(Math.max(output.length * 2, outputLength + bytes.length));
    output.copy(grown, 0, 0, outputLength);
    output = grown;
  }
  output.set(bytes, outputLength);
  outputLength += bytes.length;
}

function walBytes(): number {
  return Number(engine[flushedWal](0));
}

function postOutput(): void {
  const bytes = new Uint8Array(output.subarray(0, outputLength));
  outputLength = 0;
  if (output.length > 1_048_576) output = Buffer.allocUnsafeSlow(65_536);
  post(port, { kind: "ran", bytes, walBytes: walBytes() }, bytes.buffer);
}

function post(to: MessagePort, message: Answer, transfer?: ArrayBuffer): void {
  to.postMessage(message, transfer === undefined ? [] : [transfer]);
}
