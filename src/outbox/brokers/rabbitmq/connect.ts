import type { ChannelModel } from "amqplib";
import { messageOf, PawlError } from "../../../base/errors.ts";
import { exponential } from "../../../policy/retry.ts";

const connectTimeoutMs = 10_000;
const heartbeatSeconds = 10;

/** Connects. The driver is loaded here and nowhere else, by those who use it. */
export async function connectTo(url: string, name: string): Promise<ChannelModel> {
  const { connect } = await loadDriver();
  const clientProperties = { connection_name: name };
  const connection = await connect(withHeartbeat(url), {
    timeout: connectTimeoutMs,
    keepAlive: true,
    clientProperties,
  });
  connection.on("error", () => {}); // `close` follows, with the reason.
  return connection;
}

/**
 * Sets up a new connection, or cuts it: a broker that accepts connections but does not answer counts as unreachable.
 */
export async function setUp<T>(connection: ChannelModel, work: () => Promise<T>): Promise<T> {
  const timer = setTimeout(() => cut(connection), connectTimeoutMs);
  try {
    return await work();
  } catch (error) {
    cut(connection);
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

async function loadDriver(): Promise<typeof import("amqplib")> {
  try {
    return await import("amqplib");
  } catch (error) {
    throw new PawlError(
      "option_invalid",
      `RabbitMQ needs the package amqplib, which could not be loaded (${messageOf(error)}). Install it: npm install amqplib@2.`,
      {},
      { cause: error },
    );
  }
}

/** Both sides send heartbeats every few seconds, so that a dead link is noticed. */
function withHeartbeat(url: string): string {
  const parsed = new URL(url);
  if (!parsed.searchParams.has("heartbeat")) parsed.searchParams.set("heartbeat", String(heartbeatSeconds));
  return parsed.href;
}

/**
 * Ends a connection without a closing handshake, since the other side may be gone. The driver must be notified: otherwise
 * its heartbeat timer keeps the process alive until two heartbeats are missed.
 */
export function cut(connection: ChannelModel): void {
  const { stream } = connection.connection as unknown as { stream?: { destroy(error: Error): void } };
  stream?.destroy(new Error("The connection was lost."));
}

export function checkedUrl(url: unknown): string {
  const protocol = typeof url === "string" && URL.canParse(url) ? new URL(url).protocol : undefined;
  if (protocol === "amqp:" || protocol === "amqps:") return url as string;
  throw new PawlError("option_invalid", "`url` must be a URL such as amqps://user:password@host:5671/vhost.");
}

const backoff = exponential({ first: "200ms", cap: "5s" });

/** When to try again after failures: soon at first, then less and less often. */
export class Patience {
  #failures = 0;
  #until = 0;

  /** Returns how long to wait before the next attempt. */
  failed(): number {
    this.#failures += 1;
    const pauseMs = backoff(this.#failures, Math.random());
    this.#until = performance.now() + pauseMs;
    return pauseMs;
  }

  succeeded(): void {
    this.#failures = 0;
    this.#until = 0;
  }

  get leftMs(): number {
    return Math.max(0, this.#until - performance.now());
  }
}
