import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AlertSink } from "pawl";
import { verifyWebhook, type WebhooksOptions, webhookAlerts } from "pawl/webhooks";
import { Deliveries } from "./deliveries.ts";

/** The body of a webhook of the outbox in these tests. */
interface Said {
  readonly type: string;
  readonly data: { readonly key: string; readonly n: number };
}

/** The body of a webhook of an alert. */
interface Alerted {
  readonly data: { readonly id: string; readonly kind: string; readonly key: string | null };
}

/** The receiver of webhooks, on a port that it keeps while it is away. Unsigned requests are refused. */
export class WebhookReceiver {
  readonly deliveries = new Deliveries();
  /** The alerts that arrived, each time. */
  readonly alerts: Alerted["data"][] = [];
  /** Called with each webhook of the outbox, before it is answered. */
  onArrival: (n: number) => unknown = () => {};
  readonly #secret = `whsec_${randomBytes(32).toString("base64")}`;
  #server: Server | undefined;
  #port = 0;

  static async start(): Promise<WebhookReceiver> {
    const receiver = new WebhookReceiver();
    await receiver.comeBack();
    return receiver;
  }

  /** Connections are refused from now on. */
  async goAway(): Promise<void> {
    const server = this.#server!;
    this.#server = undefined;
    server.close();
    server.closeAllConnections();
    await once(server, "close");
  }

  async comeBack(): Promise<void> {
    const server = createServer((request, response) => this.#receive(request, response));
    server.listen(this.#port, "127.0.0.1");
    await once(server, "listening");
    this.#port = (server.address() as { port: number }).port;
    this.#server = server;
  }

  async stop(): Promise<void> {
    if (this.#server !== undefined) await this.goAway();
  }

  /** What `webhooks()` takes to send here. */
  options(): WebhooksOptions {
    return { ...this.#trusted(), endpoint: { id: "receiver", url: this.#url("/hook"), secrets: [this.#secret] } };
  }

  /** A sink of alerts that sends here. */
  sink(): AlertSink {
    return webhookAlerts({ ...this.#trusted(), url: this.#url("/alerts"), secrets: [this.#secret] });
  }

  #trusted() {
    return { allowHttp: true, ports: [this.#port], allowedNetworks: ["127.0.0.1"] };
  }

  #url(path: string): string {
    return `http://127.0.0.1:${this.#port}${path}`;
  }

  #receive(request: IncomingMessage, response: ServerResponse): void {
    let body = "";
    request.setEncoding("utf8");
    request.on("data", (piece: string) => {
      body += piece;
    });
    request.on("end", () => {
      const id = String(request.headers["webhook-id"]);
      const fault = verifyWebhook({ headers: request.headers as never, body, nowMs: Date.now() }, [this.#secret]);
      if (fault !== undefined) throw new Error(`The webhook ${id} is not signed as it should be: ${fault}`);
      if (request.url === "/alerts") this.alerts.push((JSON.parse(body) as Alerted).data);
      else {
        const { data } = JSON.parse(body) as Said;
        this.deliveries.add({ id, aggregate: data.key, n: data.n });
        this.onArrival(data.n);
      }
      response.writeHead(204).end();
    });
  }
}
