import { type Executor, sql, textArray } from "../../store/port/db.ts";

/** A token, session or sign-in code; never its secret. */
export interface TokenRow {
  readonly id: string;
  readonly name: string;
  readonly role: string;
  readonly labeler: string | null;
  readonly created_ms: number;
  readonly expires_ms: number | null;
  readonly used_ms: number | null;
  /** The token that opened a session; null for a session that a link opened, and for tokens and codes. */
  readonly parent_id: string | null;
}

export interface NewToken {
  readonly id: string;
  readonly kind: "token" | "session" | "code";
  readonly hash: string;
  readonly name: string;
  readonly role: string;
  readonly labeler: string | null;
  /** The token that opens a session. The session does not outlive it. */
  readonly parent: string | null;
  readonly lastsMs: number | null;
}

/**
 * Opens a session by a link. It ends the sessions that the same person opened by earlier links, so that a leaked link
 * or an abandoned browser is valid only until the next sign-in.
 */
export async function insertLinkSession(db: Executor, session: NewToken): Promise<TokenRow> {
  const { id, hash, name, role, labeler, lastsMs } = session;
  const [row] = await db.rows<TokenRow>(sql`
    with over as (delete from pawl.access_tokens where expires_at < pawl.now()),
    earlier as (
      delete from pawl.access_tokens
      where kind = 'session' and parent_id is null and name = ${name}::text and role = ${role}::text
        and labeler is not distinct from ${labeler}::text and expires_at >= pawl.now()
    )
    insert into pawl.access_tokens (id, kind, hash, name, role, labeler, created_at, expires_at)
    values (${id}::uuid, 'session', ${hash}::text, ${name}::text, ${role}::text, ${labeler}::text, pawl.now(),
      pawl.now() + ${lastsMs}::float8 * interval '1 ms')
    returning id, name, role, labeler, parent_id, pawl.ms(created_at) as created_ms, pawl.ms(expires_at) as expires_ms,
      pawl.ms(used_at) as used_ms`);
  return row!;
}

/** Inserts a token, and deletes expired ones. */
export async function insertToken(db: Executor, token: NewToken): Promise<TokenRow> {
  const [row] = await db.rows<TokenRow>(sql`
    with over as (delete from pawl.access_tokens where expires_at < pawl.now())
    insert into pawl.access_tokens (id, kind, hash, name, role, labeler, parent_id, created_at, expires_at)
    values (${token.id}::uuid, ${token.kind}::text, ${token.hash}::text, ${token.name}::text, ${token.role}::text, ${token.labeler}::text,
      ${token.parent}::uuid, pawl.now(), least(
        pawl.now() + ${token.lastsMs}::float8 * interval '1 ms',
        (select parent.expires_at from pawl.access_tokens as parent where parent.id = ${token.parent}::uuid)
      ))
    returning id, name, role, labeler, parent_id, pawl.ms(created_at) as created_ms, pawl.ms(expires_at) as expires_ms,
      pawl.ms(used_at) as used_ms`);
  return row!;
}

/** Reads a valid token by its hash. Its use is recorded once a minute, so that a read rarely writes. */
export async function useToken(db: Executor, hash: string, kind: "token" | "session"): Promise<TokenRow | undefined> {
  const [row] = await db.rows<TokenRow>(sql`
    with used as (
      update pawl.access_tokens set used_at = pawl.now()
      where hash = ${hash}::text and (used_at is null or used_at < pawl.now() - interval '1 minute')
    )
    select id, name, role, labeler, parent_id, pawl.ms(created_at) as created_ms, pawl.ms(expires_at) as expires_ms,
      pawl.ms(used_at) as used_ms
    from pawl.access_tokens
    where hash = ${hash}::text and kind = ${kind}::text and (expires_at is null or expires_at > pawl.now())`);
  return row;
}

/** Consumes a sign-in code; undefined if it was used or has expired. */
export async function spendCode(db: Executor, hash: string): Promise<TokenRow | undefined> {
  const [row] = await db.rows<TokenRow & { counts: boolean }>(sql`
    delete from pawl.access_tokens where hash = ${hash}::text and kind = 'code'
    returning id, name, role, labeler, parent_id, pawl.ms(created_at) as created_ms, pawl.ms(expires_at) as expires_ms,
      pawl.ms(used_at) as used_ms, expires_at > pawl.now() as counts`);
  return row?.counts === true ? row : undefined;
}

/** Lists tokens with their lifetimes. */
export function readTokens(db: Executor): Promise<TokenRow[]> {
  return db.rows<TokenRow>(sql`
    select id, name, role, labeler, parent_id, pawl.ms(created_at) as created_ms, pawl.ms(expires_at) as expires_ms,
      pawl.ms(used_at) as used_ms
    from pawl.access_tokens where kind = 'token' order by created_at, id`);
}

/** Lists open sessions, opened by links and by tokens. */
export function readSessions(db: Executor): Promise<TokenRow[]> {
  return db.rows<TokenRow>(sql`
    select id, name, role, labeler, parent_id, pawl.ms(created_at) as created_ms, pawl.ms(expires_at) as expires_ms,
      pawl.ms(used_at) as used_ms
    from pawl.access_tokens where kind = 'session' and expires_at > pawl.now() order by created_at, id`);
}

/** Returns which of these hashes belong to valid tokens and sessions. */
export async function readValidHashes(db: Executor, hashes: readonly string[]): Promise<string[]> {
  const rows = await db.rows<{ hash: string }>(sql`
    select hash from pawl.access_tokens
    where hash = any((select ${textArray(hashes)}::text)::text[]) and kind <> 'code'
      and (expires_at is null or expires_at > pawl.now())`);
  return rows.map(({ hash }) => hash);
}

/** Revokes a token and the sessions that it opened, or ends a session. */
export async function deleteToken(db: Executor, id: string, kind: "token" | "session"): Promise<boolean> {
  const rows = await db.rows<{ id: string }>(sql`
    delete from pawl.access_tokens where id = ${id}::uuid and kind = ${kind}::text returning id`);
  return rows.length > 0;
}
