import { createServer, type Server } from "node:http";
import { isIP, type Socket } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import type { Hono } from "hono";
import type { HttpConfig } from "../api/open/config.ts";
import type { Pawl } from "../api/pawl.ts";
import { messageOf, PawlError } from "../base/errors.ts";
import { checkedOptions } from "../base/options.ts";
import { type AppOptions, appOptions, httpApp } from "./app.ts";
import { checkedLimits } from "./request-limits.ts";

export interface HttpOptions extends HttpConfig, Omit<AppOptions, "token" | "ends"> {}

/** A server that answers for a Pawl. */
export interface HttpServer {
  readonly url: string;
  readonly port: number;
  /** Only this machine can reach it. */
  readonly isLocal: boolean;
  /** Stops accepting requests, waits for the answers in progress, and ends. */
  close(): Promise<void>;
}

/** "PAWL" on the keys of a phone. */
export const standardPort = 7295;
const standardHost = "127.0.0.1";

/**
 * Answers over HTTP: callbacks at `/callbacks/<token>`, and `/health`, `/ready` and `/metrics`.
 *
 * ```ts
 * const server = await serveHttp(pawl, { port: 7295 });
 * ```
 */
export async function serveHttp(pawl: Pawl, options: HttpOptions = {}): Promise<HttpServer> {
  checkedOptions(options, ["port", "host", ...appOptions], "serveHttp");
  const { port = standardPort, host = standardHost, ...app } = checkHttp(options);
  const { server, close } = serverFor((ends) => httpApp(pawl, { ...app, ends }));
  server.maxConnections = 1_000;
  if (app.limits !== false) limitConnections(server, checkedLimits(app.limits).connectionsPerAddress);
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => reject(taken(error, host, port)));
    server.listen(port, host, resolve);
  });
  const bound = (server.address() as { port: number }).port;
  return {
    port: bound,
    isLocal: isLoopback(host),
    url: `http://${isIP(host) === 6 ? `[${host}]` : host}:${bound}`,
    close,
  };
}

/** A server that does not listen yet. Closing it ends streams and waits; all other requests are answered. @internal */
export function serverFor(appFor: (ends: AbortSignal) => Hono): {
  readonly server: Server;
  readonly close: () => Promise<void>;
} {
  const ending = new AbortController();
  const server = createAdaptorServer({
    fetch: appFor(ending.signal).fetch,
    createServer,
    // Slow clients are cut off. Node checks for them every 30 s by default, long after their timeout.
    serverOptions: {
      headersTimeout: 10_000,
      requestTimeout: 30_000,
      keepAliveTimeout: 5_000,
      connectionsCheckingInterval: 1_000,
      maxHeaderSize: 16_384,
    },
  }) as Server;
  const unasked = watchUnasked(server);
  const close = async (): Promise<void> => {
    ending.abort();
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeIdleConnections();
    for (const socket of unasked) socket.destroy();
    await closed;
  };
  return { server, close };
}

/** One address cannot hold all the connections that the server has. */
function limitConnections(server: Server, most: number): void {
  const open = new Map<string, number>();
  server.on("connection", (socket) => {
    const address = socket.remoteAddress ?? "";
    const count = (open.get(address) ?? 0) + 1;
    if (count > most) {
      socket.destroy();
      return;
    }
    open.set(address, count);
    socket.once("close", () => {
      const left = open.get(address)! - 1;
      if (left === 0) open.delete(address);
      else open.set(address, left);
    });
  });
}

/** Idle connections without a request. Browsers keep some ready, and closing the server would wait for them. */
function watchUnasked(server: Server): ReadonlySet<Socket> {
  const unasked = new Set<Socket>();
  server.on("connection", (socket) => {
    unasked.add(socket);
    socket.once("close", () => unasked.delete(socket));
  });
  server.on("request", ({ socket }) => unasked.delete(socket));
  return unasked;
}

/** Throws `option_invalid` for what cannot be, or would be open to strangers. */
export function checkHttp(options: HttpOptions): HttpOptions {
  const { port, host, token, limits } = options;
  if (limits !== false) checkedLimits(limits);
  if (port !== undefined && !(Number.isInteger(port) && port >= 0 && port <= 65_535))
    throw new PawlError("option_invalid", "`http.port` must be a whole number from 0 to 65,535.");
  if (host !== undefined && (typeof host !== "string" || host === ""))
    throw new PawlError("option_invalid", "`http.host` must be an address, such as 127.0.0.1.");
  if (token !== undefined && (typeof token !== "string" || !/^[\w.~+/=-]{16,}$/.test(token)))
    throw new PawlError(
      "option_invalid",
      "`http.token` must be a string of at least 16 characters that is valid in a header.",
    );
  if (!isLoopback(host ?? standardHost) && token === undefined) {
    throw new PawlError(
      "option_invalid",
      `\`http.host\` is ${host}, which other machines can reach. Set \`http.token\` to protect /metrics, or use 127.0.0.1.`,
    );
  }
  return options;
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
}

function taken(error: Error, host: string, port: number): PawlError {
  const message = `Could not listen on ${host}:${port}: ${messageOf(error)}. Choose another \`http.port\`.`;
  return new PawlError("option_invalid", message, { host, port }, { cause: error });
}
