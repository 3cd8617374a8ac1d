import { AsyncLocalStorage } from "node:async_hooks";
import type pg from "pg";
import { isPawlError, PawlError } from "../../base/errors.ts";
import type { ReadLimits } from "../port/db.ts";
import type { LendingPool } from "./lending-pool.ts";

const queryCanceled = "57014";
const limitStatements = "select pg_catalog.set_config('statement_timeout', $1, true)";

/**
 * Reads that have connections of their own and a short time for each statement. The timeout is set in a transaction around
 * each: a setting of the connection would get lost behind a pooler, or stay on a connection that others use.
 */
export class LimitedReads {
  readonly #open: (connections: number) => LendingPool;
  readonly #pools = new Map<number, LendingPool>();
  readonly #current = new AsyncLocalStorage<ReadLimits & { readonly pool: LendingPool }>();

  constructor(open: (connections: number) => LendingPool) {
    this.#open = open;
  }

  /** The connections of the current call, if it is limited. */
  get pool(): LendingPool | undefined {
    return this.#current.getStore()?.pool;
  }

  async within<T>(limits: ReadLimits, work: () => Promise<T>): Promise<T> {
    const { connections, statementTimeoutMs } = limits;
    const pool = this.#pools.get(connections) ?? this.#open(connections);
    this.#pools.set(connections, pool);
    try {
      return await this.#current.run({ ...limits, pool }, work);
    } catch (error) {
      if (!isPawlError(error, "busy") || error.details.sqlState !== queryCanceled) throw error;
      const message = `The database did not answer this read within ${statementTimeoutMs / 1_000} s, and it was cancelled. Ask for less (a filter, a smaller limit), or raise \`http.limits.statementTimeout\`.`;
      throw new PawlError("statement_timeout", message, { statementTimeoutMs }, { cause: error });
    }
  }

  /** Limits each statement of a started transaction, if the current call is limited. */
  async limit(client: pg.PoolClient): Promise<void> {
    const limits = this.#current.getStore();
    if (limits !== undefined) await client.query(limitStatements, [String(Math.ceil(limits.statementTimeoutMs))]);
  }

  /** One statement within its limit. All are sent at once, so that they take one round trip where they are pipelined. */
  async read<Row>(client: pg.PoolClient, run: () => Promise<Row[]>): Promise<Row[]> {
    const before = [client.query("begin"), this.limit(client)];
    const [rows] = await Promise.allSettled([run(), client.query("commit"), ...before]);
    if (rows.status === "rejected") throw rows.reason;
    return rows.value;
  }

  async end(): Promise<void> {
    await Promise.all([...this.#pools.values()].map((pool) => pool.end()));
  }
}
