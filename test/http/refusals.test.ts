import { crowd, job, lifecycle, queue, schedule } from "pawl";
import { httpApp } from "pawl/http";
import { memoryMarketplace, type TestPawl, testPawl } from "pawl/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { errorCodes, PawlError } from "../../src/base/errors.ts";
import type { Schema } from "../../src/http/api/schema.ts";
import { problemOf } from "../../src/http/problem.ts";
import { routes } from "../../src/http/routes/routes.ts";
import { Documented } from "./documented.ts";

const essay = lifecycle("essay", {
  data: z.object({ text: z.string() }),
  events: { graded: z.object({ score: z.number() }) },
  initial: "written",
  states: { written: { forever: true, on: { graded: "scored" } }, scored: { final: "success" } },
});
const mail = job("mail", { run: () => {} });
const nightly = schedule("nightly", { cron: "30 3 * * *", timezone: "UTC", start: mail });
const pictures = queue("pictures", { label: z.object({ animal: z.enum(["cat", "dog"]) }) });
const receipts = crowd("receipts", { label: z.object({ total: z.number() }), marketplace: "here" });

let t: TestPawl;
let app: ReturnType<typeof httpApp>;
let asAdmin: ReturnType<typeof httpApp>;
let api: Documented;
beforeAll(async () => {
  t = await testPawl({
    lifecycles: [essay, mail],
    schedules: [nightly],
    queues: [pictures],
    crowds: [receipts],
    marketplaces: { here: memoryMarketplace() },
    breakers: { llm: {} },
  });
  app = httpApp(t.pawl);
  const authenticate = () => ({ name: "grace", role: "admin", labeler: null }) as const;
  asAdmin = httpApp(t.pawl, { authenticate, limits: false }); // It is asked for more than a caller may within a minute.
  api = await Documented.of(asAdmin);
  await t.pawl.start(essay, { key: "e1", data: { text: "…" } });
});
afterAll(() => t.close());

async function bearer(role: "admin" | "labeler", name: string): Promise<Record<string, string>> {
  const { secret } = await t.pawl.access.createToken({ name, role });
  return { authorization: `Bearer ${secret}`, "content-type": "application/json" };
}

const nobody = "01b8dd58-e200-7001-9beb-f7b99343f5ec";
const known: Readonly<Record<string, string>> = {
  lifecycle: "essay",
  key: "e1",
  id: nobody,
  event: "graded",
  lane: "essay",
  job: "mail",
  breaker: "llm",
  schedule: "nightly",
  queue: "pictures",
  crowd: "receipts",
  marketplace: "here",
};

/** The path of a route with what is known in it, or with what nobody knows. */
function placeOf(path: string, name?: string): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, each: string) => encodeURIComponent(name ?? known[each]!));
}

/** Values of another kind than the schema says. */
function wrongFor(schema: Schema): unknown[] {
  const kinds = [schema.type ?? []].flat();
  if (kinds.length === 0) return [];
  const all = { string: "no", number: 1.5, boolean: true, array: [true], object: { no: 1 } };
  const wrong = Object.entries(all).filter(([kind]) => !kinds.includes(kind));
  return wrong.map(([, value]) => value).concat(schema.enum === undefined ? [] : ["no such word"]);
}

describe("bad input is told, and is never a failure of ours", () => {
  test("a name that a route does not take, in its query or its body", async () => {
    for (const { method, path } of routes) {
      const asked = method === "get" ? `${placeOf(path)}?colour=red` : placeOf(path);
      const told = await api.refused(method, asked, method === "get" ? undefined : { colour: "red" });
      expect(told, `${method} ${path}`).toMatchObject({ status: 400, body: { code: "option_invalid" } });
      expect(told.body.detail).toContain("has no argument `colour`");
    }
  });

  test("what must be given and is not", async () => {
    for (const { method, path, takes, needs = [] } of routes) {
      // Who acts is known from who asks.
      for (const name of needs.filter((one) => one !== "actor")) {
        const others = needs.filter((one) => one !== name).map((one) => [one, sampleOf(takes![one]!)]);
        const told = await api.refused(
          method,
          placeOf(path),
          method === "get" ? undefined : Object.fromEntries(others),
        );
        const detail = `${method.toUpperCase()} /api${path} needs \`${name}\`.`;
        expect(told, `${method} ${path}`).toMatchObject({ status: 400, body: { detail } });
      }
    }
  });

  test("what is of the wrong kind, in the body", async () => {
    for (const { method, path, takes = {} } of routes) {
      if (method === "get") continue;
      for (const [name, schema] of Object.entries(takes)) {
        for (const wrong of wrongFor(schema)) {
          const told = await api.refused(method, placeOf(path), { [name]: wrong });
          expect(told.status, `${method} ${path} ${name} ${JSON.stringify(wrong)}`).toBe(400);
          expect(told.body.detail).toContain(`\`${name}\``);
        }
      }
    }
  });

  test("what is of the wrong kind, in the query", async () => {
    for (const { method, path, takes = {} } of routes) {
      if (method !== "get") continue;
      for (const [name, schema] of Object.entries(takes)) {
        const kind = schema.items ?? schema;
        if (kind.type === "string" && kind.enum === undefined && kind.format === undefined) continue;
        const asked = `${placeOf(path)}?${name}=n%20o`;
        const told = await api.refused(method, asked);
        expect([400, 404], `${asked}: ${JSON.stringify(told)}`).toContain(told.status);
      }
      const [[once] = []] = Object.entries(takes).filter(([, schema]) => schema.type !== "array");
      if (once === undefined) continue;
      const twice = await api.refused(method, `${placeOf(path)}?${once}=1&${once}=2`);
      expect(twice, path).toMatchObject({ status: 400, body: { detail: `\`${once}\` is given more than once.` } });
    }
  });

  test("what is in a path and is not known, or cannot be", async () => {
    for (const { method, path, takes, needs = [] } of routes) {
      if (!path.includes("{")) continue;
      const body = Object.fromEntries(needs.map((one) => [one, sampleOf(takes![one]!)]));
      const query = new URLSearchParams(body as Record<string, string>).toString();
      for (const name of ["no one", "\u0000", "%", "ü".repeat(2_000), "__proto__"]) {
        const asked = method === "get" ? `${placeOf(path, name)}?${query}` : placeOf(path, name);
        const response = await asAdmin.request(`/api${asked}`, {
          method: method.toUpperCase(),
          headers: { "content-type": "application/json" },
          ...(method === "get" ? {} : { body: JSON.stringify(body) }),
        });
        const told = await response.text();
        expect(response.status, `${method} ${asked}: ${told}`).toBeLessThan(500);
        if (name === "\u0000") expect(response.status, `${method} ${asked}: ${told}`).toBeGreaterThanOrEqual(400);
      }
    }
  });

  function sampleOf(schema: Schema): unknown {
    if (schema.enum !== undefined) return schema.enum[0];
    return { object: {}, array: [], boolean: true, integer: 1, number: 1 }[String(schema.type)] ?? "text";
  }
});

describe("the door", () => {
  test("a path that knows another method says which", async () => {
    const response = await app.request("/api/dead-letters/preview", { method: "DELETE" });
    expect([response.status, response.headers.get("allow")]).toEqual([405, "POST"]);
    expect(await response.json()).toMatchObject({ code: "method_not_allowed", detail: "Send POST." });
    const lists = await app.request("/api/queues", { method: "PUT" });
    expect(lists.headers.get("allow")).toBe("GET, POST, HEAD");
    const session = await app.request("/api/session", { method: "PUT" });
    expect(session.headers.get("allow")).toBe("GET, POST, DELETE, HEAD");
    expect((await app.request("/api/nowhere")).status).toBe(404);
  });

  test("whoever asks for the headers alone gets them", async () => {
    const response = await app.request("/api/lifecycles", { method: "HEAD", headers: await bearer("admin", "h") });
    expect([response.status, await response.text()]).toEqual([200, ""]);
    expect((await app.request("/api/lifecycles", { method: "HEAD" })).status).toBe(401);
  });

  test("whoever waits in vain is told how it stands, and whoever goes away is no failure", async () => {
    const place = "/lifecycles/essay/keys/e1/wait?until=scored";
    expect(await api.refused("get", `${place}&timeout=1ms`)).toMatchObject({
      status: 504,
      body: { code: "wait_timeout", detail: expect.stringContaining("it is in `written`") },
    });
    const gone = new AbortController();
    const waiting = asAdmin.request(`/api${place}`, { signal: gone.signal });
    gone.abort();
    expect((await waiting).status).toBe(503);
  });

  test("a body that is no JSON object, or too large, or a form", async () => {
    const place = "/lifecycles/essay/instances";
    for (const body of ["{", "[]", '"text"', '{"data":{"__proto__":{}}}'])
      expect(await api.refused("post", place, body)).toMatchObject({ status: 400 });
    const large = JSON.stringify({ data: { text: "x".repeat(1024 * 1024) } });
    expect(await api.refused("post", place, large)).toMatchObject({ status: 413 });
    const form = { ...(await bearer("admin", "f")), "content-type": "application/x-www-form-urlencoded" };
    const sent = await app.request(`/api${place}`, { method: "POST", headers: form, body: "key=1" });
    expect([sent.status, await sent.json()]).toMatchObject([415, { code: "media_unsupported" }]);
  });

  test("every error that a caller can mend has a status of its own kind, and says what it is", () => {
    for (const [code, who] of Object.entries(errorCodes)) {
      const told = problemOf(new PawlError(code as keyof typeof errorCodes, "What is wrong."));
      expect(told.title, code).not.toBe("");
      if (who === "request") expect(told, code).toMatchObject({ code, detail: "What is wrong." });
      const isCallers = told.status >= 400 && told.status < 500;
      // A definition that comes over HTTP, such as that of a queue, is the caller's.
      expect(isCallers, code).toBe(who === "request" || code === "definition_invalid");
      if (who === "request" && code.endsWith("_unknown")) expect(told.status, code).toBe(404);
    }
  });
});

describe("what is repeated with the same key happens once", () => {
  test("an event, by the header", async () => {
    const headers = { ...(await bearer("admin", "i")), "idempotency-key": "k-1" };
    const send = (body: string) =>
      app.request("/api/lifecycles/essay/keys/e1/events/graded", { method: "POST", headers, body });
    const first = await send('{"payload":{"score":7}}');
    const again = await send('{"payload":{"score":7}}');
    expect([first.status, again.status]).toEqual([200, 200]);
    expect(await again.json()).toEqual(await first.json());
    const other = await send('{"payload":{"score":8}}');
    expect([other.status, await other.json()]).toMatchObject([422, { code: "idempotency_conflict" }]);
  });

  test("a callback, whose header says what tells it from others", async () => {
    await t.pawl.start(essay, { key: "e2", data: { text: "…" } });
    const headers = { ...(await bearer("admin", "c")), "idempotency-key": "request-1" };
    const bring = async () => {
      const place = "/api/lifecycles/essay/keys/e2/callbacks/graded";
      const response = await app.request(place, { method: "POST", headers, body: '{"payload":{"score":7}}' });
      return response.json();
    };
    expect([await bring(), await bring()]).toMatchObject([{ duplicate: false }, { duplicate: true }]);
    expect(await t.pawl.callbacks.list()).toMatchObject([{ dedupeKey: "request-1" }]);
  });
});

describe("a labeler", () => {
  test("hears only of what was given to him", async () => {
    await t.pawl.people.add(pictures, { key: "one", data: { url: "1.png" } });
    const { assignment } = await t.pawl.people.next(pictures, "ben");
    const ask = async (name: string, method: string, path: string, body?: unknown) => {
      const headers = await bearer("labeler", name);
      const sent = body === undefined ? {} : { body: JSON.stringify(body) };
      const response = await app.request(`/api/assignments/${assignment!.id}${path}`, { method, headers, ...sent });
      return { status: response.status, body: (await response.json()) as Record<string, unknown> };
    };
    expect(await ask("ben", "GET", "")).toMatchObject({ status: 200, body: { labelerId: "ben" } });
    const stranger = { status: 404, body: { code: "assignment_unknown" } };
    expect(await ask("cem", "GET", "")).toMatchObject(stranger);
    expect(await ask("cem", "GET", "?labeler=ben")).toMatchObject({ status: 400 });
    expect(await ask("cem", "POST", "/start")).toMatchObject(stranger);
    expect(await ask("ben", "POST", "/start")).toMatchObject({ status: 200 });
    expect(await ask("cem", "POST", "/submit", { label: { animal: "cat" } })).toMatchObject(stranger);
    expect(await ask("cem", "POST", "/skip")).toMatchObject(stranger);
    expect(await ask("cem", "POST", "/extend")).toMatchObject(stranger);
    expect(await ask("cem", "POST", "/start", { labeler: "ben" })).toMatchObject({ status: 403 });
    expect(await ask("cem", "POST", "/release", { reason: "mine" })).toMatchObject({ status: 403 });
    expect(await ask("ben", "POST", "/submit", { label: { animal: "cat" } })).toMatchObject({ status: 200 });
  });

  test("is whom the application knows him as, where it says nothing else", async () => {
    const own = httpApp(t.pawl, { authenticate: () => ({ name: "eva", role: "labeler", labeler: null }) });
    await t.pawl.people.add(pictures, { key: "three", data: { url: "3.png" } });
    const given = await own.request("/api/queues/pictures/next", { method: "POST" });
    expect(await given.json()).toMatchObject({ assignment: { labelerId: "eva" } });
  });

  test("an admin sees every assignment, and labels for whom he names", async () => {
    await t.pawl.people.add(pictures, { key: "two", data: { url: "2.png" } });
    const { assignment } = await t.pawl.people.next(pictures, "dan");
    expect(await api.get(`/assignments/${assignment!.id}`)).toMatchObject({ labelerId: "dan" });
    expect(await api.refused("post", `/assignments/${assignment!.id}/start`, { labeler: "ben" })).toMatchObject({
      status: 403,
      body: { code: "not_the_assignee" },
    });
    expect(await api.post(`/assignments/${assignment!.id}/start`, { labeler: "dan" })).toMatchObject({
      status: "in_progress",
    });
  });
});
