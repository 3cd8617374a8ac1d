import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Hono } from "hono";
import { job, lifecycle, type PawlError, queue } from "pawl";
import { httpApp } from "pawl/http";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { mountPages } from "../../src/http/pages.ts";
import { type TestPawl, testPawl } from "../../src/testing/test-pawl.ts";

const parcel = lifecycle("parcel", {
  initial: "packed",
  states: { packed: { forever: true, on: { sent: "away" } }, away: { final: "success" } },
});

const mail = job("mail", { run: () => {} });
const pictures = queue("pictures", { label: { type: "object", properties: { cat: { type: "boolean" } } } });

let t: TestPawl;
let headers: Record<string, string>;
const lines: { msg: string; actor?: string | null; address?: string }[] = [];
beforeAll(async () => {
  const logger = pino({ level: "info" }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  t = await testPawl({ lifecycles: [parcel, mail], queues: [pictures], logger });
  const { secret } = await t.pawl.access.createToken({ name: "ada", role: "admin" });
  headers = { authorization: `Bearer ${secret}`, "content-type": "application/json" };
});
afterAll(() => t.close());

describe("an application that knows its own users", () => {
  test("shows metrics to those of them who may look, and to nobody else", async () => {
    const principal = { name: "ada", role: "viewer", labeler: null } as const;
    const app = httpApp(t.pawl, {
      authenticate: (request) => (request.headers.get("x-user") === "ada" ? principal : undefined),
    });
    expect((await app.request("/metrics")).status).toBe(401);
    expect((await app.request("/metrics", { headers: { "x-user": "ada" } })).status).toBe(200);
    const labelers = httpApp(t.pawl, { authenticate: () => ({ name: "lou", role: "labeler", labeler: "lou" }) });
    expect((await labelers.request("/metrics")).status).toBe(403);
  });
});

describe("pages", () => {
  test("share no window with other sites, and load media only from where the config says", async () => {
    const policyOf = async (options: object) => {
      const response = await httpApp(t.pawl, options).request("/desk");
      expect(response.headers.get("cross-origin-opener-policy")).toBe("same-origin");
      return response.headers.get("content-security-policy");
    };
    expect(await policyOf({})).toContain("img-src 'self' data: https:;");
    const policy = await policyOf({ mediaSources: ["https://cdn.example.com"] });
    expect(policy).toContain("img-src 'self' data: https://cdn.example.com;");
    expect(policy).toContain("media-src 'self' data: https://cdn.example.com;");
    for (const bad of ["https://a b", "x; script-src *", "'unsafe-inline'", 7])
      expect(() => httpApp(t.pawl, { mediaSources: [bad as string] })).toThrow("`http.mediaSources`");
  });
});

test("files that could not be read are read again by the next request", async () => {
  const folder = await mkdtemp(join(tmpdir(), "pawl-pages-"));
  const app = new Hono();
  app.onError((error) => new Response((error as PawlError).code, { status: 503 }));
  mountPages(app, { base: "", folder: pathToFileURL(`${folder}/`) });
  for (const path of ["/", "/assets/page.js", "/assets/%00"])
    expect(await (await app.request(path)).text(), path).toBe("not_available");
  await mkdir(join(folder, "assets"));
  await writeFile(join(folder, "assets/page.js"), "1");
  await writeFile(join(folder, "index.html"), "<p>");
  for (const path of ["/", "/assets/page.js"]) expect((await app.request(path)).status, path).toBe(200);
  expect((await app.request("/assets/%00")).status).toBe(404);
  await rm(folder, { recursive: true });
});

describe("requests", () => {
  const post = (path: string, body: unknown, more: Record<string, string> = {}) =>
    httpApp(t.pawl).request(path, { method: "POST", headers: { ...headers, ...more }, body: JSON.stringify(body) });

  test("a start that is repeated under one Idempotency-Key starts once", async () => {
    const start = async () =>
      (await (await post("/api/lifecycles/parcel/instances", {}, { "idempotency-key": "k-1" })).json()) as {
        id: string;
      };
    const [first, second] = [await start(), await start()];
    expect(second).toMatchObject({ id: first.id, created: false });
    const named = { "idempotency-key": "k-2" };
    expect(await (await post("/api/lifecycles/parcel/instances", { key: "own" }, named)).json()).toMatchObject({
      key: "own",
    });
  });

  test("an Idempotency-Key is refused where it could not be kept: a job is told apart by its own key", async () => {
    const header = { "idempotency-key": "k-3" };
    const refused = await post("/api/jobs/mail", {}, header);
    expect([refused.status, await refused.json()]).toMatchObject([
      400,
      { code: "option_invalid", detail: expect.stringContaining("Send `key` in the body") },
    ]);
    expect(await t.pawl.jobs.list({ job: mail })).toEqual([]);
    const enqueue = async () => (await post("/api/jobs/mail", { key: "m" }, header)).json();
    const [first, again] = [(await enqueue()) as { id: string }, await enqueue()];
    expect(again).toMatchObject({ id: first.id, created: false });
  });

  test.each([".", ".."])("a key %j, which no path can name, is refused", async (key) => {
    const response = await post("/api/lifecycles/parcel/instances", { key });
    expect([response.status, await response.json()]).toMatchObject([400, { code: "key_invalid" }]);
    await expect(t.pawl.start(parcel, { key })).rejects.toMatchObject({ code: "key_invalid" });
  });

  test.each(["-271821-04-20T00:00:00Z", "+275760-09-13T00:00:00Z", "0000-01-01", "soon"])(
    "a moment %s that no calendar of the database has is refused, not failed over",
    async (from) => {
      const response = await httpApp(t.pawl).request(`/api/queues/pictures/metrics?from=${encodeURIComponent(from)}`, {
        headers,
      });
      expect(response.status).toBe(400);
    },
  );
});

test("who signs in, fails to, makes tokens or revokes them is in the log", async () => {
  const app = httpApp(t.pawl);
  const post = (path: string, body: unknown) =>
    app.request(path, { method: "POST", headers, body: JSON.stringify(body) });
  const made = (await (await post("/api/tokens", { name: "nightly", role: "service" })).json()) as { id: string };
  await app.request(`/api/tokens/${made.id}`, { method: "DELETE", headers });
  await app.request("/sign-in/guessed");
  await app.request(`/sign-in/${await t.pawl.access.createSignInCode({ name: "lin", role: "viewer" })}`);
  const told = lines.map(({ msg, actor }) => [msg, actor]);
  expect(told).toContainEqual(["Access token created.", "ada"]);
  expect(told).toContainEqual(["Access token revoked.", "ada"]);
  expect(told).toContainEqual(["A sign-in link was refused: it is unknown, used or expired.", undefined]);
  expect(told).toContainEqual(["Signed in.", undefined]);
  expect(JSON.stringify(lines)).not.toContain("guessed");
});
