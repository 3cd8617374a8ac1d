import type { Context, Hono } from "hono";
import type { Principal } from "../access/access.ts";
import { rights } from "../access/roles.ts";
import { logOf } from "../api/internals.ts";
import type { Pawl } from "../api/pawl.ts";
import { PawlError } from "../base/errors.ts";
import { type AdmissionOptions, addressOf, admit, limitGuesses } from "./admission.ts";
import { checkedArguments } from "./api/arguments.ts";
import { parseObject } from "./api/body.ts";
import { text } from "./api/schema.ts";
import { endSession, keepSession } from "./principals.ts";

/** Signing in and out: by a link that counts once, or with a token. */
export function mountSessions(
  app: Hono,
  pawl: Pawl,
  options: AdmissionOptions & { readonly base?: string | undefined },
): void {
  app.get("/sign-in/:code", async (context) => {
    // Mail scanners and link previews ask for the headers of a link: that must not spend it.
    if (context.req.method === "HEAD") return context.body(null, 204);
    const code = context.req.param("code");
    const session = await limitGuesses(options.limits, context, code, () => pawl.access.signInByCode(code));
    if (session === undefined) logRefused(pawl, context, "A sign-in link was refused: it is unknown, used or expired.");
    if (session !== undefined) await keepSession(pawl, context, session);
    // A used link leads to the page that explains how to get another one.
    const to = session === undefined ? "sign-in?spent" : session.principal.role === "labeler" ? "desk" : "";
    return context.redirect(`${options.base ?? ""}/${to}`, 303);
  });
  app.get("/api/session", async (context) => context.json(shown(await admit(pawl, context, options))));
  app.post("/api/session", async (context) => {
    const secret = await secretOf(context);
    const session = await limitGuesses(options.limits, context, secret, () => pawl.access.signIn(secret));
    if (session === undefined) {
      logRefused(pawl, context, "A sign-in was refused: its token is unknown, revoked or expired.");
      throw new PawlError("token_invalid", "The token is unknown, revoked or expired.");
    }
    await keepSession(pawl, context, session);
    return context.json(shown(session.principal));
  });
  app.delete("/api/session", async (context) => {
    await admit(pawl, context, options);
    await endSession(pawl, context);
    return context.json(null);
  });
}

function logRefused(pawl: Pawl, context: Context, message: string): void {
  logOf(pawl).warn({ address: addressOf(context), userAgent: context.req.header("user-agent") ?? null }, message);
}

/** The signed-in principal and its rights, so that a page shows only what is allowed. */
function shown(principal: Principal): object {
  return { ...principal, may: rights[principal.role] };
}

async function secretOf(context: Context): Promise<string> {
  if (!/^application\/json\b/i.test(context.req.header("content-type") ?? ""))
    throw new PawlError("media_unsupported", "Send application/json.");
  const { token } = checkedArguments("sign in", { token: text }, parseObject(await context.req.text()));
  if (token === undefined) throw new PawlError("option_invalid", "`token` is required.");
  return token as string;
}
