import { timingSafeEqual } from "node:crypto";
import type { Context } from "hono";
import { deleteCookie, getCookie, setCookie } from "hono/cookie";
import type { Principal, Session } from "../access/access.ts";
import type { Pawl } from "../api/pawl.ts";
import { PawlError } from "../base/errors.ts";
import { type AuthenticationOptions, authenticateBy, credentialOf } from "./authentication.ts";

export interface AccessOptions extends AuthenticationOptions {
  /** A token that may do everything, such as one from a secret store. */
  readonly token?: string | undefined;
}

export interface LocalDoor extends AccessOptions {
  /** Reached only by the owner of this process, through the local socket or in-process: there is no authentication. */
  readonly isLocal?: boolean | undefined;
}

const unknown = "Send `Authorization: Bearer <token>` (create one with `pawl token create`), or sign in.";

/** The principal of a request, with its credential, so that both can be checked again later. */
export interface Visit {
  readonly principal: Principal;
  /** The secret of a token or a session; undefined if the application authenticates. */
  readonly secret: string | undefined;
  /** Where the application knows the principal: by which credential, and whether it still does, by the same name and role. */
  readonly application?: { readonly credential: string; readonly isKnown: () => Promise<boolean> } | undefined;
}

/** Looks up a secret, and may refuse to where too many were wrong. */
type SecretCheck = <T>(secret: string, lookUp: () => Promise<T | undefined>) => Promise<T | undefined>;

/**
 * Returns the principal of a request: by the application, by token, or by session. Throws `token_invalid` if there is
 * none.
 */
export async function visitOf(pawl: Pawl, context: Context, options: LocalDoor, checked: SecretCheck): Promise<Visit> {
  if (options.isLocal === true) return { principal: owner, secret: undefined };
  const request = context.req.raw;
  const own = await authenticateBy(pawl, request, options);
  const bearer = bearerOf(context);
  if (own !== undefined) {
    if (bearer === undefined) checkOrigin(context, { isProgramKnown: true });
    const isKnown = async () => {
      const now = await authenticateBy(pawl, request, options);
      // Another role may have fewer rights than the stream was opened with.
      return now?.name === own.name && now.role === own.role;
    };
    return { principal: own, secret: undefined, application: { credential: credentialOf(request), isKnown } };
  }
  if (bearer !== undefined) {
    const visit = await checked(bearer, () => tokenVisit(pawl, bearer, options));
    if (visit === undefined) throw new PawlError("token_invalid", "The token is unknown, revoked or expired.");
    return visit;
  }
  const session = getCookie(context, cookieOf(context));
  const principal =
    session === undefined ? undefined : await checked(session, () => pawl.access.authenticateSession(session));
  if (principal === undefined) throw new PawlError("token_invalid", unknown);
  checkOrigin(context);
  return { principal, secret: session };
}

async function tokenVisit(pawl: Pawl, secret: string, { token }: LocalDoor): Promise<Visit | undefined> {
  if (isSame(secret, token)) return { principal: configured, secret: undefined };
  const principal = await pawl.access.authenticateToken(secret);
  return principal && { principal, secret };
}

const owner: Principal = { name: "the owner of this process", role: "admin", labeler: null };

const configured: Principal = { name: "config", role: "admin", labeler: null };

/**
 * Browsers send cookies and other credentials whichever page makes the request: a page of another site must not act in
 * a principal's name. With `isProgramKnown`, a request without cookies and origin passes: no browser sends such a request
 * across sites, and the application may authenticate a program by a header.
 */
function checkOrigin(context: Context, { isProgramKnown = false } = {}): void {
  if (context.req.method === "GET" || context.req.method === "HEAD") return;
  const site = context.req.header("sec-fetch-site");
  const origin = context.req.header("origin");
  if (isProgramKnown && site === undefined && origin === undefined && context.req.header("cookie") === undefined)
    return;
  const isOwn = site === undefined ? origin === new URL(context.req.url).origin : site === "same-origin";
  if (!isOwn) throw new PawlError("not_allowed", "Requests from other sites are refused.");
}

/**
 * Lasts until the browser closes, or the session ends in the database. The previous session of the browser ends: a
 * secret that another person may have set, or kept, must not outlive a sign-in.
 */
export async function keepSession(pawl: Pawl, context: Context, session: Session): Promise<void> {
  const cookie = cookieOf(context);
  const before = getCookie(context, cookie);
  if (before !== undefined) await pawl.access.signOut(before);
  setCookie(context, cookie, session.secret, {
    httpOnly: true,
    sameSite: "Lax",
    path: "/",
    secure: isSecure(context),
  });
}

/**
 * Over HTTPS, a name that no other host can set. Otherwise a name with the port: cookies are shared between the ports
 * of a host, and two Pawls on one machine must not sign each other's principals out.
 */
function cookieOf(context: Context): string {
  if (isSecure(context)) return "__Host-pawl_session";
  const { port } = new URL(context.req.url);
  return port === "" ? "pawl_session" : `pawl_session_${port}`;
}

function isSecure(context: Context): boolean {
  return new URL(context.req.url).protocol === "https:" || context.req.header("x-forwarded-proto") === "https";
}

export async function endSession(pawl: Pawl, context: Context): Promise<void> {
  const cookie = cookieOf(context);
  const session = getCookie(context, cookie);
  if (session !== undefined) await pawl.access.signOut(session);
  deleteCookie(context, cookie, { path: "/", secure: isSecure(context) });
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
