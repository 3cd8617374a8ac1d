import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { verifyWebhook, type WebhookEndpoint, type WebhooksOptions } from "pawl/webhooks";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Resolve } from "../../src/outbox/brokers/webhooks/guard.ts";
import { WebhooksBroker } from "../../src/outbox/brokers/webhooks/webhooks.ts";
import { Arrivals } from "./arrivals.ts";
import { type Arrived, aMessage, brokerConformance } from "./conformance.ts";

const secrets = [`whsec_${randomBytes(32).toString("base64")}`, `whsec_${randomBytes(24).toString("base64")}`];

interface Received {
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

/** A receiver on an address of loopback, which answers as it is told. */
class Receiver {
  readonly received = new Arrivals<Received>();
  answer: (response: ServerResponse) => void = ok;
  readonly #server: Server;

  constructor(server: Server = createServer()) {
    this.#server = server;
    server.on("request", (request: IncomingMessage, response: ServerResponse) => {
      let body = "";
      request.setEncoding("utf8");
      request.on("data", (piece: string) => {
        body += piece;
      });
      request.on("end", () => {
        this.received.add({ headers: request.headers, body });
        this.answer(response);
      });
    });
  }

  async listen(address = "127.0.0.1"): Promise<number> {
    this.#server.listen(0, address);
    await once(this.#server, "listening");
    return this.port;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

function ok(response: ServerResponse): void {
  response.writeHead(204).end();
}

function status(code: number, headers: Record<string, string> = {}): (response: ServerResponse) => void {
  return (response) => response.writeHead(code, headers).end();
}

describe("webhooks", () => {
  let receiver: Receiver;
  const brokers: WebhooksBroker[] = [];
  beforeAll(async () => {
    receiver = new Receiver();
    await receiver.listen();
  });
  afterAll(async () => {
    receiver.close();
    for (const broker of brokers) await broker.close();
  });

  function endpoint(given: Partial<WebhookEndpoint> = {}): WebhookEndpoint {
    return { id: randomBytes(4).toString("hex"), url: `http://127.0.0.1:${receiver.port}/hook`, secrets, ...given };
  }

  function open(options: Partial<WebhooksOptions> = {}, resolve?: Resolve): WebhooksBroker {
    const trusted = { allowHttp: true, ports: [receiver.port], allowedNetworks: ["127.0.0.1"] };
    const broker = new WebhooksBroker({ ...trusted, endpoint: endpoint(), timeout: "2s", ...options }, resolve);
    brokers.push(broker);
    return broker;
  }

  brokerConformance("webhooks", async () => {
    const own = new Receiver();
    await own.listen();
    const url = `http://127.0.0.1:${own.port}/`;
    const broker = open({ endpoint: endpoint({ url }), ports: [own.port] });
    return {
      broker,
      next: async (): Promise<Arrived> => {
        const { headers, body } = await own.received.next();
        const { type, data } = JSON.parse(body) as { type: string; data: unknown };
        return { id: String(headers["webhook-id"]), type, body: JSON.stringify(data) };
      },
      refuseNext: () => {
        own.answer = (response) => {
          own.answer = ok;
          void own.received.next();
          status(500)(response);
        };
      },
      close: async () => own.close(),
    };
  });

  test("are signed with every secret, so that either side can replace one", async () => {
    const broker = open();
    const message = aMessage();
    await broker.publish(message);
    const { headers, body } = await receiver.received.next();
    expect(JSON.parse(body)).toEqual({
      type: message.type,
      timestamp: message.createdAt.toISOString(),
      data: JSON.parse(message.body),
    });
    expect(headers).toMatchObject({ "content-type": "application/json", "webhook-id": message.id });
    for (const secret of secrets) {
      expect(verifyWebhook({ headers: headers as never, body, nowMs: Date.now() }, [secret])).toBeUndefined();
    }
    expect(verifyWebhook({ headers: headers as never, body: `${body} `, nowMs: Date.now() }, secrets)).toBe(
      "signature_wrong",
    );
  });

  test("any 2xx is a yes, and nothing else: redirects are not followed", async () => {
    const broker = open();
    receiver.answer = status(201);
    await broker.publish(aMessage());
    await receiver.received.next();
    for (const code of [302, 400, 404, 500]) {
      receiver.answer = status(code, { location: `http://127.0.0.1:${receiver.port}/elsewhere` });
      await expect(open().publish(aMessage())).rejects.toThrow(`responded with ${code}.`);
      await receiver.received.next();
      expect(receiver.received.left).toBe(0);
    }
    receiver.answer = ok;
  });

  test("410 disables the endpoint, which is told once, and others are not affected", async () => {
    const told: string[] = [];
    const gone = endpoint();
    const broker = open({
      endpoint: ({ type }) => (type === "other" ? endpoint() : gone),
      onDisabled: ({ id }) => told.push(id),
    });
    receiver.answer = status(410);
    await expect(broker.publish(aMessage())).rejects.toMatchObject({ name: "PermanentError" });
    receiver.answer = ok;
    await expect(broker.publish(aMessage())).rejects.toMatchObject({
      name: "PermanentError",
      message: expect.stringContaining("is disabled: it responded with 410 Gone"),
    });
    expect(told).toEqual([gone.id]);
    await broker.publish(aMessage({ type: "other" }));
    broker.enable(gone.id);
    await broker.publish(aMessage());
    for (let left = 3; left > 0; left--) await receiver.received.next();
  });

  test("429 and 503 are heard when they say when to come again, for an hour at most, and others wait as long", async () => {
    for (const [code, header, pauseMs] of [
      [429, "30", 30_000],
      [503, "31536000", 3_600_000],
    ] as const) {
      const broker = open();
      receiver.answer = status(code, { "retry-after": header });
      await expect(broker.publish(aMessage())).rejects.toMatchObject({ name: "TransientError", retryAfterMs: pauseMs });
      await receiver.received.next();
      const waits = await broker.publish(aMessage()).catch((error: unknown) => error);
      expect(waits).toMatchObject({ name: "BrokerAway", retryAfterMs: expect.any(Number) });
      expect((waits as { retryAfterMs: number }).retryAfterMs).toBeGreaterThan(pauseMs - 10_000);
    }
    receiver.answer = ok;
  });

  test("an endpoint that fails again and again rests, without another call", async () => {
    const broker = open();
    receiver.answer = status(500);
    for (let time = 0; time < 5; time++)
      await expect(broker.publish(aMessage())).rejects.toThrow("responded with 500.");
    await expect(broker.publish(aMessage())).rejects.toMatchObject({ name: "BrokerAway" });
    for (let time = 0; time < 5; time++) await receiver.received.next();
    expect(receiver.received.left).toBe(0);
    receiver.answer = ok;
  });

  test("a silent endpoint is given up in time, and an endless answer is not read to its end", async () => {
    const broker = open({ timeout: "100ms" });
    receiver.answer = () => {};
    await expect(broker.publish(aMessage())).rejects.toThrow("did not respond within 100 ms");
    let written = 0;
    let closed: () => void = () => {};
    const cutOff = new Promise<void>((resolve) => {
      closed = resolve;
    });
    receiver.answer = (response) => {
      response.on("close", closed);
      response.on("error", () => {});
      response.writeHead(200);
      const write = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(16 * 1024))) written += 16 * 1024;
        if (!response.destroyed) response.once("drain", write);
      };
      write();
    };
    await open().publish(aMessage());
    await cutOff;
    expect(written).toBeLessThan(64 * 2 ** 20);
    receiver.answer = ok;
    for (let left = 2; left > 0; left--) await receiver.received.next();
  });

  test("a message that is too old, or that nobody wants, is not sent", async () => {
    const broker = open({ giveUpAfter: "1d" });
    const old = aMessage({ createdAt: new Date(Date.now() - 2 * 86_400_000) });
    await expect(broker.publish(old)).rejects.toMatchObject({ name: "PermanentError" });
    await open({ endpoint: async () => null }).publish(aMessage());
    expect(receiver.received.left).toBe(0);
  });

  const forbidden = [
    "http://127.0.0.1:PORT/",
    "http://localhost:PORT/",
    "http://0x7f.1:PORT/",
    "http://2130706433:PORT/",
    "http://0177.0.0.1:PORT/",
    "http://[::1]:PORT/",
    "http://[::ffff:127.0.0.1]:PORT/",
    "http://[64:ff9b::7f00:1]:PORT/",
    "http://169.254.169.254:PORT/latest/meta-data/",
    "http://10.0.0.1:PORT/",
    "http://metadata.example:PORT/",
    "http://1.1.1.1:22/",
    "http://user:secret@1.1.1.1:PORT/",
    "ftp://1.1.1.1:PORT/",
    "nonsense",
  ];
  for (const url of forbidden) {
    test(`nothing is sent to ${url}`, async () => {
      const resolve: Resolve = async (host) => [
        { address: "1.1.1.1", family: 4 },
        { address: host === "localhost" ? "127.0.0.1" : "169.254.169.254", family: 4 },
      ];
      const target = endpoint({ url: url.replace("PORT", String(receiver.port)) });
      const broker = open({ endpoint: () => target, allowedNetworks: [] }, resolve);
      const refusal = await broker.publish(aMessage()).catch((error: unknown) => error);
      expect(refusal).toMatchObject({ name: "PermanentError" });
      expect((refusal as Error).message).not.toContain("secret");
      expect(receiver.received.left).toBe(0);
    });
  }

  test("http is not allowed unless it is said so", () => {
    expect(() => open({ allowHttp: false })).toThrow("http is not allowed");
  });

  test("a name that resolves elsewhere a moment later is of no use: the connection goes to the address that was checked", async () => {
    const inner = new Receiver();
    await inner.listen("127.0.0.2");
    let asked = 0;
    const resolve: Resolve = async () => [{ address: asked++ === 0 ? "127.0.0.1" : "127.0.0.2", family: 4 }];
    const url = `http://hooks.example:${receiver.port}/`;
    const broker = open({ endpoint: endpoint({ url }) }, resolve);
    await broker.publish(aMessage());
    const { headers } = await receiver.received.next();
    expect(headers.host).toBe(`hooks.example:${receiver.port}`);
    expect(asked).toBe(1);
    await open({ endpoint: endpoint({ url }) }, resolve)
      .publish(aMessage())
      .then(
        () => expect.unreachable(),
        (error: unknown) => expect(error).toMatchObject({ name: "PermanentError" }),
      );
    expect(inner.received.left).toBe(0);
    inner.close();
  });

  test("bad settings are refused where they are made, without a word of a secret", () => {
    const bad: Partial<WebhooksOptions>[] = [
      { endpoint: undefined as never },
      { endpoint: endpoint({ id: "" }) },
      { endpoint: endpoint({ secrets: [] }) },
      { endpoint: endpoint({ secrets: ["hunter2"] }) },
      { timeout: "31s" },
      { allowedNetworks: ["here"] },
    ];
    for (const options of bad) {
      const refusal = expect(() => open(options));
      refusal.toThrow(expect.objectContaining({ code: "option_invalid" }));
      refusal.not.toThrow("hunter2");
    }
  });
});

const hasOpenssl = (() => {
  try {
    execFileSync("openssl", ["version"]);
    return true;
  } catch {
    return false;
  }
})();

describe.skipIf(!hasOpenssl)("webhooks over TLS (needs openssl)", () => {
  test("the name of the URL is what the certificate is held against, also when the address was resolved by us", async () => {
    const folder = mkdtempSync(join(tmpdir(), "pawl-tls-"));
    const [keyFile, certFile] = [join(folder, "key.pem"), join(folder, "cert.pem")];
    const subject = ["-subj", "/CN=hooks.example", "-addext", "subjectAltName=DNS:hooks.example"];
    const made = [
      "-newkey",
      "ec",
      "-pkeyopt",
      "ec_paramgen_curve:P-256",
      "-nodes",
      "-keyout",
      keyFile,
      "-out",
      certFile,
    ];
    execFileSync("openssl", ["req", "-x509", "-days", "2", ...made, ...subject], { stdio: "ignore" });
    const [key, cert] = [readFileSync(keyFile), readFileSync(certFile)];
    rmSync(folder, { recursive: true });
    const names: (string | undefined)[] = [];
    const server = createSecureServer({
      key,
      cert,
      SNICallback: (name, done) => {
        names.push(name);
        done(null);
      },
    });
    const receiver = new Receiver(server as unknown as Server);
    const port = await receiver.listen();
    const resolve: Resolve = async () => [{ address: "127.0.0.1", family: 4 }];
    const settings = { ports: [port], allowedNetworks: ["127.0.0.1"], timeout: "2s", ca: cert } as const;
    const to = (host: string) =>
      new WebhooksBroker({ ...settings, endpoint: { id: host, url: `https://${host}:${port}/`, secrets } }, resolve);
    const [right, wrong] = [to("hooks.example"), to("other.example")];
    await right.publish(aMessage());
    expect((await receiver.received.next()).headers.host).toBe(`hooks.example:${port}`);
    await expect(wrong.publish(aMessage())).rejects.toThrow("Could not reach");
    expect(names).toEqual(["hooks.example", "other.example"]);
    await Promise.all([right.close(), wrong.close()]);
    receiver.close();
  });
});
