import type { IncomingMessage } from "node:http";
import type { Context, Hono } from "hono";
import type { Principal } from "../access/access.ts";
import type { Pawl } from "../api/pawl.ts";
import { type LocalDoor, type Visit, visitOf } from "./principals.ts";
import type { RequestLimits } from "./request-limits.ts";

export interface AdmissionOptions extends LocalDoor {
  /** Without any, everybody is admitted as often as they ask. */
  readonly limits?: RequestLimits | undefined;
}

/** What gives a request's turn to the next one of its caller, by the request. */
const turns = new WeakMap<Request, () => void>();

/** Returns the turns of requests that have been answered, in any way. Comes before the routes that call `admit`. */
export function returnTurns(app: Hono): void {
  app.use(async (context, next) => {
    try {
      await next();
    } finally {
      turns.get(context.req.raw)?.();
    }
  });
}

/** Who sends this request. Refuses strangers, and callers who send more than they may. */
export async function admit(pawl: Pawl, context: Context, options: AdmissionOptions): Promise<Principal> {
  return (await admitVisit(pawl, context, options)).principal;
}

/** The same, with the principal's credential. */
export async function admitVisit(pawl: Pawl, context: Context, options: AdmissionOptions): Promise<Visit> {
  const { limits } = options;
  const visit = await visitOf(pawl, context, options, (secret, lookUp) =>
    limitGuesses(limits, context, secret, lookUp),
  );
  if (limits !== undefined) turns.set(context.req.raw, await limits.enter(callerOf(visit.principal)));
  return visit;
}

/** A request that only waits counts as a stream, so that it keeps its caller's other requests from no turn. */
export function countAsStream(context: Context, principal: Principal, { limits }: AdmissionOptions): void {
  if (limits === undefined) return;
  const end = limits.openStream(callerOf(principal));
  turns.get(context.req.raw)?.();
  turns.set(context.req.raw, end);
}

/** Who is counted as one caller. */
export function callerOf({ role, name }: Principal): string {
  return `${role} ${name}`;
}

/** Looks up a secret, unless its address has sent too many wrong ones: undefined and `token_invalid` mean wrong. */
export async function limitGuesses<T>(
  limits: RequestLimits | undefined,
  context: Context,
  secret: string | undefined,
  lookUp: () => Promise<T | undefined>,
): Promise<T | undefined> {
  // A request without any secret is no guess: the answer asks to sign in.
  if (limits === undefined || secret === undefined) return lookUp();
  return limits.lookUp(addressOf(context), secret, lookUp);
}

/** The other end of the connection, where it is known; an application's own server may hide it. */
export function addressOf(context: Context): string {
  const { incoming } = (context.env ?? {}) as { readonly incoming?: IncomingMessage };
  return incoming?.socket?.remoteAddress ?? "an unknown address";
}
