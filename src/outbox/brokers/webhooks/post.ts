import { Agent as HttpAgent, type IncomingMessage, request as requestHttp } from "node:http";
import { Agent as HttpsAgent, request as requestHttps } from "node:https";
import { PermanentError } from "../../../base/step-errors.ts";
import type { Guard } from "./guard.ts";

/** Only the status of an answer is used; its body is read up to this size, so that the connection can be reused. */
const maxBytes = 64 * 1024;

export interface Answer {
  readonly status: number;
  readonly retryAfter: string | undefined;
}

export interface Post {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly timeoutMs: number;
}

/** There was no connection: nothing was sent. */
export class NotConnected extends Error {
  override readonly name = "NotConnected";
}

/** Posts over checked connections, and follows no redirect. */
export class Poster {
  readonly #http: HttpAgent;
  readonly #https: HttpsAgent;

  constructor(guard: Guard, tls: { readonly ca?: string | Buffer | undefined }) {
    const settings = { keepAlive: true, timeout: 60_000, maxFreeSockets: 20, lookup: guard.lookup };
    this.#http = new HttpAgent(settings);
    this.#https = new HttpsAgent({ ...settings, ...tls });
  }

  close(): void {
    this.#http.destroy();
    this.#https.destroy();
  }

  /** Throws `NotConnected` when no connection could be made in time. */
  post({ url, headers, body, timeoutMs }: Post): Promise<Answer> {
    const isPlain = url.protocol === "http:";
    const options = {
      method: "POST",
      headers: { ...headers, "content-length": Buffer.byteLength(body) },
      agent: isPlain ? this.#http : this.#https,
      signal: AbortSignal.timeout(timeoutMs),
    };
    return new Promise((resolve, reject) => {
      const request = isPlain ? requestHttp(url, options) : requestHttps(url, options);
      let isConnected = false;
      request.on("socket", (socket) => {
        isConnected = !socket.connecting;
        if (isConnected) return;
        socket.once("connect", () => {
          isConnected = true;
        });
      });
      request.on("error", (error) => {
        const isOurs = isConnected || error instanceof PermanentError;
        reject(isOurs ? error : new NotConnected(error.message, { cause: error }));
      });
      request.on("response", (response) => {
        resolve({ status: response.statusCode ?? 0, retryAfter: response.headers["retry-after"] });
        drain(response);
      });
      request.end(body);
    });
  }
}

function drain(response: IncomingMessage): void {
  let read = 0;
  response.on("error", () => {}); // The status is known; the rest may break off.
  response.on("data", (piece: Buffer) => {
    read += piece.length;
    if (read > maxBytes) response.destroy();
  });
}
