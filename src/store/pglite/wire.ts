import { PawlError } from "../../base/errors.ts";
import { readerOf } from "./values.ts";

/** A refusal by the database, with the fields that `pg` gives its errors too. `code` is the SQLSTATE. */
export class DatabaseError extends Error {
  readonly code: string;
  readonly severity: string | undefined;
  readonly detail: string | undefined;
  readonly hint: string | undefined;
  readonly position: string | undefined;
  readonly where: string | undefined;
  readonly schema: string | undefined;
  readonly table: string | undefined;
  readonly column: string | undefined;
  readonly dataType: string | undefined;
  readonly constraint: string | undefined;

  constructor(message: string, code: string, fields: ReadonlyMap<string, string> = new Map(), cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "DatabaseError";
    this.code = code;
    this.severity = fields.get("S");
    this.detail = fields.get("D");
    this.hint = fields.get("H");
    this.position = fields.get("P");
    this.where = fields.get("W");
    this.schema = fields.get("s");
    this.table = fields.get("t");
    this.column = fields.get("c");
    this.dataType = fields.get("d");
    this.constraint = fields.get("n");
  }
}

/** The answer to one text: the rows of its last result, and the state of the session after it. */
export interface Reply {
  readonly rows: Record<string, unknown>[];
  /** Such as `COMMIT`, or the `ROLLBACK` that a commit of an aborted transaction gives. */
  readonly tag: string;
  readonly status: "idle" | "in transaction" | "aborted";
  /** Whether a name was given to its text, for the next use of it. */
  readonly prepared: boolean;
  readonly error: unknown;
}

const statuses = { 73: "idle", 84: "in transaction", 69: "aborted" } as const;

const describeAndExecute = Buffer.from([0x44, 0, 0, 0, 6, 0x50, 0, 0x45, 0, 0, 0, 9, 0, 0, 0, 0, 0]);
const sync = Buffer.from([0x53, 0, 0, 0, 4]);

/** Writes texts and values in Postgres' own protocol, so that they pass to the thread as bytes, without a copy. */
export class Writer {
  #bytes = Buffer.allocUnsafeSlow(16_384);
  #at = 0;

  get length(): number {
    return this.#at;
  }

  /** Discards what was written after `length`. */
  cut(length: number): void {
    this.#at = length;
  }

  /** Several statements in one text, without values. */
  script(text: string): void {
    this.#message(0x51, () => this.#text(text));
    this.#refuseCopy(text);
  }

  /** One unnamed statement. */
  statement(text: string, values: readonly (string | null)[]): void {
    this.#parse("", text);
    this.#execute("", text, values);
  }

  /** One prepared statement. An earlier one with the same name is closed first: that is never an error. */
  prepare(name: string, text: string, values: readonly (string | null)[]): void {
    this.#message(0x43, () => this.#text(`S${name}`));
    this.#parse(name, text);
    this.#execute(name, text, values);
  }

  /** One statement whose text was kept. */
  prepared(name: string, values: readonly (string | null)[]): void {
    this.#execute(name, "", values);
  }

  /** Returns the written bytes, and starts over. */
  take(): Uint8Array<ArrayBuffer> {
    const taken = new Uint8Array(this.#bytes.subarray(0, this.#at));
    this.#at = 0;
    if (this.#bytes.length > 1_048_576) this.#bytes = Buffer.allocUnsafeSlow(16_384);
    return taken;
  }

  #parse(name: string, text: string): void {
    this.#message(0x50, () => {
      this.#text(name);
      this.#text(text);
      this.#int16(0);
    });
  }

  #execute(name: string, text: string, values: readonly (string | null)[]): void {
    this.#message(0x42, () => {
      this.#text(""); // The portal, which needs no name.
      this.#text(name);
      this.#int16(0); // All values as texts: Postgres parses each by its type.
      this.#int16(values.length);
      for (const value of values) this.#value(value);
      this.#int16(0); // All columns as texts.
    });
    this.#raw(describeAndExecute);
    this.#refuseCopy(text);
    this.#raw(sync);
  }

  /**
   * A `copy … from stdin` would wait for data and, without any, end the database process. Outside a copy this message
   * is ignored, so it is safe to send when the word only occurs in a comment.
   */
  #refuseCopy(text: string): void {
    if (/\bcopy\b/i.test(text)) this.#message(0x66, () => this.#text("there is no standard input to copy from"));
  }

  #message(code: number, body: () => void): void {
    this.#room(5);
    this.#bytes[this.#at] = code;
    const start = this.#at + 1;
    this.#at += 5;
    body();
    this.#bytes.writeInt32BE(this.#at - start, start);
  }

  #raw(bytes: Buffer): void {
    this.#room(bytes.length);
    this.#at += bytes.copy(this.#bytes, this.#at);
  }

  #text(text: string): void {
    if (text.includes("\0"))
      throw new PawlError("value_not_serializable", "A statement cannot contain the character NUL.");
    this.#room(text.length * 3 + 1);
    this.#at += this.#bytes.write(text, this.#at);
    this.#bytes[this.#at++] = 0;
  }

  #value(value: string | null): void {
    this.#room(4 + (value === null ? 0 : value.length * 3));
    if (value === null) {
      this.#bytes.writeInt32BE(-1, this.#at);
      this.#at += 4;
      return;
    }
    const length = this.#bytes.write(value, this.#at + 4);
    this.#bytes.writeInt32BE(length, this.#at);
    this.#at += 4 + length;
  }

  #int16(number: number): void {
    this.#room(2);
    this.#bytes.writeUInt16BE(number, this.#at);
    this.#at += 2;
  }

  #room(count: number): void {
    if (this.#at + count <= this.#bytes.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(this.#bytes.length * 2, this.#at + count));
    this.#bytes.copy(grown, 0, 0, this.#at);
    this.#bytes = grown;
  }
}

interface Column {
  readonly name: string;
  readonly read: (text: string) => unknown;
}

/** Reads whole replies, one for each text that was sent, in their order. */
export function readReplies(bytes: Buffer, onReply: (reply: Reply) => void): void {
  let columns: Column[] = [];
  let rows: Record<string, unknown>[] = [];
  let tag = "";
  let prepared = false;
  let error: unknown;
  let at = 0;
  while (at < bytes.length) {
    const body = at + 5;
    const end = at + 1 + bytes.readInt32BE(at + 1);
    switch (bytes[at]!) {
      case 0x44: // DataRow
        try {
          rows.push(readRow(bytes, body, columns));
        } catch (thrown) {
          error ??= thrown; // Of this text alone; the answers after it are others'.
        }
        break;
      case 0x54: // RowDescription
        columns = readColumns(bytes, body);
        rows = [];
        break;
      case 0x43: // CommandComplete
        tag = bytes.toString("utf8", body, end - 1);
        if (columns.length === 0) rows = [];
        columns = [];
        break;
      case 0x31: // ParseComplete
        prepared = true;
        break;
      case 0x45: // ErrorResponse
        error ??= readError(bytes, body);
        break;
      case 0x5a: // ReadyForQuery
        onReply({ rows, tag, status: statuses[bytes[body] as keyof typeof statuses], prepared, error });
        columns = [];
        rows = [];
        tag = "";
        prepared = false;
        error = undefined;
        break;
      default: // Notices, and acknowledgements of each step.
    }
    at = end;
  }
}

function readColumns(bytes: Buffer, start: number): Column[] {
  const columns: Column[] = [];
  const count = bytes.readInt16BE(start);
  let at = start + 2;
  for (let index = 0; index < count; index++) {
    const end = bytes.indexOf(0, at);
    const name = bytes.toString("utf8", at, end);
    columns.push({ name, read: readerOf(bytes.readUInt32BE(end + 7)) });
    at = end + 19;
  }
  return columns;
}

function readRow(bytes: Buffer, start: number, columns: readonly Column[]): Record<string, unknown> {
  const row: Record<string, unknown> = {};
  let at = start + 2;
  for (const column of columns) {
    const length = bytes.readInt32BE(at);
    at += 4;
    if (length === -1) {
      row[column.name] = null;
      continue;
    }
    row[column.name] = column.read(bytes.toString("utf8", at, at + length));
    at += length;
  }
  return row;
}

function readError(bytes: Buffer, start: number): DatabaseError {
  const fields = new Map<string, string>();
  let at = start;
  while (bytes[at] !== 0) {
    const end = bytes.indexOf(0, at + 1);
    fields.set(String.fromCharCode(bytes[at]!), bytes.toString("utf8", at + 1, end));
    at = end + 1;
  }
  return new DatabaseError(fields.get("M") ?? "unknown failure", fields.get("C") ?? "XX000", fields);
}
