/**
 * The port to a database. Parameters are texts, numbers, booleans or null (lists are one array literal, see
 * `textArray`), and Pawl's own statements return texts, 4-byte numbers, floats, booleans and JSON only, so that every
 * driver, also a user's own, reads the same values.
 */
export type Param = string | number | boolean | null;

export interface Statement {
  readonly text: string;
  readonly values: readonly Param[];
  /** Stable name of a static text, for drivers that keep prepared statements. */
  readonly name: string;
}

/** Runs statements: the database itself, or one transaction on it. */
export interface Executor {
  rows<Row>(statement: Statement): Promise<Row[]>;
}

/** One open transaction. It also runs a user's own texts, in `before` hooks and `pawl.transaction`. */
export interface Tx extends Executor {
  query<Row = Record<string, unknown>>(text: string, values?: readonly unknown[]): Promise<{ rows: Row[] }>;
}

export interface Db extends Executor {
  readonly kind: "postgres" | "pglite";
  /** Runs `work` in a transaction and commits; a throw rolls back and is rethrown. */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /** Several statements in one text without parameters: migrations. Runs in a transaction of its own. */
  script(text: string): Promise<void>;
  /** Where a database can: leases renewed by a thread and a connection of their own. */
  keepLeases?(options: KeeperOptions): LeaseKeeper;
  /** Receives notifications of other processes, where the database supports it; see `sendNotice`. */
  listen?(options: ListenOptions): Listener;
  /**
   * Where a database can: all statements that `work` makes run on a few connections of their own, each for a short time.
   * One that takes longer is cancelled and throws `statement_timeout`.
   */
  limited?<T>(limits: ReadLimits, work: () => Promise<T>): Promise<T>;
  /**
   * Where a database can have standbys: commits something that is written to the WAL, and so returns only once all that was
   * committed before it is as safe as the server's settings demand.
   */
  confirm?(): Promise<void>;
  close(): Promise<void>;
}

/** What keeps expensive reads from the connections of everything else. */
export interface ReadLimits {
  /** The most connections that all of them have at once. */
  readonly connections: number;
  readonly statementTimeoutMs: number;
}

/** Keeps leases alive while their tasks run, and reports which were lost. */
export interface LeaseKeeper {
  keep(leases: readonly { readonly taskId: string; readonly token: number }[]): void;
  drop(taskIds: readonly string[]): void;
  stop(): Promise<void>;
}

export interface KeeperOptions {
  readonly leaseMs: number;
  /** How often they are renewed; well before they could lapse. */
  readonly everyMs: number;
  /** Leases that were seen to be lost. Some may have been dropped, or followed by a newer token, in the meantime. */
  readonly onLost: (leases: readonly { readonly taskId: string; readonly token: number }[]) => void;
  readonly onFailure: (error: unknown) => void;
}

/** Receives notifications, as far as they arrive; verifies that by itself. */
export interface Listener {
  stop(): Promise<void>;
}

export interface ListenOptions {
  readonly onNotice: (text: string) => void;
  /** Called when notifications arrive, for the first time or again. */
  readonly onListening: () => void;
  readonly onWarning: (text: string) => void;
}

/** A part of a statement: text with values, without a name. Made by `part`, used inside `sql`. */
export class Part {
  readonly strings: TemplateStringsArray;
  readonly values: readonly (Param | Part)[];

  constructor(strings: TemplateStringsArray, values: readonly (Param | Part)[]) {
    this.strings = strings;
    this.values = values;
  }
}

/** A part that several statements share, such as the rows of one table in the statement that commits a move. */
export function part(strings: TemplateStringsArray, ...values: (Param | Part)[]): Part {
  return new Part(strings, values);
}

/** Nothing at all, where a statement has room for a part. */
export const noPart = part``;

interface Text {
  readonly text: string;
  readonly name: string;
  /** The parameters of the text, in order: a part, or null for a value. */
  readonly parts: readonly (TemplateStringsArray | null)[];
}

const texts = new WeakMap<TemplateStringsArray, Text[]>();

/**
 * A static statement with its values: sql`select … where id = ${id}`. The text is fixed by the place in the code (and
 * the parts it is made of), so it can be pasted into psql, prepared by name, and explained by a test.
 */
export function sql(strings: TemplateStringsArray, ...given: (Param | Part)[]): Statement {
  const values: Param[] = [];
  const parts: (TemplateStringsArray | null)[] = [];
  collect(given, values, parts);
  const made = texts.get(strings) ?? [];
  let found = made.find((one) => isSame(one.parts, parts));
  if (found === undefined) {
    const text = write(strings, given, { count: 0 });
    found = { text, name: statementName(text), parts };
    made.push(found);
    texts.set(strings, made);
  }
  return { text: found.text, name: found.name, values };
}

function collect(given: readonly (Param | Part)[], values: Param[], parts: (TemplateStringsArray | null)[]): void {
  for (const one of given) {
    if (one instanceof Part) {
      parts.push(one.strings);
      collect(one.values, values, parts);
    } else {
      parts.push(null);
      values.push(one);
    }
  }
}

function isSame(one: Text["parts"], other: Text["parts"]): boolean {
  if (one.length !== other.length) return false;
  for (let index = 0; index < one.length; index++) if (one[index] !== other[index]) return false;
  return true;
}

function write(strings: TemplateStringsArray, given: readonly (Param | Part)[], params: { count: number }): string {
  let text = strings[0]!;
  for (let index = 0; index < given.length; index++) {
    const one = given[index];
    if (one instanceof Part) text += write(one.strings, one.values, params);
    else text += `$${++params.count}`;
    text += strings[index + 1]!;
  }
  return text;
}

/** FNV-1a over the text: equal texts share a prepared statement, different ones never do. */
function statementName(text: string): string {
  let low = 0x811c9dc5;
  let high = 0x01000193;
  for (let index = 0; index < text.length; index++) {
    low = Math.imul(low ^ text.charCodeAt(index), 0x01000193) >>> 0;
    high = Math.imul(high ^ text.charCodeAt(text.length - 1 - index), 0x85ebca6b) >>> 0;
  }
  return `pawl_${low.toString(16)}${high.toString(16)}`;
}

/**
 * A list as a Postgres array literal. Statements write `(select $1::text)::uuid[]`: any driver can send plain text, and
 * behind the select the planner cannot count its elements, so a plan does not depend on the size of a batch. A list of
 * nulls is an empty array, which `unnest` fills up to the length of those next to it: many columns of a batch are null
 * throughout, and need not be sent and read.
 */
export function textArray(list: readonly (Param | undefined)[]): string {
  const pieces = new Array<string | number | boolean>(list.length);
  let empty = true;
  for (let index = 0; index < list.length; index++) {
    const value = list[index];
    if (value === null || value === undefined) {
      pieces[index] = "NULL";
      continue;
    }
    empty = false;
    pieces[index] = typeof value === "string" ? quoted(value) : value;
  }
  return empty ? "{}" : `{${pieces.join(",")}}`;
}

/** Text that an array literal can contain unquoted. NULL is a keyword, so a capital N is quoted. */
const plain = /^[a-z0-9_@/.:-]+$/;
const special = /["\\]/g;

function quoted(text: string): string {
  return plain.test(text) && text !== "null" ? text : `"${text.replace(special, "\\$&")}"`;
}
