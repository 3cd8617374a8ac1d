import { createHash, randomBytes } from "node:crypto";
import { type Duration, durationMs } from "../base/duration.ts";
import { PawlError } from "../base/errors.ts";
import { isId } from "../base/ids.ts";
import { dateOf } from "../base/moment.ts";
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

/** An authenticated caller: a program with a token, or a person in a browser. */
export interface Principal {
  readonly name: string;
  readonly role: Role;
  /** The labeler's id in the queues; null for other roles. */
  readonly labeler: string | null;
}

/** A token, without its secret. */
export interface Token extends Principal {
  readonly id: string;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly usedAt: Date | null;
}

/** A browser session, without its secret. */
export interface OpenSession extends Principal {
  readonly id: string;
  /** The id of the token that opened it; null for a session that a link opened. */
  readonly token: string | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly usedAt: Date | null;
}

export interface TokenOptions {
  /** The person or program that uses it; the journal records this name as the actor. */
  readonly name: string;
  readonly role: Role;
  /** The labeler's id in the queues. Defaults to `name`. */
  readonly labeler?: string | undefined;
  /** Lifetime. Defaults to no limit. */
  readonly expiresIn?: Duration | undefined;
  /** The actor, for the log. */
  readonly actor?: string | undefined;
}

/** A session that was opened. */
export interface Session {
  readonly secret: string;
  readonly principal: Principal;
  readonly expiresAt: Date;
}

const sessionMs = 12 * 3_600_000;
const codeMs = 15 * 60_000;

/**
 * Tokens and sessions for the HTTP API, the console and the desk. Secrets are returned once, at creation, and stored as
 * hashes.
 */
export class Access {
  readonly #kernel: Kernel;

  /** @internal */
  constructor(kernel: Kernel) {
    this.#kernel = kernel;
  }

  /**
   * Creates a token. Its `secret` is returned only here.
   *
   * ```ts
   * const { secret } = await pawl.access.createToken({ name: "grader", role: "service" });
   * ```
   */
  async createToken(options: TokenOptions): Promise<Token & { readonly secret: string }> {
    const { expiresIn, actor, ...who } = checkedOptions(
      options,
      [...principalKeys, "expiresIn", "actor"],
      "access.createToken",
    );
    const principal = checkedPrincipal(who);
    const lastsMs = expiresIn === undefined ? null : durationMs(expiresIn, "expiresIn");
    const by = textOrNull(actor, "The actor");
    const { secret, row } = await this.#insert("token", principal, lastsMs);
    const { name, role } = principal;
    this.#log({ token: row.id, name, role, actor: by }, "Access token created.");
    return { ...tokenOf(row), secret };
  }

  /** Lists tokens, oldest first, expired and revoked ones included. */
  async tokens(): Promise<Token[]> {
    return (await readTokens(this.#kernel.db)).map(tokenOf);
  }

  /** Revokes a token and the sessions that it opened. */
  async revokeToken(id: string, options: { readonly actor?: string | undefined } = {}): Promise<void> {
    const actor = textOrNull(checkedOptions(options, ["actor"], "access.revokeToken").actor, "The actor");
    if (isId(id) && (await deleteToken(this.#kernel.db, id, "token"))) {
      this.#log({ token: id, actor }, "Access token revoked.");
      return;
    }
    throw new PawlError("token_unknown", `Token ${JSON.stringify(id)} does not exist.`, { token: id });
  }

  /** Lists sessions, opened by links and by tokens, oldest first. */
  async sessions(): Promise<OpenSession[]> {
    const rows = await readSessions(this.#kernel.db);
    return rows.map((row) => ({ ...tokenOf(row), expiresAt: new Date(row.expires_ms!), token: row.parent_id }));
  }

  /** Ends a session and, within seconds, its live streams; its browser must sign in again. */
  async revokeSession(id: string, options: { readonly actor?: string | undefined } = {}): Promise<void> {
    const actor = textOrNull(checkedOptions(options, ["actor"], "access.revokeSession").actor, "The actor");
    if (isId(id) && (await deleteToken(this.#kernel.db, id, "session"))) {
      this.#log({ session: id, actor }, "Session revoked.");
      return;
    }
    throw new PawlError("token_unknown", `Session ${JSON.stringify(id)} does not exist.`, { session: id });
  }

  /** Returns the principal of a token; undefined if the token is not valid. */
  async authenticateToken(secret: string): Promise<Principal | undefined> {
    const row = await useToken(this.#kernel.db, hashOf(secret), "token");
    return row === undefined ? undefined : principalOf(row);
  }

  /** Creates a code that signs in once. It expires after 15 minutes. */
  async createSignInCode(options: Omit<TokenOptions, "expiresIn">): Promise<string> {
    const who = checkedOptions(options, [...principalKeys, "actor"], "access.createSignInCode");
    return (await this.#insert("code", checkedPrincipal(who), codeMs)).secret;
  }

  /**
   * Opens a session with a sign-in code, which is then used up, or with a token; undefined if it is neither. A session
   * that a code opens ends those that the same name and role opened with earlier codes.
   */
  async signIn(secret: string): Promise<Session | undefined> {
    const byCode = await this.signInByCode(secret);
    if (byCode !== undefined) return byCode;
    const token = await useToken(this.#kernel.db, hashOf(secret), "token");
    return token && this.#openSession(token, token.id);
  }

  /**
   * Opens a session with a sign-in code only: what appears in a link, and so in histories and logs, must be of no use
   * later.
   */
  async signInByCode(code: string): Promise<Session | undefined> {
    const spent = await spendCode(this.#kernel.db, hashOf(code));
    return spent && this.#openSession(spent, null);
  }

  async #openSession(row: TokenRow, parent: string | null): Promise<Session> {
    const principal = principalOf(row);
    const made = await this.#insert("session", principal, sessionMs, parent);
    this.#log({ name: principal.name, role: principal.role, session: made.row.id }, "Signed in.");
    return { secret: made.secret, principal, expiresAt: new Date(made.row.expires_ms!) };
  }

  #log(fields: object, message: string): void {
    this.#kernel.telemetry.log.info(fields, message);
  }

  /** Returns the principal of a session; undefined if the session is not valid. */
  async authenticateSession(session: string): Promise<Principal | undefined> {
    const row = await useToken(this.#kernel.db, hashOf(session), "session");
    return row === undefined ? undefined : principalOf(row);
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

/** Returns which of these tokens and sessions are still valid. */
export async function validSecrets(db: Executor, secrets: readonly string[]): Promise<ReadonlySet<string>> {
  const byHash = new Map(secrets.map((secret) => [hashOf(secret), secret]));
  const valid = await readValidHashes(db, [...byHash.keys()]);
  return new Set(valid.map((hash) => byHash.get(hash)!));
}

/** A secret is 256 random bits, so a plain hash of it reveals nothing. */
function hashOf(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}

const principalKeys = ["name", "role", "labeler"];

function checkedPrincipal(options: Omit<TokenOptions, "expiresIn" | "actor">): Principal {
  const name = checkedText(options.name, "`name`");
  if (!isRole(options.role)) {
    throw new PawlError("option_invalid", `\`role\` must be one of ${roles.join(", ")}.`, { role: options.role });
  }
  if (options.role !== "labeler" && options.labeler !== undefined)
    throw new PawlError("option_invalid", "Only the role `labeler` has a `labeler`.");
  const labeler = options.role === "labeler" ? checkedText(options.labeler ?? name, "`labeler`") : null;
  return { name, role: options.role, labeler };
}

function principalOf({ name, role, labeler }: TokenRow): Principal {
  return { name, role: role as Role, labeler };
}

function tokenOf(row: TokenRow): Token {
  const [createdAt, expiresAt] = [new Date(row.created_ms), dateOf(row.expires_ms)];
  return {
    id: row.id,
    ...principalOf(row),
    createdAt,
    expiresAt,
    usedAt: dateOf(row.used_ms),
  };
}
