import { constant, createPawl, exponential, folderArchive, lifecycle, logAlerts } from "pawl";
import { labelsToCsv, labelsToLabelStudio, samplesFromCsv, samplesFromJsonl } from "pawl/formats";
import { httpApp, serveHttp } from "pawl/http";
import { mturk } from "pawl/mturk";
import { dawidSkene } from "pawl/quality";
import { consume, consumeCallbacks, deadLetterQueue, rabbitmq } from "pawl/rabbitmq";
import { s3Archive } from "pawl/s3";
import { memoryBroker, memoryMarketplace, type TestPawl, testPawl } from "pawl/testing";
import { webhookAlerts, webhooks } from "pawl/webhooks";
import { afterAll, beforeAll, expect, test } from "vitest";

const order = lifecycle("order", {
  initial: "open",
  states: { open: { forever: true, on: { paid: "done" } }, done: { final: "success" } },
});
const asking = lifecycle("asking", {
  initial: "open",
  states: {
    open: {
      run: async (step) => {
        await (step.callbackToken as (...given: unknown[]) => unknown)("done", { expirsIn: "1h" });
      },
      retry: { maxAttempts: 1, backoff: constant("1s") },
      on: { done: "closed" },
    },
    closed: { final: "success" },
  },
});

let t: TestPawl;
beforeAll(async () => {
  t = await testPawl({ lifecycles: [order, asking] });
});
afterAll(() => t[Symbol.asyncDispose]());

const url = "amqp://localhost";
const queue = "q";
const secrets = [`whsec_${Buffer.alloc(24, 1).toString("base64")}`];
const log = { debug() {}, info() {}, warn() {}, error() {} };

/** Each function that takes options, called with a misspelt one, and the name that was probably intended. */
const calls: Readonly<Record<string, readonly [suggested: string, call: () => unknown]>> = {
  exponential: ["first", () => exponential({ frst: "1s" } as never)],
  testPawl: ["lifecycles", () => testPawl({ lifecycle: [order] } as never)],
  "createPawl, breakers": ["window", () => createPawl({ lifecycles: [], breakers: { stt: { windw: "1m" } } } as never)],
  "createPawl, stuckAfter": ["noWorker", () => createPawl({ lifecycles: [], stuckAfter: { noWorkr: "1m" } } as never)],
  "createPawl, deadLetters": [
    "retention",
    () => createPawl({ lifecycles: [], deadLetters: { retenton: "1d" } } as never),
  ],
  "testPawl, stuckAfter": ["overdue", () => testPawl({ lifecycles: [order], stuckAfter: { overdu: "1m" } } as never)],
  rabbitmq: ["exchange", () => rabbitmq({ url, exchnge: "a" } as never)],
  consume: ["prefetch", () => consume({ url, queue, handler: async () => "ack", prefech: 1 } as never)],
  consumeCallbacks: [
    "prefetch",
    () => consumeCallbacks(t.pawl, { url, queue, read: () => undefined, prefech: 1 } as never),
  ],
  deadLetterQueue: ["broker", () => deadLetterQueue({ url, queue, brokr: "a" } as never)],
  webhooks: ["timeout", () => webhooks({ endpoint: () => null, timout: "1s" } as never)],
  webhookAlerts: ["secrets", () => webhookAlerts({ url: "https://a.example", secrets, secets: [] } as never)],
  logAlerts: ["name", () => logAlerts(log, { nme: "a" } as never)],
  s3Archive: ["region", () => s3Archive({ bucket: "abc", regoin: "eu-central-1" } as never)],
  folderArchive: ["name", () => folderArchive("/tmp/none", { nme: "a" } as never)],
  mturk: ["requestTimeout", () => mturk({ requestTimout: "1s" } as never)],
  memoryBroker: ["remember", () => memoryBroker({ rememer: 1 } as never)],
  memoryMarketplace: ["staysBelow", () => memoryMarketplace({ stayBelow: 1 } as never)],
  samplesFromCsv: ["delimiter", () => samplesFromCsv([], { delimter: ";" } as never).next()],
  samplesFromJsonl: ["gold", () => samplesFromJsonl([], { gld: "a" } as never).next()],
  labelsToCsv: ["delimiter", () => labelsToCsv([] as never, { delimter: ";" } as never).next()],
  labelsToLabelStudio: ["ratings", () => labelsToLabelStudio([] as never, { ratngs: [] } as never).next()],
  dawidSkene: ["trust", () => dawidSkene([], { trus: 1 } as never)],
  httpApp: ["limits", () => httpApp(t.pawl, { limit: false } as never)],
  "httpApp, limits": ["streams", () => httpApp(t.pawl, { limits: { streems: 1 } } as never)],
  serveHttp: ["port", () => serveHttp(t.pawl, { prt: 0 } as never)],
  "outbox, relay": ["brokers", () => createPawl({ lifecycles: [], outbox: { broker: [] } } as never)],
};

test.each(Object.entries(calls))("%s refuses a misspelt option and suggests its name", async (_name, [name, call]) => {
  const error = await (async () => call())().catch((one: unknown) => one);
  expect(error).toMatchObject({
    code: "option_invalid",
    message: expect.stringContaining(`Did you mean \`${name}\`?`),
  });
});

test("step.callbackToken refuses a misspelt option, as an error of its step", async () => {
  await t.pawl.start(asking, { key: "a" });
  await t.work();
  const { failure } = (await t.pawl.get(asking, "a"))!;
  expect(failure?.error?.message).toContain("Did you mean `expiresIn`?");
});
