import { EventEmitter, once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { operations } from "./operations.ts";
import { Refusal } from "./refusal.ts";
import { checkShape, type Request } from "./shapes.ts";
import { Workers } from "./workers.ts";
import { World } from "./world.ts";

const target = "MTurkRequesterServiceV20170117.";

/** What goes wrong with a call: before it is carried out, or after it, when only the reply is lost. */
export type Fault = "fault before" | "fault after" | "reset before" | "reset after" | "throttled" | "silence" | Refusal;

interface Planned {
  readonly operation: string;
  readonly fault: Fault;
}

/** A Mechanical Turk on this machine, which speaks as the real one does, with a time that tests move. */
export class MturkServer {
  readonly world: World;
  readonly workers: Workers;
  /** The requests, in order. */
  readonly calls: { readonly operation: string; readonly request: Request }[] = [];
  readonly #http: Server;
  readonly #planned: Planned[] = [];
  readonly #arrivals = new EventEmitter();

  private constructor(now: number) {
    this.world = new World(now);
    this.workers = new Workers(this.world);
    this.#http = createServer((request, response) => void this.#answer(request, response));
  }

  static async start(now = Date.now()): Promise<MturkServer> {
    const server = new MturkServer(now);
    server.#http.listen(0, "127.0.0.1");
    await once(server.#http, "listening");
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#http.address() as AddressInfo).port}`;
  }

  /** Makes the next call of an operation fail; faults that are planned for one apply one after the other. */
  plan(operation: string, fault: Fault): void {
    this.#planned.push({ operation, fault });
  }

  /** The operations whose faults have not struck yet. */
  get pending(): readonly string[] {
    return this.#planned.map(({ operation }) => operation);
  }

  /** Resolves when the next call of an operation has arrived. */
  async asked(operation: string): Promise<void> {
    await once(this.#arrivals, operation);
  }

  countOf(operation: string): number {
    return this.calls.filter((call) => call.operation === operation).length;
  }

  /** The messages of its queue as they may arrive. */
  delivered({ twice = false, reversed = false, without = "" } = {}): readonly string[] {
    const kept = this.world.messages.filter((message) => without === "" || !message.includes(without));
    const all = twice ? kept.flatMap((message) => [message, message]) : kept;
    return reversed ? [...all].reverse() : all;
  }

  async stop(): Promise<void> {
    this.#http.closeAllConnections();
    this.#http.close();
    await once(this.#http, "close");
  }

  async #answer(message: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = "";
    for await (const piece of message.setEncoding("utf8")) text += String(piece);
    const operation = String(message.headers["x-amz-target"]).replace(target, "");
    const fault = this.#take(operation);
    this.#arrivals.emit(operation);
    if (fault === "silence") return;
    if (fault === "reset before") return void response.socket?.resetAndDestroy();
    try {
      if (fault === "throttled") throw new Refusal("Rate exceeded", undefined, { type: "ThrottlingException" });
      if (fault === "fault before" || fault instanceof Refusal) throw fault instanceof Refusal ? fault : broken();
      const result = this.#carryOut(operation, message, text);
      if (fault === "reset after") return void response.socket?.resetAndDestroy();
      if (fault === "fault after") throw broken();
      send(response, 200, result);
    } catch (error) {
      const refusal = error instanceof Refusal ? error : broken(String(error));
      const Message = `${refusal.message} (${this.world.now})`;
      send(response, refusal.status, { __type: refusal.type, Message, TurkErrorCode: refusal.code });
    }
  }

  #take(operation: string): Fault | undefined {
    const index = this.#planned.findIndex((planned) => planned.operation === operation);
    return index === -1 ? undefined : this.#planned.splice(index, 1)[0]?.fault;
  }

  #carryOut(
    operation: string,
    { headers, method, url }: IncomingMessage,
    text: string,
  ): Readonly<Record<string, unknown>> {
    const isSigned = /^AWS4-HMAC-SHA256 Credential=[^,]+\/us-east-1\/mturk-requester\/aws4_request,/.test(
      headers.authorization ?? "",
    );
    if (!isSigned) throw new Refusal("It is not signed.", undefined, { type: "UnrecognizedClientException" });
    const isJson = headers["content-type"] === "application/x-amz-json-1.1";
    if (!isJson || method !== "POST" || url !== "/") throw new Refusal("This is another protocol.");
    const request = JSON.parse(text) as Request;
    this.calls.push({ operation, request });
    checkShape(operation, request);
    return operations[operation]!(this.world, request);
  }
}

function broken(text = "Amazon Mechanical Turk is temporarily unable to process your request."): Refusal {
  return new Refusal(text, "ServiceUnavailable", { status: 500, type: "ServiceFault" });
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/x-amz-json-1.1", "x-amzn-requestid": "request-1" });
  response.end(JSON.stringify(body));
}
