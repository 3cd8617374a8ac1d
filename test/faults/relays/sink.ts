import { connect, createServer, type Server, type Socket } from "node:net";
import { createInterface } from "node:readline";
import type { Broker, OutboxMessage } from "pawl";
import type { Random } from "../harm/random.ts";
import { Deliveries } from "./deliveries.ts";

/**
 * The other end of relays, in the test's process: a message has arrived when its line was read, in the order of lines. The
 * confirm follows a little later.
 */
export class Sink {
  readonly deliveries = new Deliveries();
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #onArrival: () => void = () => {};

  constructor(random: Random) {
    this.#server = createServer((socket) => {
      this.#sockets.add(socket);
      socket.on("error", () => {}).on("close", () => this.#sockets.delete(socket));
      const lines = createInterface(socket);
      lines.on("error", () => {}); // Forwards those of its socket.
      lines.on("line", (line) => {
        const [id = "", aggregate = "", n = ""] = line.split("\t");
        this.deliveries.add({ id, aggregate, n: Number(n) });
        this.#onArrival();
        setTimeout(() => socket.write(`${id}\n`), random.below(4));
      });
    });
  }

  async listen(): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return (this.#server.address() as { port: number }).port;
  }

  /** Called with every message that arrives. */
  watch(onArrival: () => void): void {
    this.#onArrival = onArrival;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** A broker that sends to such a sink and waits for its confirms. */
export function sinkBroker(port: number, timeoutMs: number): Broker {
  const waiting = new Map<string, () => void>();
  let socket: Socket | undefined;
  const connected = (): Socket => {
    if (socket !== undefined) return socket;
    const fresh = connect(port, "127.0.0.1");
    fresh.setNoDelay();
    fresh.on("error", () => {});
    fresh.on("close", () => {
      socket = undefined;
    });
    const lines = createInterface(fresh);
    lines.on("error", () => {});
    lines.on("line", (id) => waiting.get(id)?.());
    socket = fresh;
    return fresh;
  };
  return {
    name: "sink",
    timeoutMs,
    takes: () => true,
    publish: ({ id, aggregate, body }: OutboxMessage) =>
      new Promise<void>((resolve) => {
        waiting.set(id, resolve);
        connected().write(`${id}\t${aggregate.id}\t${(JSON.parse(body) as { n: number }).n}\n`);
      }),
    awayMs: () => 0,
    close: async () => void socket?.destroy(),
  };
}
