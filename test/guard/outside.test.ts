import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { type Broker, constant, type DeadLetterArchive, type DeadLetterSource, job, type RelayOptions } from "pawl";
import { s3Archive } from "pawl/s3";
import { memoryBroker } from "pawl/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { seedPawl } from "../../src/cli/run/seed.ts";
import { webhooks } from "../../src/outbox/brokers/webhooks/webhooks.ts";
import { relaySettings } from "../../src/outbox/settings.ts";
import { type TestPawl, type TestPawlOptions, testPawl } from "../../src/testing/test-pawl.ts";
import { CapturedLog } from "../support/captured-log.ts";
import { type Broken, breaking, fails, impatiently, type Way, ways } from "./ways.ts";

// Functions by which Pawl reaches the outside: brokers, alert sinks, tickets, archives.

const order = job("order", {
  payload: z.object({ fails: z.boolean() }),
  run: (step) => {
    if (step.data.fails) throw new Error("no luck");
  },
  retry: { maxAttempts: 1, backoff: constant("1s") },
});

async function world(options: Partial<TestPawlOptions>): Promise<{ t: TestPawl; log: CapturedLog }> {
  const log = new CapturedLog();
  return { t: await testPawl({ lifecycles: [order], logger: log, ...options }), log };
}

/** A dead letter, with its alert and its ticket. */
async function fail(t: TestPawl, key: string): Promise<void> {
  await t.pawl.enqueue(order, { fails: true }, { key });
  await t.work();
}

describe("a broker", () => {
  const retry = { maxAttempts: 2, backoff: () => 1_000 };

  /** A relay with a broken broker, and one for `good.*` that works. */
  async function relaying(changes: Partial<Record<"takes" | "publish" | "awayMs" | "close", Broken>> | Broker) {
    const good = memoryBroker();
    const bad: Broker = {
      name: "bad",
      timeoutMs: 100,
      takes: (type: string) => type.startsWith("bad."),
      publish: async () => {},
      awayMs: () => 0,
      close: async () => {},
      ...changes,
    };
    const brokers = ["name" in changes ? changes : bad, good];
    const outbox: RelayOptions = { brokers, retry };
    relaySettings(outbox);
    const { t, log } = await world({ outbox });
    return { t, log, good };
  }
  const publish = (t: TestPawl, type: string) =>
    t.pawl.publish(type, { n: 1 }, { aggregate: { type: "thing", id: type } });
  const statusOf = async (t: TestPawl, type: string) =>
    (await t.pawl.outbox.messages({})).find((one) => one.type === type)?.status;

  /** The good message is sent; the bad one fails, and is given up after its attempts. */
  async function relayed(how: Way, changes: Parameters<typeof relaying>[0], isFailure: boolean): Promise<void> {
    const { t, good } = await relaying(changes);
    await using _ = t;
    await publish(t, "bad.message");
    await publish(t, "good.message");
    await t.relay();
    await t.advance("2s");
    await t.relay();
    expect(good.messages.map(({ type }) => type)).toContain("good.message");
    if (isFailure) expect([how, await statusOf(t, "bad.message")]).toEqual([how, "dead"]);
  }

  breaking("Broker.publish", (how, broken) => relayed(how, { publish: broken }, fails(how) || how === "never settles"));
  const isRefused = (how: Way) => fails(how) || how === "never settles";
  breaking("Broker.takes", (how, broken) =>
    relayed(how, { takes: (type: string) => (type.startsWith("bad.") ? broken() : false) }, isRefused(how)),
  );
  breaking("Broker.awayMs", (how, broken) => relayed(how, { awayMs: broken }, isRefused(how)));
  breaking("Handler", (how, broken) => {
    const own = Object.assign(memoryBroker({ name: "own", types: ["bad.*"] }), { timeoutMs: 100 });
    own.on("#", broken);
    return relayed(how, own, isRefused(how));
  });
  breaking("WebhooksOptions.endpoint", (how, endpoint) =>
    relayed(how, webhooks({ types: ["bad.*"], timeout: 100, endpoint }), true),
  );
  breaking("Broker.close", async (how, broken) => {
    const { t } = await relaying({ close: broken });
    const closed = await impatiently(() => t.close()).then(
      () => "closed",
      () => "failed",
    );
    expect(closed).toBe(fails(how) || how === "never settles" ? "failed" : "closed");
    await expect(t.pawl.inspect.counts(order)).rejects.toMatchObject({ code: "closed" });
  });
});

describe("an alert sink", () => {
  async function alerted(how: Way, broken: unknown): Promise<void> {
    const heard: string[] = [];
    const { t, log } = await world({ alerts: [broken as never, ({ cause }) => heard.push(cause)] });
    await using _ = t;
    await fail(t, "one");
    await impatiently(() => t.deliverAlerts());
    expect(heard).toHaveLength(1);
    const isNotTold = fails(how) || how === "never settles";
    expect(log.said("warn").filter((line) => line.startsWith("Alert delivery failed"))).toHaveLength(isNotTold ? 1 : 0);
    await t.advance("1m");
    await impatiently(() => t.deliverAlerts());
    expect(heard).toHaveLength(1); // Who has heard it is not told again.
  }
  breaking("AlertTarget", (how, broken) => alerted(how, broken));
  breaking("AlertSink.send", (how, broken) => alerted(how, { name: "bad", send: broken }));
  breaking("AlertSink.close", async (how, broken) => {
    const { t } = await world({ alerts: [{ name: "bad", send: () => {}, close: broken }] });
    const closed = await impatiently(() => t.close()).then(
      () => "closed",
      () => "failed",
    );
    expect(closed).toBe(fails(how) || how === "never settles" ? "failed" : "closed");
    await expect(t.pawl.inspect.counts(order)).rejects.toMatchObject({ code: "closed" });
  });
});

breaking("DeadLetterOptions.onTicket", async (how, broken) => {
  const { t, log } = await world({ deadLetters: { onTicket: broken } });
  await using _ = t;
  await fail(t, "one");
  await impatiently(() => t.notifyTickets());
  const isNotTold = fails(how) || how === "never settles";
  expect(log.said("warn")).toHaveLength(isNotTold ? 1 : 0);
  expect(await t.pawl.deadLetters.tickets.list()).toHaveLength(1);
  await t.pawl.enqueue(order, { fails: false }, { key: "fine" });
  await t.work();
  expect(await t.pawl.inspect.counts(order)).toMatchObject({ done: 1 });
});

describe("an endpoint that is gone", () => {
  let server: Server;
  beforeAll(async () => {
    server = createServer((_, response) => response.writeHead(410).end()).listen(0, "127.0.0.1");
    await once(server, "listening");
  });
  afterAll(() => void server.close());

  breaking("WebhooksOptions.onDisabled", async (how, onDisabled) => {
    const { port } = server.address() as AddressInfo;
    const endpoint = { id: "gone", url: `http://127.0.0.1:${port}`, secrets: [`whsec_${"a".repeat(32)}`] };
    const own = webhooks({ endpoint, onDisabled, allowHttp: true, ports: [port], allowedNetworks: ["127.0.0.0/8"] });
    const warnings: string[] = [];
    const hear = ({ message }: Error) => warnings.push(message);
    process.on("warning", hear);
    const publish = () =>
      own.publish({
        ...{ id: "m", type: "a.message", aggregate: { type: "thing", id: "1" }, body: "{}" },
        ...{ createdAt: new Date(), version: null, attempt: 1 },
      });
    await expect(publish()).rejects.toThrow("responded with 410");
    await expect(publish()).rejects.toThrow("is disabled");
    await new Promise((resolve) => setImmediate(resolve));
    process.off("warning", hear);
    expect(warnings.filter((one) => one.includes("`onDisabled` failed"))).toHaveLength(fails(how) ? 1 : 0);
    await own.close();
  });
});

describe("a source of dead letters", () => {
  /** Another source is opened, and a worker does its work. */
  async function opened(bad: Partial<DeadLetterSource>) {
    let isOpen = false;
    const good: DeadLetterSource = {
      name: "good",
      open: () => {
        isOpen = true;
        const stop = async () => {
          isOpen = false;
        };
        return { stop };
      },
    };
    const queues = [{ name: "bad", ...bad } as DeadLetterSource, good];
    const { t, log } = await world({ deadLetters: { queues } });
    const worker = t.pawl.work({ pollInterval: 10, maintenanceInterval: 0 });
    await t.pawl.enqueue(order, { fails: false }, { key: "fine" });
    expect(await t.pawl.wait(order, "fine")).toMatchObject({ state: "done" });
    expect(isOpen).toBe(true);
    await worker.stop();
    return { t, log, isOpen: () => isOpen };
  }
  breaking("DeadLetterSource.open", async (_, open) => {
    const { t, log } = await opened({ open });
    expect(log.said("error")).toEqual([expect.stringContaining("Opening the dead-letter queue `bad`")]);
    await t.close();
  });
  breaking("DeadLetterSource.open().stop", async (how, stop) => {
    const { t, isOpen } = await opened({ open: () => ({ stop }) });
    const closed = await impatiently(() => t.close()).then(
      () => "closed",
      () => "failed",
    );
    expect(closed).toBe(fails(how) || how === "never settles" ? "failed" : "closed");
    expect(isOpen()).toBe(false);
    await expect(t.pawl.inspect.counts(order)).rejects.toMatchObject({ code: "closed" });
  });
});

breaking("PawlConfig.seed", async (how, broken) => {
  const { t } = await world({});
  await using _ = t;
  const seeded = await impatiently(() => seedPawl(t.pawl, { path: "pawl.config.ts", seed: broken })).then(
    () => "seeded",
    (error: unknown) => (error as { code?: string }).code,
  );
  expect(seeded).toBe(how.startsWith("returns") ? "seeded" : "config_invalid");
  await t.pawl.enqueue(order, { fails: false }, { key: "fine" });
  await t.work();
  expect(await t.pawl.inspect.counts(order)).toMatchObject({ done: 1 });
});

describe("an archive", () => {
  async function archived(method: "write" | "read" | "list", broken: Broken): Promise<void> {
    const files = new Map<string, Uint8Array>();
    const archive: DeadLetterArchive = {
      name: "bad",
      write: async (name, content) => void files.set(name, content),
      read: async (name) => files.get(name)!,
      list: async () => [...files.keys()],
    };
    const { t } = await world({ deadLetters: { archive: { ...archive, [method]: broken }, maxRetained: 0 } });
    await using _ = t;
    await fail(t, "one");
    await impatiently(() => t.archiveDeadLetters()).catch((error: unknown) => {
      expect(error).toMatchObject({ code: expect.stringMatching(/^archive_/) });
    });
    const kept = await t.pawl.deadLetters.list({ lifecycle: order });
    const inArchive = files.size > 0 && method !== "read";
    expect(kept.length === 1 || inArchive).toBe(true); // Nothing is removed that is not safe there.
    if (method !== "write")
      await expect(impatiently(() => t.pawl.deadLetters.restore({ all: true } as never))).rejects.toMatchObject({
        code: expect.stringMatching(/^archive_/),
      });
    await t.pawl.enqueue(order, { fails: false }, { key: "fine" });
    await t.work();
    expect(await t.pawl.inspect.counts(order)).toMatchObject({ done: 1 });
  }
  breaking("DeadLetterArchive.write", (_, broken) => archived("write", broken));
  breaking("DeadLetterArchive.read", (_, broken) => archived("read", broken));
  breaking("DeadLetterArchive.list", (_, broken) => archived("list", broken));
  breaking("S3ArchiveOptions.credentials", async (_, credentials) => {
    const archive = s3Archive({ bucket: "letters", endpoint: "http://127.0.0.1:1", credentials });
    const { t, log } = await world({ deadLetters: { archive, maxRetained: 0 } });
    await using _t = t;
    await fail(t, "one");
    log.lines.length = 0;
    await expect(impatiently(() => t.archiveDeadLetters())).rejects.toMatchObject({ code: "archive_failed" });
    expect(await t.pawl.deadLetters.list({ lifecycle: order })).toHaveLength(1);
    await t.pawl.enqueue(order, { fails: false }, { key: "fine" });
    await t.work();
    expect(await t.pawl.inspect.counts(order)).toMatchObject({ done: 1 });
  });
});

breaking("Operations.run(options).onProgress", async (how, broken) => {
  const { t, log } = await world({});
  await using _ = t;
  await fail(t, "one");
  const operation = await t.pawl.deadLetters.discardMany({ all: true }, { actor: "ada" });
  expect(await t.pawl.operations.run(operation.id, { onProgress: broken })).toMatchObject({ status: "done" });
  expect(log.said("error")).toHaveLength(fails(how) ? 2 : 1); // The first is about the job itself.
  expect(await t.pawl.deadLetters.list({ lifecycle: order })).toEqual([]);
});

breaking("Pawl.transaction(work)", async (how, broken) => {
  const { t } = await world({});
  await using _ = t;
  const outcome = await impatiently(() => t.pawl.transaction(broken)).then(
    () => "committed",
    () => "refused",
  );
  expect(outcome).toBe(how.startsWith("returns") ? "committed" : "refused");
  await t.pawl.enqueue(order, { fails: false }, { key: "fine" });
  await t.work();
  expect(await t.pawl.inspect.counts(order)).toMatchObject({ done: 1 });
});

test("there are seven ways", () => {
  expect(Object.keys(ways)).toHaveLength(7);
});
