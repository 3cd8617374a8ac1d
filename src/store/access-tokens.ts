import { type Executor, sql } from "./db.ts";

/** What somebody has who may come in; never the secret itself. */
export interface TokenRow {
  readonly id: string;
  readonly name: string;
  readonly role: string;
  readonly labeler: string | null;
  readonly created_ms: number;
  readonly expires_ms: number | null;
  readonly used_ms: number | null;
}

export interface NewToken {
  readonly id: string;
  readonly kind: "token" | "session" | "code";
  readonly hash: string;
  readonly name: string;
  readonly role: string;
  readonly labeler: string | null;
  /** The token by which a session was opened, which it does not outlive. */
  readonly parent: string | null;
  readonly lastsMs: number | null;
}

/** Writes a token, and forgets those whose time is over. */
export async function insertToken(db: Executor, token: NewToken): Promise<TokenRow> {
  const [row] = await db.rows<TokenRow>(sql`
    with over as (delete from pawl.access_tokens where expires_at < pawl.now())
    insert into pawl.access_tokens (id, kind, hash, name, role, labeler, parent_id, created_at, expires_at)
    values (${token.id}::uuid, ${token.kind}::text, ${token.hash}::text, ${token.name}::text, ${token.role}::text, ${token.labeler}::text,
      ${token.parent}::uuid, pawl.now(), least(
        pawl.now() + ${token.lastsMs}::float8 * interval '1 ms',
        (select parent.expires_at from pawl.access_tokens as parent where parent.id = ${token.parent}::uuid)
      ))
    returning id, name, role, labeler, pawl.ms(created_at) as created_ms, pawl.ms(expires_at) as expires_ms,
      pawl.ms(used_at) as used_ms`);
  return row!;
}

/** Whose it is, if it counts. That it was used is noted once a minute, so that reading stays reading. */
export async function useToken(db: Executor, hash: string, kind: "token" | "session"): Promise<TokenRow | undefined> {
  const [row] = await db.rows<TokenRow>(sql`
    with used as (
      update pawl.access_tokens set used_at = pawl.now()
      where hash = ${hash}::text and (used_at is null or used_at < pawl.now() - interval '1 minute')
    )
    select id, name, role, labeler, pawl.ms(created_at) as created_ms, pawl.ms(expires_at) as expires_ms,
      pawl.ms(used_at) as used_ms
    from pawl.access_tokens
    where hash = ${hash}::text and kind = ${kind}::text and (expires_at is null or expires_at > pawl.now())`);
  return row;
}

/** Uses up a code; undefined when it was used before, or its time is over. */
export async function spendCode(db: Executor, hash: string): Promise<TokenRow | undefined> {
  const [row] = await db.rows<TokenRow & { counts: boolean }>(sql`
    delete from pawl.access_tokens where hash = ${hash}::text and kind = 'code'
    returning id, name, role, labeler, pawl.ms(created_at) as created_ms, pawl.ms(expires_at) as expires_ms,
      pawl.ms(used_at) as used_ms, expires_at > pawl.now() as counts`);
  return row?.counts === true ? row : undefined;
}

/** The tokens that were given out, with how long each lasts. */
export function readTokens(db: Executor): Promise<TokenRow[]> {
  return db.rows<TokenRow>(sql`
    select id, name, role, labeler, pawl.ms(created_at) as created_ms, pawl.ms(expires_at) as expires_ms,
      pawl.ms(used_at) as used_ms
    from pawl.access_tokens where kind = 'token' order by created_at, id`);
}

/** Takes a token back, and with it the sessions that it opened. */
export async function deleteToken(db: Executor, id: string): Promise<boolean> {
  const rows = await db.rows<{ id: string }>(sql`delete from pawl.access_tokens where id = ${id}::uuid returning id`);
  return rows.length > 0;
}
