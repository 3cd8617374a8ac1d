import { httpApp } from "pawl/http";
import { type TestPawl, testPawl } from "pawl/testing";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import type { AppOptions } from "../../src/http/app.ts";
import { gateOf } from "../support/gate.ts";

const lines: string[] = [];
const note = (_: object, message: string) => {
  lines.push(message);
};
let t: TestPawl;
beforeAll(async () => {
  t = await testPawl({ lifecycles: [], logger: { debug() {}, info() {}, warn: note, error: note } });
});
afterAll(() => t.close());
beforeEach(() => {
  lines.length = 0;
});

// biome-ignore lint/suspicious/noExplicitAny: it stands in for functions that return anything.
function broken(authenticate: (request: Request) => any, options: AppOptions = {}) {
  return httpApp(t.pawl, { authenticate, ...options });
}

const ways: Record<string, (request: Request) => unknown> = {
  throws: () => {
    throw new Error("broken on purpose");
  },
  "throws something that is no error": () => {
    throw undefined;
  },
  rejects: async () => {
    throw new Error("broken on purpose");
  },
  "returns true": () => true,
  "returns a text": () => "admin",
  "returns an empty object": () => ({}),
  "returns an unknown role": () => ({ name: "ada", role: "root", labeler: null }),
  "returns a role of every object": () => ({ name: "ada", role: "constructor", labeler: null }),
  "returns no name": () => ({ role: "admin", labeler: null }),
  "returns a name that cannot be stored": () => ({ name: "a\u0000", role: "admin", labeler: null }),
  "returns a labeler that is a number": () => ({ name: "ada", role: "labeler", labeler: 7 }),
  "returns an object whose role cannot be read": () => ({
    name: "ada",
    get role() {
      throw new Error("broken on purpose");
    },
  }),
};

test.each(Object.keys(ways))("an `authenticate` that %s is logged, and the request is refused", async (how) => {
  const { secret } = await t.pawl.access.createToken({ name: "admin", role: "admin" });
  for (const authorization of ["", `Bearer ${secret}`]) {
    for (const path of ["/api/overview", "/api/session", "/api/live", "/metrics"]) {
      lines.length = 0;
      const response = await broken(ways[how]!).request(path, { headers: { authorization } });
      expect([response.status, response.headers.get("retry-after")], path).toEqual([503, "1"]);
      expect(await response.json()).toMatchObject({ code: "not_available" });
      expect(lines).toEqual([expect.stringContaining("`authenticate` failed, and the request was refused: ")]);
    }
  }
});

test("an `authenticate` that never settles is waited for until its time limit", async () => {
  const app = broken(() => new Promise(() => {}), { authenticateTimeout: 20 });
  expect((await app.request("/api/overview")).status).toBe(503);
  expect(lines).toEqual([expect.stringContaining("did not settle within 20 ms")]);
});

test("a time limit that is none is refused when the app is built", () => {
  for (const option of ["authenticateTimeout", "reauthenticateInterval"])
    for (const value of [0, -1, "soon", Number.NaN])
      expect(() => broken(() => undefined, { [option]: value as number })).toThrow(
        expect.objectContaining({ code: "option_invalid" }),
      );
});

test("an `authenticate` that reads the body is told to read a copy", async () => {
  const ada = { name: "ada", role: "admin", labeler: null };
  const sent = {
    method: "POST",
    body: '{"name":"x","role":"viewer"}',
    headers: { "content-type": "application/json" },
  };
  const eager = broken(async (request) => (await request.text()) && ada);
  expect((await eager.request("/api/tokens", sent)).status).toBe(503);
  expect(lines).toEqual([expect.stringContaining("request.clone()")]);
  const careful = broken(async (request) => (await request.clone().text()) && ada);
  expect((await careful.request("/api/tokens", sent)).status).toBe(200);
});

test("an `authenticate` that returns null does not know the sender, who may have a token", async () => {
  const { secret } = await t.pawl.access.createToken({ name: "viewer", role: "viewer" });
  const app = broken(() => null);
  expect((await app.request("/api/overview")).status).toBe(401);
  expect((await app.request("/api/overview", { headers: { authorization: `Bearer ${secret}` } })).status).toBe(200);
});

test("a live stream ends when `authenticate` never settles again, or gives another role", async () => {
  for (const second of [() => new Promise(() => {}), () => ({ name: "ada", role: "labeler", labeler: null })]) {
    let calls = 0;
    const app = broken(() => (calls++ === 0 ? { name: "ada", role: "viewer", labeler: null } : second()), {
      authenticateTimeout: 20,
      reauthenticateInterval: 20,
    });
    const stream = await app.request("/api/live");
    expect(stream.status).toBe(200);
    await stream.text();
    expect(calls).toBe(2);
  }
});

/** The stream of a principal whom the application knows by the header `x-user`. */
async function streamAs(
  app: ReturnType<typeof httpApp>,
  user: string,
): Promise<ReadableStreamDefaultReader<Uint8Array>> {
  const { status, body } = await app.request("/api/live", { headers: { "x-user": user } });
  expect(status).toBe(200);
  return body!.getReader();
}

async function readToEnd(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  while (!(await reader.read()).done);
}

test("`authenticate` is called again once for all streams of one credential, and apart for another", async () => {
  let known = true;
  const calls: (string | null)[] = [];
  const app = broken(
    ({ headers }: Request) => {
      const user = headers.get("x-user");
      if (!known) calls.push(user);
      return known ? { name: "ada", role: "viewer", labeler: null } : undefined;
    },
    { reauthenticateInterval: "1m" },
  );
  const streams = await Promise.all(["a", "a", "a", "b"].map((user) => streamAs(app, user)));
  known = false;
  const now = performance.now.bind(performance);
  vi.spyOn(performance, "now").mockImplementation(() => now() + 60_000);
  try {
    await Promise.all(streams.map(readToEnd));
  } finally {
    vi.restoreAllMocks();
  }
  expect(calls.sort()).toEqual(["a", "b"]);
});

test("streams are not authenticated again before their interval, while revoked tokens end theirs within seconds", async () => {
  let calls = 0;
  const app = broken(({ headers }: Request) => {
    if (!headers.has("x-user")) return undefined;
    calls++;
    return { name: "ada", role: "viewer", labeler: null };
  });
  const own = await streamAs(app, "a");
  const token = await t.pawl.access.createToken({ name: "grace", role: "viewer" });
  const stream = await app.request("/api/live", { headers: { authorization: `Bearer ${token.secret}` } });
  await t.pawl.access.revokeToken(token.id);
  await stream.text();
  expect(calls).toBe(1);
  await own.cancel();
});

test("an `authenticate` that hangs delays no other stream", async () => {
  let hangs = false;
  const asked = gateOf();
  const app = broken(
    ({ headers }: Request) => {
      const user = headers.get("x-user");
      if (hangs && user === "stuck") {
        asked.resolve();
        return new Promise(() => {});
      }
      return user === null ? undefined : { name: user, role: "viewer", labeler: null };
    },
    { reauthenticateInterval: 20, authenticateTimeout: "10m" },
  );
  const stuck = await streamAs(app, "stuck");
  const token = await t.pawl.access.createToken({ name: "hopper", role: "viewer" });
  const stream = await app.request("/api/live", { headers: { authorization: `Bearer ${token.secret}` } });
  hangs = true;
  await asked.promise;
  await t.pawl.access.revokeToken(token.id);
  await stream.text();
  await stuck.cancel();
});
