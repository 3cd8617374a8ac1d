import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { lifecycle } from "pawl";
import { type TestPawl, testPawl } from "pawl/testing";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { LocalClient } from "../../src/cli/transport/local-client.ts";
import { type LocalSocket, listenLocally } from "../../src/cli/transport/local-socket.ts";

const parcel = lifecycle("parcel", {
  data: z.object({ address: z.string() }),
  initial: "packed",
  states: { packed: { forever: true, on: { ship: "shipped" } }, shipped: { final: "success" } },
});

let t: TestPawl;
let folder: string;
let server: LocalSocket;
beforeAll(async () => {
  t = await testPawl({ lifecycles: [parcel] });
  await t.pawl.start(parcel, { key: "p1", data: { address: "Elm 3" } });
});
afterAll(() => t.close());
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "pawl-socket-"));
  server = await listenLocally(t.pawl, folder);
});
afterEach(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

test("a socket in a folder that others can write to is not trusted", async () => {
  chmodSync(folder, 0o777);
  const refused = LocalClient.connect(join(folder, "pawl.sock"));
  await expect(refused).rejects.toMatchObject({ code: "not_allowed", message: expect.stringContaining("chmod go-w") });
  chmodSync(folder, 0o755);
  const client = await LocalClient.connect(server.path);
  expect(client).toBeDefined();
  client!.close();
});

/** Writes bytes as they are, and gives back the answers as they come. */
class RawClient {
  readonly #socket: Socket;
  #text = "";
  #heard = () => {};

  constructor(path: string) {
    this.#socket = connect(path).on("error", () => {});
    this.#socket.on("data", (chunk) => {
      this.#text += chunk;
      this.#heard();
    });
  }

  write(bytes: string | Buffer): void {
    this.#socket.write(bytes);
  }

  async answers(count: number): Promise<Record<string, unknown>[]> {
    const lines = () => this.#text.split("\n").slice(0, -1);
    while (lines().length < count) await new Promise<void>((resolve) => (this.#heard = resolve));
    return lines().map((line) => JSON.parse(line));
  }

  end(): void {
    this.#socket.destroy();
  }
}

const request = `${JSON.stringify({ id: 7, verb: "counts", args: { lifecycle: "parcel" } })}\n`;
const answer = { id: 7, ok: { packed: 1 } };

describe("a line that is no request gets an error, and the next one its answer", () => {
  const proto = '{"id":3,"verb":"start","args":{"lifecycle":"parcel","data":{"__proto__":{"address":"x"}}}}';
  test.each([
    ["garbage", "}{ not json\n", null, "not JSON"],
    ["bytes that are no text", Buffer.from([0xff, 0xfe, 0x00, 0x0a]), null, "not JSON"],
    ["another kind of JSON", "[1]\n", null, "A request is a JSON object"],
    ["a line of 2 MiB", `${"x".repeat(2 * 1024 * 1024)}\n`, null, "1 MiB"],
    ["a nest of brackets", `${"[".repeat(500_000)}\n`, null, "not JSON"],
    [
      "a nest of brackets in order",
      `{"id":3,"verb":"counts","args":${'{"a":'.repeat(90_000)}1${"}".repeat(90_000)}}\n`,
      3,
      "",
    ],
    ["no verb", '{"id":3}\n', 3, "`verb` must be a text"],
    ["an unknown verb", '{"id":3,"verb":"stop"}\n', 3, 'There is no verb "stop"'],
    ["a verb that every object has", '{"id":3,"verb":"constructor"}\n', 3, "There is no verb"],
    ["arguments that are a list", '{"id":3,"verb":"find","args":[]}\n', 3, "`args` must be an object"],
    [
      "an argument that nobody knows",
      '{"id":3,"verb":"find","args":{"lifecycle":"parcel","sate":"packed"}}\n',
      3,
      'Did you mean "state"?',
    ],
    [
      "a lifecycle that every object has",
      '{"id":3,"verb":"counts","args":{"lifecycle":"toString"}}\n',
      3,
      "There is no lifecycle",
    ],
    ["a hidden prototype", `${proto}\n`, 3, "__proto__"],
    ["an id that is an object", '{"id":{},"verb":"counts"}\n', null, "`id` must be"],
  ])("%s", async (_name, bytes, id, told) => {
    const client = new RawClient(server.path);
    client.write(bytes);
    client.write(request);
    const answers = await client.answers(2);
    expect(answers.find((one) => one.id !== 7)).toEqual({
      id,
      error: {
        code: expect.stringMatching(/_invalid$|_unknown$/),
        message: expect.stringContaining(told),
        details: expect.anything(),
      },
    });
    expect(answers.find((one) => one.id === 7)).toEqual(answer);
    expect(({} as Record<string, unknown>).address).toBeUndefined();
    client.end();
  });

  test("nothing at all", async () => {
    const client = new RawClient(server.path);
    client.write(`\n\r\n  \n${request}`);
    expect(await client.answers(1)).toEqual([answer]);
    client.end();
  });
});

test("a request in pieces is one, and two in one piece are two", async () => {
  const client = new RawClient(server.path);
  for (const byte of request) client.write(byte);
  await client.answers(1);
  client.write(request + request);
  expect(await client.answers(3)).toEqual([answer, answer, answer]);
  client.end();
});

test("a client that goes away in the middle harms nobody", async () => {
  const rude = new RawClient(server.path);
  rude.write(`${JSON.stringify({ id: 1, verb: "wait", args: { lifecycle: "parcel", key: "p1", timeout: "1h" } })}\n`);
  rude.write(request);
  await rude.answers(1);
  rude.write('{"id":2,');
  rude.end();
  const client = (await LocalClient.connect(server.path))!;
  expect(await client.call("get", { lifecycle: "parcel", key: "p1" })).toMatchObject({ state: "packed" });
  client.close();
});

test("errors arrive with their code and details", async () => {
  const client = (await LocalClient.connect(server.path))!;
  const refused = client.call("send", { lifecycle: "parcel", key: "p1", event: "recover" });
  await expect(refused).rejects.toMatchObject({
    code: "transition_refused",
    details: { blockers: [expect.anything()] },
  });
  await expect(client.call("get", { lifecycle: "x".repeat(1024 * 1024) })).rejects.toMatchObject({
    code: "option_invalid",
  });
  client.close();
});

test("closing ends a wait, answers it, and removes the file", async () => {
  const client = (await LocalClient.connect(server.path))!;
  const waiting = client.call("wait", { lifecycle: "parcel", key: "p1", timeout: "1h" });
  await client.call("counts", { lifecycle: "parcel" });
  const [, error] = await Promise.all([server.close(), waiting.catch((thrown: unknown) => thrown)]);
  expect(error).toMatchObject({ code: "closed" });
  expect(existsSync(server.path)).toBe(false);
  expect(await LocalClient.connect(server.path)).toBeUndefined();
  server = await listenLocally(t.pawl, folder);
});

describe.skipIf(process.platform === "win32")("the file of the socket", () => {
  test("is for its owner only", () => {
    expect(server.path).toBe(join(folder, "db.sock"));
    expect(statSync(server.path).mode & 0o777).toBe(0o600);
  });

  test("is replaced when a process that is gone left one", async () => {
    const other = mkdtempSync(join(tmpdir(), "pawl-socket-"));
    const killed = createServer().listen(join(other, "db.sock"));
    await new Promise((resolve) => killed.once("listening", resolve));
    const second = await listenLocally(t.pawl, other);
    const client = (await LocalClient.connect(second.path))!;
    expect(await client.call("counts", { lifecycle: "parcel" })).toEqual({ packed: 1 });
    client.close();
    await second.close();
    killed.close();
    rmSync(other, { recursive: true });
  });

  test("is not put in place of something else", async () => {
    const other = mkdtempSync(join(tmpdir(), "pawl-socket-"));
    writeFileSync(join(other, "db.sock"), "precious");
    await expect(listenLocally(t.pawl, other)).rejects.toMatchObject({ code: "folder_unusable" });
    rmSync(other, { recursive: true });
  });

  test("is elsewhere when its path would be too long, in a folder of its own", async () => {
    const long = join(folder, "long-".repeat(20));
    mkdirSync(long);
    const second = await listenLocally(t.pawl, long);
    expect(second.path.startsWith(tmpdir())).toBe(true);
    expect(statSync(join(second.path, "..")).mode & 0o777).toBe(0o700);
    await second.close();
    expect(existsSync(join(second.path, ".."))).toBe(false);
  });
});
