import { PawlError } from "../../base/errors.ts";
import type { Param, Statement, Tx } from "../port/db.ts";
import { translate } from "../port/failures.ts";
import type { Call, Session } from "./request-queue.ts";
import { writeValue } from "./values.ts";
import { DatabaseError, type Reply } from "./wire.ts";

/** A transaction that sends nothing for this long is ended, as by a server: others wait for it. */
const idleMs = 60_000;

/** A transaction in a session of the line. It begins with its first statement, in one message with it. */
export class Transaction implements Tx {
  readonly #session: Session;
  readonly #timer: NodeJS.Timeout;
  #state: "new" | "open" | "ended" = "new";
  #running = 0;
  #failure: unknown;
  /** Fails when the transaction was ended. */
  readonly lost: Promise<never>;

  constructor(session: Session) {
    this.#session = session;
    let lose: (error: unknown) => void;
    this.lost = new Promise((_, reject) => {
      lose = reject;
    });
    this.lost.catch(() => {}); // Most transactions end before.
    this.#timer = setTimeout(() => {
      if (this.#running > 0) this.#timer.refresh();
      else lose(new DatabaseError(`The transaction sent nothing for ${idleMs / 1000} s and was rolled back.`, "25P03"));
    }, idleMs);
    this.#timer.unref();
  }

  end(): void {
    this.#state = "ended";
    clearTimeout(this.#timer);
    this.#session.end();
  }

  async rows<Row>(statement: Statement): Promise<Row[]> {
    try {
      return (await this.#run(callOf(statement))).rows as Row[];
    } catch (error) {
      throw translate(error, "running");
    }
  }

  async query<Row = Record<string, unknown>>(text: string, values?: readonly unknown[]): Promise<{ rows: Row[] }> {
    // Without values one text may contain several statements, as with `pg`.
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

  /** Never fails: a database that does not answer has rolled back by itself. */
  async rollback(): Promise<void> {
    if (this.#state !== "open") return;
    this.#state = "ended";
    await this.#session.run(script("rollback")).catch(() => {});
  }

  async #run(call: Call): Promise<Reply> {
    if (this.#state === "new") {
      this.#state = "open";
      this.#session.run(script("begin")).catch(() => {});
    }
    this.#checkOpen();
    this.#running++;
    try {
      const reply = await this.#session.run(call);
      // The statement was a `commit` or `rollback`: what follows would be on its own.
      if (reply.status === "idle") this.#state = "ended";
      return reply;
    } catch (error) {
      this.#failure ??= error;
      throw error;
    } finally {
      this.#running--;
      if (this.#state === "open") this.#timer.refresh();
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

export function callOf({ text, name, values }: Statement): Call {
  return { text, name, values: values.map(paramText) };
}

function paramText(value: Param): string | null {
  return value === null ? null : String(value);
}

/** One or several statements without values. */
export function script(text: string): Call {
  return { text, name: "", values: undefined };
}
