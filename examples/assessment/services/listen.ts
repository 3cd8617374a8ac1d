import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface Request {
  readonly path: string;
  readonly body: unknown;
  /** The same for a request that is repeated. */
  readonly idempotencyKey: string;
}

/** A status and a body; or nothing: the caller waits until its timeout, or the connection drops. */
export type Answer = { readonly status: number; readonly body?: unknown } | "silence" | "hang up";

export interface Listener {
  readonly url: string;
  close(): Promise<void>;
}

/** A small HTTP server on a free port of this machine: JSON in, JSON out. */
export async function listen(handle: (request: Request) => Answer | Promise<Answer>): Promise<Listener> {
  const server = createServer((request, response) => {
    answer(request, response, handle).catch((error: unknown) => {
      response.writeHead(500).end(JSON.stringify({ error: String(error) }));
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(0, "127.0.0.1", resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  handle: (request: Request) => Answer | Promise<Answer>,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const given = await handle({
    path: request.url ?? "/",
    body: JSON.parse(Buffer.concat(chunks).toString() || "null"),
    idempotencyKey: String(request.headers["idempotency-key"] ?? ""),
  });
  if (given === "silence") return;
  if (given === "hang up") {
    request.socket.destroy();
    return;
  }
  response.writeHead(given.status, { "content-type": "application/json" }).end(JSON.stringify(given.body ?? {}));
}
