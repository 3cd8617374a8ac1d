import { httpApp } from "pawl/http";
import { type TestPawl, testPawl } from "pawl/testing";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { AppOptions } from "../../src/http/app.ts";

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
  for (const authenticateTimeout of [0, -1, "soon", Number.NaN])
    expect(() => broken(() => undefined, { authenticateTimeout: authenticateTimeout as number })).toThrow(
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
    });
    const stream = await app.request("/api/live");
    expect(stream.status).toBe(200);
    await stream.text();
    expect(calls).toBe(2);
  }
});
