import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { RunningService } from "./service.ts";

/**
 * Starts services when the first suite requests them, once per run, in the process that lasts as long as the run. A
 * suite sends a request to the address in its variable, and gets the service's environment.
 */
export class OnDemand {
  readonly #starts = new Map<string, () => Promise<RunningService>>();
  readonly #started = new Map<string, Promise<RunningService>>();
  #server: Server | undefined;

  /** The address at which suites can ask for the service that `start` starts. */
  async offer(name: string, start: () => Promise<RunningService>): Promise<string> {
    this.#starts.set(name, start);
    this.#server ??= await this.#listen();
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/${encodeURIComponent(name)}`;
  }

  async stop(): Promise<void> {
    this.#server?.close();
    this.#server?.closeAllConnections();
    for (const each of this.#started.values()) await each.then((service) => service.stop()).catch(() => {});
  }

  async #listen(): Promise<Server> {
    const server = createServer((request, response) => {
      this.#start(decodeURIComponent(request.url!.slice(1))).then(
        ({ env }) => response.end(JSON.stringify(env)),
        (error: unknown) => response.writeHead(503).end(String(error)),
      );
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    server.unref();
    return server;
  }

  #start(name: string): Promise<RunningService> {
    const started = this.#started.get(name) ?? this.#starts.get(name)!();
    this.#started.set(name, started);
    return started;
  }
}
