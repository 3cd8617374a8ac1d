import type { Db, Statement, Tx } from "../port/db.ts";
import { translate } from "../port/failures.ts";
import { beginFolder, inspectFolder, locateFolder, removeSignature } from "./folder.ts";
import { type FolderLock, lockFolder } from "./lock.ts";
import { EmbeddedMaintenance, type MaintenanceReport } from "./maintenance.ts";
import { isForgotten, type RequestQueue, type Session } from "./request-queue.ts";
import { startThread } from "./start.ts";
import type { Syncs } from "./thread.ts";
import { callOf, script, Transaction } from "./transaction.ts";

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
  /** Runs one round of background maintenance: checkpoint and vacuum, where due. */
  upkeep(): Promise<MaintenanceReport>;
  /** Writes the address of this process to the lock file, for the CLI. */
  announce(socket: string): Promise<void>;
}

interface PgliteInfo {
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
  inspectFolder(folder); // Checked before a lock file is created next to a folder that is not ours.
  const lock = await lockFolder(folder);
  try {
    const fresh = inspectFolder(folder) !== "database";
    if (fresh) await beginFolder(folder);
    else removeSignature(folder); // The lock guarantees that no other process has the folder open.
    const line = await startThread({ folder, fresh, snapshot });
    return new ThreadDb(line, lock, warn);
  } catch (error) {
    await lock.release();
    throw error;
  }
}

class ThreadDb implements PgliteDb {
  readonly kind = "pglite";
  readonly #line: RequestQueue;
  readonly #lock: FolderLock | undefined;
  readonly #warn: (text: string) => void;
  readonly #upkeep: EmbeddedMaintenance;
  #closing: Promise<void> | undefined;

  constructor(line: RequestQueue, lock: FolderLock | undefined, warn: (text: string) => void) {
    this.#line = line;
    this.#lock = lock;
    this.#warn = warn;
    this.#upkeep = new EmbeddedMaintenance(line, warn);
    this.#upkeep.start();
    void line.gone.then(() => this.#release());
  }

  async rows<Row>(statement: Statement): Promise<Row[]> {
    const call = callOf(statement);
    try {
      return (await this.#line.run(call)).rows as Row[];
    } catch (error) {
      if (!isForgotten(error) || call.name === "") throw translate(error, "running");
    }
    try {
      return (await this.#line.run(call)).rows as Row[]; // It was not executed, and is prepared again.
    } catch (error) {
      throw translate(error, "running");
    }
  }

  async transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    const session = await this.#line.session();
    const timer = setTimeout(() => this.#suspect(), suspiciousMs);
    timer.unref();
    const tx = new Transaction(session);
    try {
      const result = await Promise.race([work(tx), tx.lost]);
      await tx.commit();
      return result;
    } catch (error) {
      await tx.rollback();
      throw error;
    } finally {
      clearTimeout(timer);
      tx.end();
    }
  }

  async script(text: string): Promise<void> {
    await this.transaction(async (tx) => {
      await tx.query(text).catch((error: unknown) => {
        throw translate(error, "running");
      });
      this.#line.forgetNames(); // Tables may have other columns now. Inside the session: waiting requests continue when it ends.
    });
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

  upkeep(): Promise<MaintenanceReport> {
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
      // It ended by itself, or by this call: either way it answers no more.
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
