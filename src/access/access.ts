import { createHash, randomBytes } from "node:crypto";
import { type Duration, durationMs } from "../base/duration.ts";
import { PawlError } from "../base/errors.ts";
import { isId } from "../base/ids.ts";
import { checkedOptions, textOrNull } from "../base/options.ts";
import { checkedText } from "../base/text.ts";
import type { Kernel } from "../kernel/kernel.ts";
import type { Executor } from "../store/port/db.ts";
import { isRole, type Role, roles } from "./roles.ts";
import {
  deleteToken,
  insertLinkSession,
  insertToken,
  type NewToken,
  readSessions,
  readTokens,
  readValidHashes,
  spendCode,
  type TokenRow,
  useToken,
} from "./store/access-tokens.ts";

/** Somebody who has come in: a program with a token, or a person in a browser. */
export interface Principal {
  readonly name: string;
  readonly role: Role;
  /** Who a labeler is in the queues; null for all others. */
  readonly labeler: string | null;
}

/** A token that was given out, without its secret. */
export interface Token extends Principal {
  readonly id: string;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly usedAt: Date | null;
}

/** A browser that is signed in, without its secret. */
export interface OpenSession extends Principal {
  readonly id: string;
  /** The id of the token that it was opened with; null for one that was opened by a link. */
  readonly token: string | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly usedAt: Date | null;
}

export interface TokenOptions {
  /** Who or what it is for; it stands in the journal as the actor of what is done with it. */
  readonly name: string;
  readonly role: Role;
  /** The id in the queues of whoever labels with it; `name` unless given. */
  readonly labeler?: string | undefined;
  /** How long it counts; until it is revoked unless given. */
  readonly expiresIn?: Duration | undefined;
  /** Who makes it; recorded in the log. */
  readonly actor?: string | undefined;
}

/** A browser that has signed in. */
export interface Session {
  readonly secret: string;
  readonly visitor: Principal;
  readonly expiresAt: Date;
}

const sessionMs = 12 * 3_600_000;
const codeMs = 15 * 60_000;

/** Who may use the HTTP API, the console and the desk. Secrets are told once, when they are made, and kept as hashes. */
export class Access {
  readonly #kernel: Kernel;

  /** @internal */
  constructor(kernel: Kernel) {
    this.#kernel = kernel;
  }

  /**
   * Makes a token. Its `secret` is told here and never again.
   *
   * ```ts
   * const { secret } = await pawl.access.createToken({ name: "grader", role: "service" });
   * ```
   */
  async createToken(options: TokenOptions): Promise<Token & { readonly secret: string }> {
    const { expiresIn, actor, ...who } = checkedOptions(
      options,
      [...visitorKeys, "expiresIn", "actor"],
      "access.createToken",
    );
    const visitor = checkedVisitor(who);
    const lastsMs = expiresIn === undefined ? null : durationMs(expiresIn, "expiresIn");
    const by = textOrNull(actor, "The actor");
    const { secret, row } = await this.#insert("token", visitor, lastsMs);
    const { name, role } = visitor;
    this.#log({ token: row.id, name, role, actor: by }, "Access token created.");
    return { ...tokenOf(row), secret };
  }

  /** The tokens that count or have counted, oldest first. */
  async tokens(): Promise<Token[]> {
    return (await readTokens(this.#kernel.db)).map(tokenOf);
  }

  /** Takes a token back: it and the sessions that it opened count no more. */
  async revokeToken(id: string, options: { readonly actor?: string | undefined } = {}): Promise<void> {
    const actor = textOrNull(checkedOptions(options, ["actor"], "access.revokeToken").actor, "The actor");
    if (isId(id) && (await deleteToken(this.#kernel.db, id, "token"))) {
      this.#log({ token: id, actor }, "Access token revoked.");
      return;
    }
    throw new PawlError("token_unknown", `There is no token with the id ${JSON.stringify(id)}.`, { token: id });
  }

  /** The browsers that are signed in, by links and with tokens, oldest first. */
  async sessions(): Promise<OpenSession[]> {
    const rows = await readSessions(this.#kernel.db);
    return rows.map((row) => ({ ...tokenOf(row), expiresAt: new Date(row.expires_ms!), token: row.parent_id }));
  }

  /** Ends a session: its browser has to sign in anew, and its live streams end within seconds. */
  async revokeSession(id: string, options: { readonly actor?: string | undefined } = {}): Promise<void> {
    const actor = textOrNull(checkedOptions(options, ["actor"], "access.revokeSession").actor, "The actor");
    if (isId(id) && (await deleteToken(this.#kernel.db, id, "session"))) {
      this.#log({ session: id, actor }, "Session revoked.");
      return;
    }
    throw new PawlError("token_unknown", `There is no session with the id ${JSON.stringify(id)}.`, { session: id });
  }

  /** Who comes with this secret of a token; undefined if nobody. */
  async authenticateToken(secret: string): Promise<Principal | undefined> {
    const row = await useToken(this.#kernel.db, hashOf(secret), "token");
    return row === undefined ? undefined : visitorOf(row);
  }

  /** A code that signs somebody in once, within a quarter of an hour. */
  async createSignInCode(options: Omit<TokenOptions, "expiresIn">): Promise<string> {
    const who = checkedOptions(options, [...visitorKeys, "actor"], "access.createSignInCode");
    return (await this.#insert("code", checkedVisitor(who), codeMs)).secret;
  }

  /**
   * Opens a session by a code, which is spent with it, or by a token; undefined if it is neither. One that is opened by a code
   * ends those that the same name and role opened by earlier codes.
   */
  async signIn(secret: string): Promise<Session | undefined> {
    const byCode = await this.signInByCode(secret);
    if (byCode !== undefined) return byCode;
    const token = await useToken(this.#kernel.db, hashOf(secret), "token");
    return token && this.#openSession(token, token.id);
  }

  /** Opens a session by a code alone: what stands in a link, and so in histories and logs, must be of no use later. */
  async signInByCode(code: string): Promise<Session | undefined> {
    const spent = await spendCode(this.#kernel.db, hashOf(code));
    return spent && this.#openSession(spent, null);
  }

  async #openSession(row: TokenRow, parent: string | null): Promise<Session> {
    const visitor = visitorOf(row);
    const made = await this.#insert("session", visitor, sessionMs, parent);
    this.#log({ name: visitor.name, role: visitor.role, session: made.row.id }, "Signed in.");
    return { secret: made.secret, visitor, expiresAt: new Date(made.row.expires_ms!) };
  }

  #log(fields: object, message: string): void {
    this.#kernel.telemetry.log.info(fields, message);
  }

  /** Who has signed in with this secret of a session; undefined if nobody, or no more. */
  async authenticateSession(session: string): Promise<Principal | undefined> {
    const row = await useToken(this.#kernel.db, hashOf(session), "session");
    return row === undefined ? undefined : visitorOf(row);
  }

  async signOut(session: string): Promise<void> {
    const row = await useToken(this.#kernel.db, hashOf(session), "session");
    if (row !== undefined) await deleteToken(this.#kernel.db, row.id, "session");
  }

  async #insert(
    kind: NewToken["kind"],
    { name, role, labeler }: Principal,
    lastsMs: number | null,
    parent: string | null = null,
  ): Promise<{ secret: string; row: TokenRow }> {
    const secret = `pawl_${randomBytes(32).toString("base64url")}`;
    const token = { id: this.#kernel.newId(), kind, hash: hashOf(secret), name, role, labeler, parent, lastsMs };
    const insert = kind === "session" && parent === null ? insertLinkSession : insertToken;
    return { secret, row: await insert(this.#kernel.db, token) };
  }
}

/** Of these secrets of tokens and sessions, those that are still valid. */
export async function validSecrets(db: Executor, secrets: readonly string[]): Promise<ReadonlySet<string>> {
  const byHash = new Map(secrets.map((secret) => [hashOf(secret), secret]));
  const valid = await readValidHashes(db, [...byHash.keys()]);
  return new Set(valid.map((hash) => byHash.get(hash)!));
}

/** A secret is 256 random bits, so that a plain hash of it tells nothing. */
function hashOf(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}

const visitorKeys = ["name", "role", "labeler"];

function checkedVisitor(options: Omit<TokenOptions, "expiresIn" | "actor">): Principal {
  const name = checkedText(options.name, "`name`");
  if (!isRole(options.role)) {
    throw new PawlError("option_invalid", `\`role\` must be one of ${roles.join(", ")}.`, { role: options.role });
  }
  if (options.role !== "labeler" && options.labeler !== undefined)
    throw new PawlError("option_invalid", "Only the role `labeler` has a `labeler`.");
  const labeler = options.role === "labeler" ? checkedText(options.labeler ?? name, "`labeler`") : null;
  return { name, role: options.role, labeler };
}

function visitorOf({ name, role, labeler }: TokenRow): Principal {
  return { name, role: role as Role, labeler };
}

function tokenOf(row: TokenRow): Token {
  const [createdAt, expiresAt] = [new Date(row.created_ms), row.expires_ms === null ? null : new Date(row.expires_ms)];
  return {
    id: row.id,
    ...visitorOf(row),
    createdAt,
    expiresAt,
    usedAt: row.used_ms === null ? null : new Date(row.used_ms),
  };
}
