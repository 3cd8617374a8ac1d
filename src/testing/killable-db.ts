import { type Db, type Statement, sql, type Tx } from "../store/port/db.ts";

/**
 * The database as seen by a process that can die. After `kill` no call of that process ever settles, as if it had
 * ended: its open transactions are rolled back, and committed data stays. Other processes continue with the same
 * database.
 */
export class KillableDb implements Db {
  readonly kind: Db["kind"];
  readonly #db: Db;
  readonly #death: Promise<never>;
  #die: (reason: Error) => void = () => {};
  #isDead = false;
  #openTransactions = 0;
  #ended = 0;

  constructor(db: Db) {
    this.kind = db.kind;
    this.#db = db;
    this.#death = new Promise((_, reject) => {
      this.#die = reject;
    });
    this.#death.catch(() => {}); // A process that dies between transactions has none to roll back.
  }

  /** Ends the process. */
  kill(): void {
    this.#isDead = true;
    this.#die(new Error("The process died."));
  }

  /**
   * Distinguishes stored states: while it is the same, nothing was committed. The writes of an open transaction are
   * lost when the process dies, so they count once the transaction has ended.
   */
  async mark(): Promise<string> {
    if (this.#openTransactions > 0) return `transaction ${this.#ended}`;
    const [row] = await this.#db.rows<{ next: string }>(
      sql`select pg_snapshot_xmax(pg_current_snapshot())::text as next`,
    );
    return row!.next;
  }

  rows<Row>(statement: Statement): Promise<Row[]> {
    return this.#whileAlive(() => this.#db.rows<Row>(statement));
  }

  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.#whileAlive(async () => {
      this.#openTransactions += 1;
      try {
        return await this.#db.transaction((tx) => Promise.race([work(this.#mortal(tx)), this.#death]));
      } finally {
        this.#openTransactions -= 1;
        this.#ended += 1;
      }
    });
  }

  script(text: string): Promise<void> {
    return this.#whileAlive(() => this.#db.script(text));
  }

  /** For this process only: the owner of the database closes it. */
  async close(): Promise<void> {}

  #mortal(tx: Tx): Tx {
    return {
      rows: (statement) => this.#whileAlive(() => tx.rows(statement)),
      query: (text, values) => this.#whileAlive(() => tx.query(text, values)),
    };
  }

  /** The result of a call, if the process is still alive. */
  async #whileAlive<T>(call: () => Promise<T>): Promise<T> {
    if (this.#isDead) return never();
    try {
      const answer = await call();
      return this.#isDead ? await never() : answer;
    } catch (error) {
      if (this.#isDead) return never();
      throw error;
    }
  }
}

/** A promise of a dead process. */
export function never(): Promise<never> {
  return new Promise(() => {});
}
