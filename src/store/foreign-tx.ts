import { PawlError } from "../base/errors.ts";
import type { Statement, Tx } from "./db.ts";
import { sqlState, translate } from "./failures.ts";

/**
 * One connection in a transaction, as many libraries have it: a `pg` client, a PGlite transaction, the `tx` of
 * `pawl.transaction`, or what `fromKysely`, `fromDrizzle` and `fromPrisma` make.
 */
export interface TransactionLike {
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>;
}

/** A user's transaction as the kernel uses it. */
export function adoptTx(given: unknown): Tx {
  const { query, rows } = (given ?? {}) as { query?: unknown; rows?: unknown };
  if (typeof query === "function" && typeof rows === "function") return given as Tx;
  if (typeof query !== "function") {
    throw new PawlError(
      "option_invalid",
      "`tx` must be a connection with `query(text, values)`; wrap others with fromKysely, fromDrizzle or fromPrisma.",
    );
  }
  const foreign = given as TransactionLike;
  return {
    async rows<Row>(statement: Statement): Promise<Row[]> {
      try {
        return rowsOf<Row>(await foreign.query(statement.text, [...statement.values]));
      } catch (error) {
        throw translate(error, "running");
      }
    },
    async query<Row>(text: string, values?: readonly unknown[]): Promise<{ rows: Row[] }> {
      return { rows: rowsOf<Row>(await foreign.query(text, values === undefined ? undefined : [...values])) };
    },
  };
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
 * Runs `work` between a savepoint and its release, so that what fails in it leaves the transaction as it was and usable.
 * Only a transaction has savepoints: a pool, or a connection outside a transaction, is told apart here.
 */
export async function withinSavepoint<T>(tx: Tx, work: () => Promise<T>): Promise<T> {
  try {
    await tx.query("savepoint pawl_call");
  } catch (error) {
    const state = sqlState(error) ?? sqlState((error as { cause?: unknown }).cause);
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
    result = await work();
  } catch (error) {
    // Where even that fails, the connection is lost, and what was thrown first says more.
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
  return {
    query: (text, values = []) =>
      trx.executeQuery({
        sql: text,
        parameters: values,
        query: { kind: "RawNode", sqlFragments: [text], parameters: [] },
        queryId: { queryId: "pawl" },
      }),
  };
}

/** A Drizzle transaction as `tx`, with Drizzle's own `sql`: `db.transaction((t) => pawl.send(…, { tx: fromDrizzle(t, sql) }))`. */
export function fromDrizzle(
  transaction: { execute(query: unknown): PromiseLike<unknown> },
  sql: { raw(text: string): unknown; join(chunks: unknown[]): unknown; param(value: unknown): unknown },
): TransactionLike {
  return {
    async query(text, values = []) {
      // Drizzle numbers parameters itself, by their place: the text is cut at each $n.
      const chunks = text
        .split(/\$(\d+)/)
        .map((piece, index) => (index % 2 === 0 ? sql.raw(piece) : sql.param(values[Number(piece) - 1])));
      const result = (await transaction.execute(sql.join(chunks))) as { rows: unknown[] } | unknown[];
      return { rows: Array.isArray(result) ? result : result.rows };
    },
  };
}

/** A Prisma transaction as `tx`: `prisma.$transaction((t) => pawl.send(…, { tx: fromPrisma(t) }))`. */
export function fromPrisma(transaction: {
  $queryRawUnsafe(text: string, ...values: unknown[]): PromiseLike<unknown>;
}): TransactionLike {
  return {
    query: async (text, values = []) => ({ rows: (await transaction.$queryRawUnsafe(text, ...values)) as unknown[] }),
  };
}
