import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { PawlError } from "../../base/errors.ts";
import type { Db, Param, Statement, Tx } from "../db.ts";
import { beginFolder, inspectFolder, locateFolder, unusable } from "./folder.ts";
import { type Call, isForgotten, Line, type Session } from "./line.ts";
import { type FolderLock, lockFolder } from "./lock.ts";
import type { Start, Syncs } from "./thread.ts";
import { Upkeep, type UpkeepReport } from "./upkeep.ts";
import { writeValue } from "./values.ts";
import { DatabaseError, type Reply } from "./wire.ts";

export interface PgliteOptions {
  /** Where the database is kept; it is made when there is none. "memory" keeps it in memory, for tests. */
  readonly folder: string;
  /** What `dump` gave, or the path of a file with it: a new database begins with this instead of with nothing. */
  readonly snapshot?: Uint8Array | string;
  readonly onWarning?: (text: string) => void;
}

export interface PgliteDb extends Db {
  readonly kind: "pglite";
  /** All of the database, for `snapshot`. About 30 MB when empty, 4 MB with `gzip`, which takes two seconds. */
  dump(options?: { gzip?: boolean }): Promise<Buffer>;
  info(): Promise<PgliteInfo>;
  /** One round of what is done every now and then by itself: checkpoint and vacuum, where due. */
  upkeep(): Promise<UpkeepReport>;
  /** Tells the CLI, through the lock file, where this process listens. */
  announce(socket: string): Promise<void>;
}

export interface PgliteInfo {
  readonly pglite: string;
  readonly postgres: string;
  readonly syncs: Syncs;
}

/** A transaction that is open this long while others wait most likely waits for one of them. */
const suspiciousMs = 5_000;

/**
 * Opens the embedded database: Postgres in a thread of this process, on a folder that belongs to this process alone.
 *
 * ```ts
 * const db = await openPglite({ folder: "./.pawl" });
 * const [row] = await db.rows<{ sum: number }>(sql`select 1 + ${1}::int as sum`);
 * await db.close();
 * ```
 */
export async function openPglite(options: PgliteOptions): Promise<PgliteDb> {
  const warn = options.onWarning ?? (() => {});
  const { snapshot } = options;
  if (options.folder === "memory") {
    const line = await startThread({ folder: undefined, fresh: true, snapshot });
    return new ThreadDb(line, undefined, warn);
  }
  const folder = await locateFolder(options.folder);
  inspectFolder(folder); // Before a lock file is made beside what is not ours.
  const lock = await lockFolder(folder);
  try {
    const fresh = inspectFolder(folder) !== "database";
    if (fresh) await beginFolder(folder);
    const line = await startThread({ folder, fresh, snapshot });
    return new ThreadDb(line, lock, warn);
  } catch (error) {
    await lock.release();
    throw error;
  }
}

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

async function startThread(start: Omit<Start, "engine">): Promise<Line> {
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

class ThreadDb implements PgliteDb {
  readonly kind = "pglite";
  readonly #line: Line;
  readonly #lock: FolderLock | undefined;
  readonly #warn: (text: string) => void;
  readonly #upkeep: Upkeep;
  #closing: Promise<void> | undefined;

  constructor(line: Line, lock: FolderLock | undefined, warn: (text: string) => void) {
    this.#line = line;
    this.#lock = lock;
    this.#warn = warn;
    this.#upkeep = new Upkeep(line, warn);
    this.#upkeep.start();
    void line.gone.then(() => this.#release());
  }

  async rows<Row>(statement: Statement): Promise<Row[]> {
    const call = callOf(statement);
    try {
      return (await this.#line.run(call)).rows as Row[];
    } catch (error) {
      if (!isForgotten(error) || call.name === "") throw error;
      return (await this.#line.run(call)).rows as Row[]; // It was not executed, and is prepared anew now.
    }
  }

  async transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    const session = await this.#line.session();
    const timer = setTimeout(() => this.#suspect(), suspiciousMs);
    timer.unref();
    const tx = new ThreadTx(session);
    try {
      const result = await work(tx);
      await tx.commit();
      return result;
    } catch (error) {
      await tx.rollback();
      throw error;
    } finally {
      clearTimeout(timer);
      session.end();
    }
  }

  async script(text: string): Promise<void> {
    await this.transaction((tx) => tx.query(text));
    this.#line.forgetNames(); // Tables may have other columns now.
  }

  dump({ gzip = false }: { gzip?: boolean } = {}): Promise<Buffer> {
    return this.#alone(async (session) => {
      await session.run(script("checkpoint")); // So that a database that begins with it has nothing to recover.
      const answer = await session.ask({ kind: "dump", gzip });
      return answer.kind === "dumped" ? Buffer.from(answer.bytes.buffer as ArrayBuffer) : Buffer.alloc(0);
    });
  }

  info(): Promise<PgliteInfo> {
    return this.#alone(async (session) => {
      const { rows } = await session.run(script("select version()"));
      const [, postgres = "", pglite = ""] = /^PostgreSQL (\S+) \(PGlite (\S+)\)/.exec(String(rows[0]!.version)) ?? [];
      const answer = await session.ask({ kind: "syncs" });
      return { pglite, postgres, syncs: answer.kind === "syncs" ? answer.syncs : { wal: 0, other: 0 } };
    });
  }

  upkeep(): Promise<UpkeepReport> {
    return this.#upkeep.round();
  }

  async announce(socket: string): Promise<void> {
    await this.#lock?.announce(socket);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#upkeep.stop();
    try {
      const session = await this.#line.lastSession();
      await session.ask({ kind: "close" });
    } catch {
      // Ended by itself, or by this: either way it answers no more.
    }
    await this.#line.gone;
    await this.#release();
  }

  async #release(): Promise<void> {
    this.#upkeep.stop();
    try {
      await this.#lock?.release();
    } catch (error) {
      this.#warn(`The lock file of the embedded database stays: ${(error as Error).message}`);
    }
  }

  async #alone<T>(work: (session: Session) => Promise<T>): Promise<T> {
    const session = await this.#line.session();
    try {
      return await work(session);
    } finally {
      session.end();
    }
  }

  #suspect(): void {
    if (this.#line.waiting === 0) return;
    this.#warn(
      `A transaction on the embedded database has been open for ${suspiciousMs / 1000} s, and ${this.#line.waiting} others wait for it. ` +
        "Inside a transaction, use its own `tx`: a call on the database itself waits until the transaction ends.",
    );
  }
}

class ThreadTx implements Tx {
  readonly #session: Session;
  #state: "new" | "open" | "ended" = "new";
  #failure: unknown;

  constructor(session: Session) {
    this.#session = session;
  }

  async rows<Row>(statement: Statement): Promise<Row[]> {
    return (await this.#run(callOf(statement))).rows as Row[];
  }

  async query<Row = Record<string, unknown>>(text: string, values?: readonly unknown[]): Promise<{ rows: Row[] }> {
    // Without values several statements may stand in one text, as with `pg`.
    const call =
      values === undefined || values.length === 0 ? script(text) : { text, name: "", values: values.map(writeValue) };
    return { rows: (await this.#run(call)).rows as Row[] };
  }

  async commit(): Promise<void> {
    if (this.#state === "new") return;
    this.#checkOpen();
    this.#state = "ended";
    const { tag } = await this.#session.run(script("commit"));
    if (tag === "COMMIT") return;
    const message = "The transaction was rolled back instead of committed: one of its statements had failed.";
    throw new DatabaseError(message, "25P02", undefined, this.#failure);
  }

  /** Never fails: a database that cannot be asked any more has rolled back by itself. */
  async rollback(): Promise<void> {
    if (this.#state !== "open") return;
    this.#state = "ended";
    await this.#session.run(script("rollback")).catch(() => {});
  }

  async #run(call: Call): Promise<Reply> {
    if (this.#state === "new") {
      this.#state = "open";
      // Not awaited: it goes in one message with the first statement.
      this.#session.run(script("begin")).catch(() => {});
    }
    this.#checkOpen();
    try {
      const reply = await this.#session.run(call);
      // The statement was a `commit` or `rollback`: what follows would be on its own.
      if (reply.status === "idle") this.#state = "ended";
      return reply;
    } catch (error) {
      this.#failure ??= error;
      throw error;
    }
  }

  #checkOpen(): void {
    if (this.#state !== "ended") return;
    throw new PawlError(
      "not_a_transaction",
      "This transaction has ended; only statements that are awaited inside it belong to it.",
    );
  }
}

function callOf({ text, name, values }: Statement): Call {
  return { text, name, values: values.map(paramText) };
}

function paramText(value: Param): string | null {
  return value === null ? null : String(value);
}

function script(text: string): Call {
  return { text, name: "", values: undefined };
}
