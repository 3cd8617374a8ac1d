import type { Param } from "./db.ts";

/**
 * The search path of Pawl's own statements. On a path with a schema in which another role may create, an overload of a
 * function or an operator that matches better than the built-in one would run with Pawl's permissions.
 */
export const ownSearchPath = "pg_catalog, pg_temp";

type Run = (text: string, values: Param[]) => Promise<{ rows: unknown[] }>;

const switchToOwn =
  "select pg_catalog.current_setting('search_path') as path, pg_catalog.set_config('search_path', $1, true)";
const switchTo = "select pg_catalog.set_config('search_path', $1, true)";

/**
 * The search path of a transaction that Pawl's statements and a user's share: each kind runs on its own. It is changed
 * for the transaction only, when the kind changes, and follows what the user sets.
 */
export class SharedSearchPath {
  readonly #run: Run;
  #users: string | undefined;
  /** Undefined where a rollback may have brought back an earlier one. */
  #current: "own" | "users" | undefined;

  constructor(run: Run, begins: { readonly current: "own" | "users"; readonly users?: string | undefined }) {
    this.#run = run;
    this.#current = begins.current;
    this.#users = begins.users;
  }

  /** For a statement of Pawl. */
  async own(): Promise<void> {
    if (this.#current === "own") return;
    const { rows } = await this.#run(switchToOwn, [ownSearchPath]);
    const { path } = rows[0] as { path: string };
    if (path !== ownSearchPath) this.#users = path;
    this.#current = "own";
  }

  /** For a statement of the user. */
  async users(): Promise<void> {
    if (this.#current === "users" || this.#users === undefined) return;
    await this.#run(switchTo, [this.#users]);
    this.#current = "users";
  }

  /** A statement failed, or a savepoint was rolled back to: the path may be the one from before. */
  forget(): void {
    this.#current = undefined;
  }
}

/** A statement that only steers the transaction: it names nothing, and some of them must work when everything else fails. */
export function isTransactionControl(text: string): boolean {
  return /^\s*(?:savepoint|release|rollback)\b/i.test(text);
}

/** One that brings back an earlier search path with all else. */
export function isRollback(text: string): boolean {
  return /^\s*rollback\b/i.test(text);
}
