import pg from "pg";
import { PawlError } from "../../base/errors.ts";
import type { Db, KeeperOptions, LeaseKeeper, Listener, ListenOptions, ReadLimits, Statement, Tx } from "../port/db.ts";
import { isReadOnly, readOnly, sqlState, translate } from "../port/failures.ts";
import { sendNotice } from "../port/notices.ts";
import { isRollback, isTransactionControl, ownSearchPath, SharedSearchPath } from "../port/search-path.ts";
import { Hosts } from "./hosts.ts";
import { fitsThread, keepLeasesInThread } from "./keep-leases.ts";
import { BrokenConnection, LendingPool } from "./lending-pool.ts";
import { LimitedReads } from "./limited-reads.ts";
import { PostgresListener, unheard } from "./listen.ts";
import { startupSettings } from "./startup-settings.ts";
import { type PostgresTarget, targetOf } from "./target.ts";

interface OpenOptions {
  /** The most connections that are open at once. */
  readonly connections?: number;
  /** How long the server may take to answer, and to connect, before the connection is replaced. */
  readonly answerWithinMs?: number;
  readonly onWarning?: (text: string) => void;
  /** The search path of users' statements in transactions. Read from the database by default. */
  readonly usersPath?: string;
}

/** Names the database by a URL, or by a target that was made of something else. */
export type PostgresOptions = OpenOptions & ({ readonly url: string } | { readonly target: PostgresTarget });

/** Keeps a lost client from locking a row for ever, and a lost server from blocking us. */
const serverTimeouts = {
  statement_timeout: 30_000,
  lock_timeout: 10_000,
  idle_in_transaction_session_timeout: 60_000,
};
const clientTimeouts = { connectionTimeoutMillis: 10_000, query_timeout: 45_000 };

/**
 * Connections at rest are closed after a while, except the last few: the first statements on a new one cost some
 * milliseconds each, for its plans.
 */
const kept = { connections: 2, idleMs: 60_000 };

/**
 * Connecting takes several round trips and a new process of the server: with a shorter timeout it might never succeed.
 */
function timeoutsWithin(ms: number): typeof clientTimeouts {
  return { connectionTimeoutMillis: Math.max(ms, 1_000), query_timeout: ms };
}

/** The settings for a user's statements in a transaction. */
const userPlanning = "set local enable_seqscan = on";

/** Reads 8-byte numbers as numbers; everything else as `pg` does by default. */
const types = {
  getTypeParser(oid: number, format?: "text" | "binary") {
    return oid === 20 ? Number : pg.types.getTypeParser(oid, format as "text");
  },
} as pg.CustomTypesConfig;

/** Opens PostgreSQL 14 or newer over a pool. Works through transaction poolers: nothing here belongs to a session. */
export async function openPostgres(options: PostgresOptions): Promise<Db> {
  const warn = options.onWarning ?? (() => {});
  const target = "target" in options ? options.target : targetOf(options.url);
  try {
    return await connect(target, options, warn, true);
  } catch (error) {
    if (!saysUnsupportedParameter(error)) throw error;
    warn(
      "The database's pooler takes no settings from a client: set statement_timeout, lock_timeout, idle_in_transaction_session_timeout and search_path (to pg_catalog, pg_temp) on the role.",
    );
    return connect(target, options, warn, false);
  }
}

function saysUnsupportedParameter(error: unknown): boolean {
  const cause = (error as { cause?: { code?: unknown; message?: unknown } }).cause;
  return cause?.code === "08P01" && String(cause.message).includes("unsupported startup parameter");
}

async function connect(
  target: PostgresTarget,
  options: OpenOptions,
  warn: (text: string) => void,
  direct: boolean,
): Promise<Db> {
  const { startup } = target;
  const hosts = new Hosts(target);
  const users = options.usersPath ?? (await readUsersPath(hosts, startup));
  const within = options.answerWithinMs;
  const config = {
    max: options.connections ?? 10,
    min: Math.min(kept.connections, options.connections ?? 10),
    idleTimeoutMillis: kept.idleMs,
    keepAlive: true,
    allowExitOnIdle: true,
    application_name: "pawl",
    pipeline: true,
    types,
    ...(within === undefined ? clientTimeouts : timeoutsWithin(within)),
    ...(direct ? { ...serverTimeouts, options: `${startup} ${startupSettings}`.trim() } : {}),
    ...(!direct && startup !== "" ? { options: startup } : {}),
  } as pg.PoolConfig;
  const { query_timeout: _, ...untimed } = config;
  const poolOf = (connections: number | undefined, option: string) =>
    new LendingPool(hosts, connections === undefined ? config : { ...config, max: connections, min: 0 }, option, warn);
  const pool = poolOf(undefined, "connections");
  const limited = new LimitedReads((connections) => poolOf(connections, "http.limits.connections"));
  const db = new PostgresDb(target, hosts, pool, limited, untimed, direct, users);
  try {
    const [server] = await db.rows<{ version: number; read_only: boolean }>({
      text: "select current_setting('server_version_num')::int as version, current_setting('transaction_read_only')::bool as read_only",
      name: "",
      values: [],
    });
    if (server!.version < 140_000) {
      throw new PawlError(
        "database_unsupported",
        `Pawl needs PostgreSQL 14 or newer, and this server is ${Math.floor(server!.version / 10_000)}.`,
      );
    }
    if (server!.read_only) throw readOnly("it is in read-only mode");
    return db;
  } catch (error) {
    await pool.end();
    throw error;
  }
}

/** The search path of a user's own statements: that of the server, the database, the role and the URL. */
async function readUsersPath(hosts: Hosts, startup: string): Promise<string> {
  let client: pg.Client | undefined;
  try {
    client = await hosts.connect({
      application_name: "pawl",
      ...clientTimeouts,
      ...(startup === "" ? {} : { options: startup }),
    });
    const { rows } = await client.query("select pg_catalog.current_setting('search_path') as path");
    return (rows[0] as { path: string }).path;
  } catch (error) {
    throw translate(error, "connecting");
  } finally {
    await client?.end().catch(() => {});
  }
}

class PostgresDb implements Db {
  readonly kind = "postgres";
  readonly #hosts: Hosts;
  readonly #pool: LendingPool;
  readonly #limited: LimitedReads;
  readonly #scriptConfig: pg.ClientConfig;
  /** Not through a pooler, as far as it shows. */
  readonly #direct: boolean;
  /** Off behind a pooler that does not know about prepared statements. */
  #prepares: boolean;
  /** The search path of a user's own statements in a transaction. */
  readonly #usersPath: string;
  #closed: Promise<void> | undefined;

  /** Renews leases in a thread, if the target can be passed to one. */
  readonly keepLeases?: (options: KeeperOptions) => LeaseKeeper;

  constructor(
    target: PostgresTarget,
    hosts: Hosts,
    pool: LendingPool,
    limited: LimitedReads,
    scriptConfig: pg.ClientConfig,
    direct: boolean,
    usersPath: string,
  ) {
    this.#scriptConfig = scriptConfig;
    this.#hosts = hosts;
    if (fitsThread(target.settings)) this.keepLeases = (options) => keepLeasesInThread(target, options);
    this.#usersPath = usersPath;
    this.#pool = pool;
    this.#limited = limited;
    this.#direct = direct;
    this.#prepares = direct;
  }

  rows<Row>(statement: Statement): Promise<Row[]> {
    return this.#rows(statement, this.#prepares);
  }

  async #rows<Row>(statement: Statement, prepared: boolean): Promise<Row[]> {
    try {
      return await this.#using(async (client) => {
        const read = () => run<Row>(client, statement, prepared);
        try {
          return await (this.#limited.pool === undefined ? read() : this.#limited.read(client, read));
        } catch (error) {
          throw prepared && isOutdatedPlan(error) ? new BrokenConnection(error, error as Error) : error;
        }
      });
    } catch (error) {
      if (prepared && isOutdatedPlan(error)) return this.#rows(statement, false);
      if (!prepared || !isLostStatement(error)) throw error;
      // A pooler switched to a backend without the prepared statement. It was not executed, so it is sent again without
      // a name.
      this.#prepares = false;
      return this.rows(statement);
    }
  }

  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.#using(async (client) => {
      // Set again for the transaction: a pooler may have dropped the settings of the connection's start.
      await execute(client, `begin; ${userPlanning}; set local search_path = ${ownSearchPath}`);
      await this.#limited.limit(client);
      const tx = new PostgresTx(client, this.#usersPath);
      let result: T;
      try {
        result = await unlessLost(client, () => work(tx));
      } catch (error) {
        tx.end();
        await client.query("rollback").catch((failure: Error) => {
          throw new BrokenConnection(error, failure);
        });
        throw error;
      }
      tx.end();
      await commit(client);
      return result;
    });
  }

  /** On a connection of its own, whose answer may take as long as the server allows. */
  async script(text: string): Promise<void> {
    this.#refuseClosed();
    const client = await this.#hosts.connect(this.#scriptConfig).catch((error: unknown) => {
      throw translate(error, "connecting");
    });
    try {
      await execute(client, text);
    } finally {
      await client.end().catch(() => {});
    }
  }

  /** The version of the server, without what its distributor adds to it. */
  async info(): Promise<{ postgres: string; pglite: undefined }> {
    const [server] = await this.rows<{ version: string }>({
      text: "select current_setting('server_version') as version",
      name: "",
      values: [],
    });
    return { postgres: server!.version.split(" ")[0]!, pglite: undefined };
  }

  listen(options: ListenOptions): Listener {
    if (this.#direct) return new PostgresListener(this.#hosts, (text) => sendNotice(this, text), options);
    options.onWarning(unheard); // Through a pooler, LISTEN would stay behind on a connection that others use.
    return { stop: async () => {} };
  }

  async confirm(): Promise<void> {
    await this.rows({ text: "select pg_logical_emit_message(true, 'pawl', '')", name: "", values: [] });
  }

  limited<T>(limits: ReadLimits, work: () => Promise<T>): Promise<T> {
    return this.#limited.within(limits, work);
  }

  close(): Promise<void> {
    this.#closed ??= Promise.all([this.#pool.end(), this.#limited.end()]).then(() => {});
    return this.#closed;
  }

  #refuseClosed(): void {
    if (this.#closed !== undefined) throw new PawlError("closed", "This Pawl is closed. Create a new one.");
  }

  async #using<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    this.#refuseClosed();
    return (this.#limited.pool ?? this.#pool).lend(work);
  }
}

class PostgresTx implements Tx {
  #client: pg.PoolClient | undefined;
  readonly #path: SharedSearchPath;

  constructor(client: pg.PoolClient, users: string) {
    this.#client = client;
    this.#path = new SharedSearchPath((text, values) => client.query(text, values), { current: "own", users });
  }

  async rows<Row>(statement: Statement): Promise<Row[]> {
    const client = this.#open();
    try {
      await this.#path.own();
    } catch (error) {
      throw translate(error, "running");
    }
    return run<Row>(client, statement, false).catch((error: unknown) => {
      this.#path.forget();
      throw error;
    });
  }

  async query<Row>(text: string, values?: readonly unknown[]): Promise<{ rows: Row[] }> {
    const client = this.#open();
    try {
      if (isRollback(text)) this.#path.forget();
      if (!isTransactionControl(text)) await this.#path.users();
      const result = await client.query(text, values as unknown[] | undefined);
      return { rows: result.rows as Row[] };
    } catch (error) {
      this.#path.forget();
      // Refusals of the server or the driver are passed to the user; a lost connection is handled here.
      const translated = error instanceof TypeError ? undefined : translate(error, "running");
      throw translated?.code === "outcome_unknown" || isReadOnly(translated) ? translated : error;
    }
  }

  /** From here on the connection belongs to another user. */
  end(): void {
    this.#client = undefined;
  }

  #open(): pg.PoolClient {
    if (this.#client !== undefined) return this.#client;
    throw new PawlError(
      "not_a_transaction",
      "This transaction has ended; only statements that are awaited inside it belong to it.",
    );
  }
}

async function run<Row>(client: pg.PoolClient, statement: Statement, prepared: boolean): Promise<Row[]> {
  try {
    const values = statement.values as unknown[];
    const result =
      prepared && statement.name !== ""
        ? await client.query({ text: statement.text, values, name: statement.name })
        : await client.query(statement.text, values);
    return result.rows as Row[];
  } catch (error) {
    throw translate(error, "running");
  }
}

async function execute(client: pg.ClientBase, text: string): Promise<void> {
  try {
    await client.query(text);
  } catch (error) {
    throw translate(error, "running");
  }
}

/**
 * The server ends a transaction that is idle for too long: one that never settles would hold the connection for ever.
 */
async function unlessLost<T>(client: pg.PoolClient, work: () => Promise<T>): Promise<T> {
  let onError: (error: Error) => void = () => {};
  const lost = new Promise<never>((_, reject) => {
    onError = (error) => reject(translate(error, "running"));
  });
  client.once("error", onError);
  try {
    return await Promise.race([work(), lost]);
  } finally {
    client.removeListener("error", onError);
  }
}

/** After a failed statement, even if its error was caught, Postgres answers a commit with a rollback. */
async function commit(client: pg.PoolClient): Promise<void> {
  let command: string;
  try {
    ({ command } = await client.query("commit"));
  } catch (error) {
    throw translate(error, "running");
  }
  if (command === "COMMIT") return;
  const message = "The transaction was rolled back instead of committed: one of its statements had failed.";
  throw Object.assign(new Error(message), { code: "25P02" });
}

/** The name is unknown to this backend, or taken by another client. */
function isLostStatement(error: unknown): boolean {
  const state = sqlState((error as { cause?: unknown }).cause);
  return state === "26000" || state === "42P05";
}

/** A migration changed the columns that a prepared statement returns; it was not executed. */
function isOutdatedPlan(error: unknown): boolean {
  return sqlState((error as { cause?: unknown }).cause) === "0A000";
}
