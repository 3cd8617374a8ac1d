import { timingSafeEqual } from "node:crypto";
import type { Context } from "hono";
import { deleteCookie, getCookie, setCookie } from "hono/cookie";
import type { Session, Visitor } from "../access/access.ts";
import { PawlError } from "../base/errors.ts";
import type { Pawl } from "../pawl.ts";

/** Finds out who comes with a request, in your own way; undefined if you do not know him. */
export type Authenticate = (request: Request) => Visitor | undefined | Promise<Visitor | undefined>;

export interface DoorOptions {
  /** A token that may do everything, such as one from a secret store. */
  readonly token?: string | undefined;
  /** Who comes, where your own application knows it. Tokens and sessions are asked for when it does not. */
  readonly authenticate?: Authenticate | undefined;
}

const cookie = "pawl_session";
const unknown = "Send `Authorization: Bearer <token>` (`pawl token create` makes one), or sign in.";

/** Who comes: with a token, in a session, or as the application says. Throws `token_invalid` for a stranger. */
export async function visitorOf(pawl: Pawl, context: Context, options: DoorOptions): Promise<Visitor> {
  const own = await options.authenticate?.(context.req.raw);
  const bearer = bearerOf(context);
  if (own !== undefined) {
    if (bearer === undefined) checkOrigin(context, { isProgramKnown: true });
    return own;
  }
  if (bearer !== undefined) {
    const visitor = isSame(bearer, options.token) ? configured : await pawl.access.visitorOf(bearer);
    if (visitor !== undefined) return visitor;
    throw new PawlError("token_invalid", "This token is unknown, revoked or past its time.");
  }
  const session = getCookie(context, cookie);
  const visitor = session === undefined ? undefined : await pawl.access.visitorIn(session);
  if (visitor === undefined) throw new PawlError("token_invalid", unknown);
  checkOrigin(context);
  return visitor;
}

const configured: Visitor = { name: "config", role: "admin", labeler: null };

/**
 * A browser sends cookies and other credentials whichever page asks: a page of another site must not act in a visitor's name.
 * With `isProgramKnown`, a request without any cookie and origin passes: no browser sends such a one across sites, and a
 * program may be known to the application by a header of its own.
 */
function checkOrigin(context: Context, { isProgramKnown = false } = {}): void {
  if (context.req.method === "GET" || context.req.method === "HEAD") return;
  const site = context.req.header("sec-fetch-site");
  const origin = context.req.header("origin");
  if (isProgramKnown && site === undefined && origin === undefined && context.req.header("cookie") === undefined)
    return;
  const isOwn = site === undefined ? origin === new URL(context.req.url).origin : site === "same-origin";
  if (!isOwn) throw new PawlError("not_allowed", "Another site cannot act for whoever is signed in here.");
}

/** Until the browser is closed, or the session is over, which the database knows. */
export function keepSession(context: Context, session: Session): void {
  const secure = new URL(context.req.url).protocol === "https:" || context.req.header("x-forwarded-proto") === "https";
  setCookie(context, cookie, session.secret, {
    httpOnly: true,
    sameSite: "Lax",
    path: "/",
    secure,
  });
}

export async function endSession(pawl: Pawl, context: Context): Promise<void> {
  const session = getCookie(context, cookie);
  if (session !== undefined) await pawl.access.signOut(session);
  deleteCookie(context, cookie, { path: "/" });
}

export function bearerOf(context: Context): string | undefined {
  return /^Bearer +([\w.~+/=-]+) *$/i.exec(context.req.header("authorization") ?? "")?.[1];
}

/** In the same time wherever they differ; only the length can be learnt. */
export function isSame(given: string | undefined, wanted: string | undefined): boolean {
  if (wanted === undefined) return false;
  const [one, other] = [Buffer.from(given ?? ""), Buffer.from(wanted)];
  return one.length === other.length && timingSafeEqual(one, other);
}
