import { PawlError } from "../../base/errors.ts";
import { compute } from "../../base/guard.ts";
import type { Statement, Tx } from "./db.ts";
import { sqlState, translate } from "./failures.ts";
import { driverErrorOfDrizzle, driverErrorOfPrisma } from "./library-errors.ts";
import { isRollback, isTransactionControl, SharedSearchPath } from "./search-path.ts";
import { inTurn } from "./transaction-turns.ts";

/**
 * One connection in a transaction, as many libraries have it: a `pg` client, a PGlite transaction, the `tx` of
 * `pawl.transaction`, or what `fromKysely`, `fromDrizzle` and `fromPrisma` make.
 *
 * Pawl's calls on one transaction may be made concurrently, as in `Promise.all`: they run one after the other, in the order
 * in which they were made. A transaction is recognised by its object (for the adapters: by the object that they wrap), so
 * make a wrapper of your own once per transaction, and not once per call. Wait for Pawl's calls before you run statements
 * of your own on a connection of yours; only the `tx` of `pawl.transaction` and of hooks orders those, too.
 */
export interface TransactionLike {
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>;
}

/** The transaction behind an adapter, or behind the `tx` that a user gets. */
const wrapped = new WeakMap<object, object>();

function wrap<Wrapper extends object>(wrapper: Wrapper, connection: object): Wrapper {
  wrapped.set(wrapper, connectionOf(connection));
  return wrapper;
}

function connectionOf(tx: object): object {
  return wrapped.get(tx) ?? tx;
}

/** Runs a call that is part of the user's transaction `tx` when the earlier calls on it have ended. */
export function inTurnOn<T>(tx: unknown, call: () => Promise<T>): Promise<T> {
  // A value that is no transaction is refused by the call itself.
  return typeof tx === "object" && tx !== null ? inTurn(connectionOf(tx), call) : call();
}

const userTransactions = new WeakMap<object, Tx>();

/** A transaction as `pawl.transaction` and hooks get it: the statements that they run on it take turns with their calls. */
export function forUser(tx: Tx): Tx {
  const user: Tx = {
    rows: (statement) => inTurnOn(tx, () => tx.rows(statement)),
    query: (text, values) => inTurnOn(tx, () => tx.query(text, values)),
  };
  userTransactions.set(user, tx);
  return wrap(user, tx);
}

/** The same for a hook that is about to run: on a user's own connection, its search path is the user's again. */
export async function forHook(tx: Tx): Promise<Tx> {
  if (tx instanceof ForeignTx) await tx.toUsersPath();
  return forUser(tx);
}

/** A user's transaction as the kernel uses it. */
export function adoptTx(given: unknown): Tx {
  const { query, rows } = (given ?? {}) as { query?: unknown; rows?: unknown };
  if (typeof query === "function" && typeof rows === "function")
    return userTransactions.get(given as Tx) ?? (given as Tx);
  if (typeof query !== "function") {
    throw new PawlError(
      "option_invalid",
      "`tx` must be a connection with `query(text, values)`; wrap others with fromKysely, fromDrizzle or fromPrisma.",
    );
  }
  const foreign = given as TransactionLike;
  const adopted = new ForeignTx(foreign);
  return wrap(adopted, foreign);
}

/**
 * A user's own connection in a transaction. Pawl's statements run on its own search path, then the user's is restored.
 */
class ForeignTx implements Tx {
  readonly #foreign: TransactionLike;
  readonly #path: SharedSearchPath;
  /** How many calls it is inside of: a hook of one may make another. */
  #calls = 0;

  constructor(foreign: TransactionLike) {
    this.#foreign = foreign;
    const run = async (text: string, values: unknown[]) => ({ rows: rowsOf(await foreign.query(text, values)) });
    this.#path = new SharedSearchPath(run, { current: "users" });
  }

  async rows<Row>(statement: Statement): Promise<Row[]> {
    if (this.#calls === 0) return this.call(() => this.rows<Row>(statement));
    try {
      await this.#path.own();
      return rowsOf<Row>(await this.#foreign.query(statement.text, [...statement.values]));
    } catch (error) {
      this.#path.forget();
      throw translate(error, "running");
    }
  }

  /** A statement of a hook, or one that controls the transaction. */
  async query<Row>(text: string, values?: readonly unknown[]): Promise<{ rows: Row[] }> {
    try {
      if (isRollback(text)) this.#path.forget();
      if (!isTransactionControl(text)) await this.#path.users();
      return { rows: rowsOf<Row>(await this.#foreign.query(text, values === undefined ? undefined : [...values])) };
    } catch (error) {
      this.#path.forget();
      throw error;
    }
  }

  /** A hook follows, which may also use the connection itself. */
  toUsersPath(): Promise<void> {
    return this.#path.users();
  }

  /** Runs statements of one call, and leaves the user's search path behind. What fails is rolled back with its path. */
  async call<T>(work: () => Promise<T>): Promise<T> {
    this.#calls++;
    try {
      const result = await work();
      await this.#path.users();
      return result;
    } finally {
      this.#calls--;
    }
  }
}

function rowsOf<Row>(answer: unknown): Row[] {
  const rows = (answer as { rows?: unknown } | null | undefined)?.rows;
  if (Array.isArray(rows)) return rows as Row[];
  throw new PawlError(
    "option_invalid",
    "The `query` of `tx` must answer with `{ rows }`, as that of a `pg` client does.",
  );
}

/**
 * Runs `work` between a savepoint and its release, so that its failure leaves the transaction unchanged and usable.
 * Only a transaction has savepoints: a pool, or a connection outside a transaction, is detected here.
 */
export async function withinSavepoint<T>(tx: Tx, work: () => Promise<T>): Promise<T> {
  try {
    await tx.query("savepoint pawl_call");
  } catch (error) {
    // A user's wrapper may keep the driver's error as the cause.
    const state = sqlState(error) ?? sqlState((error as { cause?: unknown } | null | undefined)?.cause);
    if (state !== "25P01") throw translate(error, "running");
    throw new PawlError(
      "not_a_transaction",
      "`tx` is not in a transaction: begin one first and pass that connection (a pool gives another one each time).",
      {},
      { cause: error },
    );
  }
  let result: T;
  try {
    result = await (tx instanceof ForeignTx ? tx.call(work) : work());
  } catch (error) {
    // If even that fails, the connection is lost, and the first error says more.
    await tx.query("rollback to savepoint pawl_call").catch(() => {});
    throw error;
  }
  try {
    await tx.query("release savepoint pawl_call");
  } catch (error) {
    throw translate(error, "running");
  }
  return result;
}

/** A Kysely transaction as `tx`: `await db.transaction().execute((trx) => pawl.send(…, { tx: fromKysely(trx) }))`. */
export function fromKysely(trx: {
  // biome-ignore lint/suspicious/noExplicitAny: Kysely's own type, without depending on Kysely.
  executeQuery(query: any): Promise<{ rows: unknown[] }>;
}): TransactionLike {
  const adapter: TransactionLike = {
    query: (text, values = []) =>
      trx.executeQuery({
        sql: text,
        parameters: values,
        query: { kind: "RawNode", sqlFragments: [text], parameters: [] },
        queryId: { queryId: "pawl" },
      }),
  };
  return wrap(adapter, trx);
}

/** A Drizzle transaction as `tx`, with Drizzle's own `sql`: `db.transaction((t) => pawl.send(…, { tx: fromDrizzle(t, sql) }))`. */
export function fromDrizzle(
  transaction: { execute(query: unknown): PromiseLike<unknown> },
  sql: { raw(text: string): unknown; join(chunks: unknown[]): unknown; param(value: unknown): unknown },
): TransactionLike {
  const computed = (name: string, work: () => unknown) =>
    compute("option_invalid", `\`${name}\` of Drizzle's \`sql\``, work);
  const adapter: TransactionLike = {
    async query(text, values = []) {
      // Drizzle numbers parameters itself, by their place: the text is cut at each $n.
      const chunks = text
        .split(/\$(\d+)/)
        .map((piece, index) =>
          index % 2 === 0
            ? computed("raw", () => sql.raw(piece))
            : computed("param", () => sql.param(values[Number(piece) - 1])),
        );
      try {
        const result = (await transaction.execute(computed("join", () => sql.join(chunks)))) as
          | { rows: unknown[] }
          | unknown[];
        return { rows: Array.isArray(result) ? result : result.rows };
      } catch (error) {
        throw driverErrorOfDrizzle(error);
      }
    },
  };
  return wrap(adapter, transaction);
}

/** A Prisma transaction as `tx`: `prisma.$transaction((t) => pawl.send(…, { tx: fromPrisma(t) }))`. */
export function fromPrisma(transaction: {
  $queryRawUnsafe(text: string, ...values: unknown[]): PromiseLike<unknown>;
}): TransactionLike {
  const adapter: TransactionLike = {
    async query(text, values = []) {
      try {
        return { rows: (await transaction.$queryRawUnsafe(text, ...values)) as unknown[] };
      } catch (error) {
        throw driverErrorOfPrisma(error);
      }
    },
  };
  return wrap(adapter, transaction);
}
