import { type Context, Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { may } from "../access/roles.ts";
import type { ReportedError } from "../api/arguments/options.ts";
import { isDrainingPawl, logOf, withReadLimits } from "../api/internals.ts";
import type { HttpLimits } from "../api/open/config.ts";
import type { Pawl } from "../api/pawl.ts";
import { PawlError } from "../base/errors.ts";
import { checkedOptions, optionNames } from "../base/options.ts";
import { logFailure } from "../telemetry/log.ts";
import { admit, limitGuesses, returnTurns } from "./admission.ts";
import { checkedArguments } from "./api/arguments.ts";
import { isJson, maxRequestBytes, parseObject } from "./api/body.ts";
import { type MountOptions, mountRoutes } from "./api/mount.ts";
import { openapi } from "./api/openapi.ts";
import { anything, record, text } from "./api/schema.ts";
import { authenticationLimitMs } from "./authentication.ts";
import { mountLive } from "./live.ts";
import { mountPages } from "./pages.ts";
import { type AccessOptions, bearerOf, isSame } from "./principals.ts";
import { answerProblem, problem, problemOf } from "./problem.ts";
import { checkedLimits, RequestLimits } from "./request-limits.ts";
import { mountSessions } from "./sessions.ts";

export interface AppOptions extends AccessOptions {
  /**
   * The path at which it is mounted in your own server, such as `/pawl`.
   * @default the root
   */
  readonly base?: string | undefined;
  /** How much one caller may ask for; false where something in front of it sees to that. */
  readonly limits?: HttpLimits | false | undefined;
  /** Ends the live streams that are open: abort it before you close a server of your own, which would wait for them. */
  readonly ends?: AbortSignal | undefined;
  /**
   * Where the desk may load pictures, sound and video from, as sources of a content security policy.
   * @default ["https:"]
   */
  readonly mediaSources?: readonly string[] | undefined;
  /** The folder of the built pages. @internal */
  readonly pages?: URL | undefined;
}

/**
 * The HTTP app of Pawl: `POST /callbacks/<token>` receives results from outside, `/health`, `/ready` and `/metrics`
 * report its state. It is a `fetch` handler, so you can mount it in a server of your own: `app.route("/pawl",
 * httpApp(pawl, { base: "/pawl" }))`.
 */
export function httpApp(pawl: Pawl, options: AppOptions = {}): Hono {
  return buildApp(pawl, checkedOptions(options, appOptions, "httpApp"));
}

export const appOptions = optionNames<AppOptions>({
  base: true,
  limits: true,
  ends: true,
  mediaSources: true,
  pages: true,
  token: true,
  authenticate: true,
  authenticateTimeout: true,
  reauthenticateInterval: true,
});

export interface LocalAppOptions extends Pick<AppOptions, "ends"> {
  /** Where the same Pawl answers over HTTP. */
  readonly url?: string | undefined;
  /** Errors are thrown with their causes, instead of being answered. */
  readonly throws?: boolean | undefined;
}

/** The same app for the owner of this process: without authentication, and with complete errors. */
export function localApp(pawl: Pawl, options: LocalAppOptions = {}): Hono {
  return buildApp(pawl, { ends: options.ends, limits: false }, options);
}

/** Local access is never an option: a config could set it by mistake, and let everybody in. */
function buildApp(pawl: Pawl, options: AppOptions, local?: LocalAppOptions): Hono {
  const app = new Hono();
  const base = baseOf(options.base);
  authenticationLimitMs(options);
  const limits = options.limits === false ? undefined : new RequestLimits(checkedLimits(options.limits));
  const isLocal = local !== undefined;
  const admission: MountOptions = { ...options, limits, isLocal, url: local?.url };
  returnTurns(app);
  app.use(async (context, next) => {
    await next();
    for (const [name, value] of headers) if (!context.res.headers.has(name)) context.res.headers.set(name, value);
  });
  app.onError((error, context) => {
    if (local?.throws === true) throw error;
    const problem = problemOf(error, { isLocal });
    if (problem.status === 500) logFailure(logOf(pawl), error);
    return answerProblem(context, problem);
  });
  app.notFound((context) => answerProblem(context, problem(404, "not_found")));
  app.get("/health", (context) => context.json({ status: "ok" }));
  app.get("/ready", async (context) => {
    if (isDrainingPawl(pawl)) return answerProblem(context, problem(503, "draining"));
    await pawl.ping();
    return context.json({ status: "ready" });
  });
  app.get("/metrics", async (context) => {
    if (options.authenticate !== undefined) {
      const { role, name } = await admit(pawl, context, admission);
      if (!may(role, "read"))
        throw new PawlError("not_allowed", `${name} has the role ${role}, which cannot read metrics.`);
    } else if (options.token !== undefined) {
      const secret = bearerOf(context);
      const isKnown = await limitGuesses(
        limits,
        context,
        secret,
        async () => isSame(secret, options.token) || undefined,
      );
      if (isKnown === undefined)
        return answerProblem(context, problem(401, "token_invalid", "Send `Authorization: Bearer <token>`."));
    }
    const metrics = await withReadLimits(pawl, limits?.reads, () => pawl.inspect.metrics());
    return context.body(metrics, 200, { "content-type": "text/plain; version=0.0.4; charset=utf-8" });
  });
  const limit = bodyLimit({
    maxSize: maxRequestBytes,
    onError: (context) => answerProblem(context, problem(413, "value_not_serializable", "The maximum is 1 MiB.")),
  });
  app.use("/api/*", limit);
  app.get("/api/openapi.json", async (context) => {
    if (context.req.query("lifecycles") === undefined) return context.json(openapi(base));
    // Unlike the routes, the definitions are not public.
    const { role, name } = await admit(pawl, context, admission);
    if (!may(role, "read")) throw new PawlError("not_allowed", `${name} has the role ${role}, which cannot read.`);
    return context.json(openapi(base, pawl.lifecycles));
  });
  mountSessions(app, pawl, { ...admission, base });
  mountLive(app, pawl, admission);
  mountRoutes(app, pawl, admission);
  mountPages(app, { base, folder: options.pages, mediaSources: options.mediaSources });
  const receive = (context: Context, token: string | undefined) => receiveCallback(pawl, context, token, limits);
  app.post("/callbacks", limit, (context) => receive(context, bearerOf(context)));
  app.post("/callbacks/:token", limit, (context) => receive(context, context.req.param("token")));
  return app;
}

function baseOf(given = ""): string {
  if (/^(?:\/[\w.~-]+)*$/.test(given)) return given;
  throw new PawlError("option_invalid", "`base` must be the path at which the app is mounted, such as /pawl.");
}

/** The default: browsers must not store, embed or sniff answers. */
const headers = [
  ["cache-control", "no-store"],
  ["content-security-policy", "default-src 'none'; frame-ancestors 'none'"],
  ["x-content-type-options", "nosniff"],
  ["referrer-policy", "no-referrer"],
] as const;

const callbackArguments = { payload: anything, error: record, dedupeKey: text };

/**
 * `{ "payload": … }` or `{ "error": { "message": … } }`, with an idempotency key in the body or as `Idempotency-Key`.
 */
async function receiveCallback(
  pawl: Pawl,
  context: Context,
  token: string | undefined,
  limits: RequestLimits | undefined,
): Promise<Response> {
  if (token === undefined || token === "")
    throw new PawlError(
      "token_invalid",
      "A callback needs its token: in the path, or as `Authorization: Bearer <token>`.",
    );
  if (!isJson(context))
    return answerProblem(context, problem(415, "option_invalid", "Send uncompressed application/json."));
  const body = parseObject(await context.req.text());
  const { payload, error, dedupeKey: given } = checkedArguments("A callback", callbackArguments, body);
  if (payload !== undefined && error !== undefined)
    throw new PawlError("option_invalid", "Send `payload` or `error`, not both.");
  const dedupeKey = (given as string | undefined) ?? context.req.header("idempotency-key");
  const result = error === undefined ? { payload } : { error: error as unknown as ReportedError };
  const received = await limitGuesses(limits, context, token, () =>
    pawl.callbacks.receiveByToken(token, result, { dedupeKey }),
  );
  const { id, accepted, late, status, reason } = received!;
  return context.json({ accepted, late, id, status, ...(reason === null ? {} : { reason }) });
}
