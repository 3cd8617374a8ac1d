import { PawlError } from "../../../src/base/errors.ts";
import { type Db, type Executor, type Statement, sql, type Tx } from "../../../src/store/port/db.ts";
import { testEpochMs } from "../../../src/testing/clock.ts";
import { turn, type VirtualTime } from "./virtual-time.ts";

/** What can go wrong with one statement of a process. */
export type StatementFault =
  /** The connection breaks before the statement arrives. */
  | "lost request"
  /** The connection breaks after the statement was executed. */
  | "lost reply"
  /** The process is killed before or after the statement. */
  | "killed before"
  | "killed after"
  /** The answer takes some seconds. */
  | "slow";

/** A process as its database connection sees it. */
export interface Client {
  readonly isAlive: boolean;
  /** Rejects when the process is killed. */
  readonly death: Promise<never>;
  kill(): void;
  /** What is to happen to the statement that comes now. */
  faultOf(statement: string): StatementFault | undefined;
}

interface Turn {
  readonly client: Client;
  readonly begin: () => Promise<void>;
}

const slowMs = 4_000;
/** Many times what all processes send at one moment. */
const mostStatements = 20_000;

/** Processes send statement after statement, and no time passes. */
export class Livelock extends Error {
  override readonly name = "Livelock";

  constructor() {
    super(`more than ${mostStatements} statements were sent at one moment`);
  }
}
const originMs = 1_000_000;

/**
 * One database for all processes of a run. It executes one statement, or one transaction, at a time; whose turn it is, the
 * dice say. Its clock is the virtual one, plus what a fault has set it ahead by.
 */
export class SimulatedDatabase {
  readonly #db: Db;
  readonly #time: VirtualTime;
  readonly #random: () => number;
  readonly #queue: Turn[] = [];
  readonly #calm = new Set<() => void>();
  #current: Turn | undefined;
  #isScheduled = false;
  #running = 0;
  #transactions = 0;
  #clockMs: number | undefined;
  #rewritten = new Map<string, Statement>();
  /** How far a fault has set the database's clock ahead. */
  aheadMs = 0;
  /** Until when, in virtual time, no connection can be opened. */
  awayUntilMs = 0;
  statements = 0;

  constructor(db: Db, time: VirtualTime, random: () => number) {
    this.#db = db;
    this.#time = time;
    this.#random = random;
  }

  get nowMs(): number {
    return testEpochMs + this.#time.nowMs - originMs + this.aheadMs;
  }

  /** The database as one process reaches it. */
  connect(client: Client): Db {
    return {
      kind: "pglite",
      rows: <Row>(statement: Statement) =>
        this.#use(client, statement.text, async () => {
          await this.#tick(this.#db);
          return this.#count(() => this.#db.rows<Row>(this.#rewrite(statement)));
        }),
      transaction: <T>(work: (tx: Tx) => Promise<T>) =>
        this.#use(client, "transaction", () => this.#transaction(client, work)),
      script: (text: string) => this.#use(client, "script", () => this.#count(() => this.#db.script(text))),
      close: async () => {},
    };
  }

  /** Resolves when nothing runs and nothing could run without a timer. Throws a `Livelock` when that never comes. */
  async settle(): Promise<void> {
    const before = this.statements;
    for (let quiet = 0; quiet < 4; ) {
      await turn();
      if (this.statements - before > mostStatements) throw new Livelock();
      const isBusy = this.#running > 0 || this.#isScheduled || (this.#queue.length > 0 && this.#current === undefined);
      quiet = isBusy ? 0 : quiet + 1;
      if (this.#running > 0) await new Promise<void>((resolve) => this.#calm.add(resolve));
    }
  }

  /**
   * The database itself, for checks: no fault reaches them. A transaction with a slow statement holds the only connection:
   * time passes until it has ended.
   */
  async check<T>(work: (db: Db) => Promise<T>): Promise<T> {
    while (this.#transactions > 0 && this.#time.fireNext(Number.POSITIVE_INFINITY)) await this.settle();
    await this.#tick(this.#db);
    return work(this.#db);
  }

  async #transaction<T>(client: Client, work: (tx: Tx) => Promise<T>): Promise<T> {
    const statement = async <Answer>(tx: Tx, text: string, ask: () => Promise<Answer>): Promise<Answer> => {
      await this.#tick(tx);
      return this.#faulty(client, text, () => this.#count(ask));
    };
    this.#running++;
    this.#transactions++;
    try {
      return await this.#db.transaction(async (tx) => {
        const wrapped: Tx = {
          rows: (one) => statement(tx, one.text, () => tx.rows(this.#rewrite(one))),
          query: (text, values) => statement(tx, text, () => tx.query(text, values)),
        };
        this.#end();
        try {
          return await Promise.race([work(wrapped), client.death]);
        } finally {
          this.#running++;
        }
      });
    } finally {
      this.#transactions--;
      this.#clockMs = undefined; // What was rolled back has taken the clock back, too.
      this.#end();
    }
  }

  #use<T>(client: Client, text: string, use: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const run = () => this.#faulty(client, text, use);
      const answered = (answer: () => void) => () => {
        if (client.isAlive) answer();
      };
      const begin = () =>
        run().then(
          (answer) => answered(() => resolve(answer))(),
          (error: unknown) => answered(() => reject(error as Error))(),
        );
      this.#queue.push({ client, begin });
      this.#schedule();
    });
  }

  async #faulty<T>(client: Client, text: string, use: () => Promise<T>): Promise<T> {
    if (!client.isAlive) return client.death;
    if (this.awayUntilMs > this.#time.nowMs) {
      throw new PawlError("database_unreachable", "The simulated database is away.");
    }
    const fault = client.faultOf(text);
    if (fault === "killed before") {
      client.kill();
      return client.death;
    }
    if (fault === "lost request") throw lost();
    if (fault === "slow") await this.#time.as(client, () => new Promise((resolve) => setTimeout(resolve, slowMs)));
    const answer = await use();
    if (fault === "lost reply") throw lost();
    if (fault === "killed after") client.kill();
    return client.isAlive ? answer : client.death;
  }

  #schedule(): void {
    if (this.#isScheduled || this.#current !== undefined || this.#queue.length === 0) return;
    this.#isScheduled = true;
    void turn().then(() => {
      this.#isScheduled = false;
      this.#beginOne();
    });
  }

  #beginOne(): void {
    const alive = this.#queue.filter(({ client }) => client.isAlive);
    this.#queue.splice(0, this.#queue.length, ...alive);
    if (alive.length === 0 || this.#current !== undefined) return;
    const [next] = this.#queue.splice(Math.floor(this.#random() * alive.length), 1);
    this.#current = next;
    void next!.begin().finally(() => {
      this.#current = undefined;
      this.#schedule();
    });
  }

  /** The database's clock follows before the next statement that could read it. */
  async #tick(executor: Executor): Promise<void> {
    const ms = this.nowMs;
    if (this.#clockMs === ms) return;
    this.#clockMs = ms;
    await this.#count(() => executor.rows(sql`update pawl.test_clock set now = pawl.at(${ms}::float8)`)).catch(() => {
      this.#clockMs = undefined; // The transaction has failed already.
    });
  }

  async #count<T>(ask: () => Promise<T>): Promise<T> {
    this.statements++;
    this.#running++;
    try {
      return await ask();
    } finally {
      this.#end();
    }
  }

  #end(): void {
    this.#running--;
    if (this.#running > 0) return;
    for (const resolve of this.#calm) resolve();
    this.#calm.clear();
  }

  /** The server's own clock is the virtual one, too. */
  #rewrite(statement: Statement): Statement {
    if (!statement.text.includes("clock_timestamp()")) return statement;
    let found = this.#rewritten.get(statement.text);
    if (found === undefined) {
      const text = statement.text.replaceAll("clock_timestamp()", "pawl.now()");
      found = { text, name: statement.name === "" ? "" : `${statement.name}_v`, values: [] };
      this.#rewritten.set(statement.text, found);
    }
    return { ...found, values: statement.values };
  }
}

function lost(): PawlError {
  return new PawlError("outcome_unknown", "The simulated connection was lost in the middle of a statement.");
}
