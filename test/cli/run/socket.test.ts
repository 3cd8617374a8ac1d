import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { lifecycle } from "pawl";
import { type TestPawl, testPawl } from "pawl/testing";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { type Call, callOver } from "../../../src/cli/transport/client.ts";
import { type LocalSocket, listenLocally } from "../../../src/cli/transport/local-socket.ts";
import { overSocket } from "../../../src/cli/transport/socket-carrier.ts";

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

async function clientOf(path: string): Promise<Call> {
  return callOver((await overSocket(path))!);
}

test("a socket in a folder that others can write to is not trusted", async () => {
  chmodSync(folder, 0o777);
  const refused = overSocket(join(folder, "pawl.sock"));
  await expect(refused).rejects.toMatchObject({ code: "not_allowed", message: expect.stringContaining("chmod go-w") });
  chmodSync(folder, 0o755);
  expect(await overSocket(server.path)).toBeDefined();
});

/** Writes bytes as they are, and resolves to what came back when the connection is closed. */
async function raw(bytes: string | Buffer): Promise<string> {
  const socket = connect(server.path).on("error", () => {});
  socket.write(bytes);
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

function post(path: string, body: string): string {
  const length = Buffer.byteLength(body);
  return `POST ${path} HTTP/1.1\r\nhost: pawl\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n${body}`;
}

const start = "/api/lifecycles/parcel/instances";

describe("what is no request gets an error, and the next one its answer", () => {
  test.each([
    ["garbage", "}{ not HTTP\r\n\r\n", "400"],
    ["bytes that are no text", Buffer.from([0xff, 0xfe, 0x00, 0x0a]), "400"],
    ["a body that is no JSON", post(start, "}{"), "The request body is not JSON"],
    ["another kind of JSON", post(start, "[1]"), "The body must be a JSON object"],
    ["a body of 2 MiB", post(start, `"${"x".repeat(2 * 1024 * 1024)}"`), "The maximum is 1 MiB"],
    ["a nest of brackets", post(start, "[".repeat(500_000)), "The request body is not JSON"],
    ["an unknown path", post("/api/constructor", "{}"), "not_found"],
    ["an argument that nobody knows", post(start, '{"dta":{}}'), "has no argument `dta`"],
    ["an argument that every object has", post(start, '{"constructor":{}}'), "has no argument `constructor`"],
    [
      "a lifecycle that every object has",
      post("/api/lifecycles/toString/instances", "{}"),
      "Lifecycle `toString` does not exist",
    ],
    ["a hidden prototype", post(start, '{"data":{"__proto__":{"address":"x"}}}'), "__proto__"],
  ])("%s", async (_name, bytes, told) => {
    expect(await raw(bytes)).toContain(told);
    const call = await clientOf(server.path);
    expect(await call("counts", { lifecycle: "parcel" })).toMatchObject({ packed: 1 });
    expect(({} as Record<string, unknown>).address).toBeUndefined();
  });
});

test("who comes over the socket is admin, and acts for whom they name or for nobody", async () => {
  const call = await clientOf(server.path);
  const named = await call("start", { lifecycle: "parcel", data: { address: "Elm 4" }, actor: "ada" });
  expect(await call("journal", { id: named.id })).toMatchObject([{ actor: "ada" }]);
  const unnamed = await call("start", { lifecycle: "parcel", data: { address: "Elm 5" } });
  expect(await call("journal", { id: unnamed.id })).toMatchObject([{ actor: null }]);
  expect(await call("tokens", {})).toEqual([]);
  for (const { id } of [named, unnamed]) await call("send", { id, event: "ship" });
});

test("a client that goes away in the middle harms nobody", async () => {
  const rude = connect(server.path).on("error", () => {});
  rude.write("GET /api/lifecycles/parcel/keys/p1/wait?timeout=1h HTTP/1.1\r\nhost: pawl\r\n\r\n");
  rude.write("POST /api/lifecy");
  const call = await clientOf(server.path);
  await call("counts", { lifecycle: "parcel" });
  rude.destroy();
  expect(await call("get", { lifecycle: "parcel", key: "p1" })).toMatchObject({ state: "packed" });
});

test("errors arrive with their code and details", async () => {
  const call = await clientOf(server.path);
  const refused = call("send", { lifecycle: "parcel", key: "p1", event: "recover" });
  await expect(refused).rejects.toMatchObject({
    code: "transition_refused",
    details: { blockers: [expect.anything()] },
  });
  const large = call("start", { lifecycle: "parcel", data: { address: "x".repeat(1024 * 1024) } });
  await expect(large).rejects.toMatchObject({ code: "value_not_serializable" });
});

test("closing ends a wait, answers it, and removes the file", async () => {
  const call = await clientOf(server.path);
  const began = vi.spyOn(t.pawl, "wait");
  const waiting = call("wait", { lifecycle: "parcel", key: "p1", timeout: "1h" }).catch((thrown: unknown) => thrown);
  await vi.waitFor(() => expect(began).toHaveBeenCalled());
  began.mockRestore();
  const [, error] = await Promise.all([server.close(), waiting]);
  expect(error).toMatchObject({ code: "closed" });
  expect(existsSync(server.path)).toBe(false);
  expect(await overSocket(server.path)).toBeUndefined();
  await expect(call("counts", { lifecycle: "parcel" })).rejects.toMatchObject({ code: "outcome_unknown" });
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
    const call = await clientOf(second.path);
    expect(await call("counts", { lifecycle: "parcel" })).toMatchObject({ packed: 1 });
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
