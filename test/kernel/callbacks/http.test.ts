import { request } from "node:http";
import { job, lifecycle } from "pawl";
import { httpApp, serveHttp } from "pawl/http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { sql } from "../../../src/store/port/db.ts";
import { type TestPawl, testPawl } from "../../../src/testing/test-pawl.ts";
import { gateOf } from "../../support/gate.ts";

let token = "";
let expiresIn: string | undefined;

const essay = lifecycle("essay", {
  data: z.object({ score: z.number().optional() }),
  events: { graded: z.object({ score: z.number() }), noted: z.object({ note: z.string() }) },
  initial: "submitted",
  deadline: { within: "20m" },
  states: {
    submitted: {
      run: async (step) => {
        token = await step.callbackToken("graded", { expiresIn: expiresIn as "1h" });
      },
      on: { requested: "grading" },
    },
    grading: { on: { graded: { to: "scored", set: ({ payload }) => ({ score: payload.score }) }, noted: {} } },
    scored: { final: "success" },
  },
});

let t: TestPawl;
let app: ReturnType<typeof httpApp>;
let count = 0;
beforeAll(async () => {
  t = await testPawl({ lifecycles: [essay] });
  app = httpApp(t.pawl, { token: "a-token-for-metrics" });
});
afterAll(() => t.close());

async function grading(within?: string): Promise<{ key: string; token: string }> {
  expiresIn = within;
  const key = `e${++count}`;
  await t.pawl.start(essay, { key, data: {} });
  await t.work();
  return { key, token };
}

const json = { "content-type": "application/json" };
async function post(path: string, body: unknown, headers: Record<string, string> = {}) {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const response = await app.request(path, { method: "POST", body: text, headers: { ...json, ...headers } });
  return {
    status: response.status,
    body: (await response.json()) as Record<string, unknown>,
    headers: response.headers,
  };
}

describe("callbacks over HTTP", () => {
  test("a token in the path brings a result, and the same again gets the same answer", async () => {
    const one = await grading();
    const first = await post(`/callbacks/${one.token}`, { payload: { score: 7 } });
    expect(first).toMatchObject({ status: 200, body: { accepted: true, late: false, status: "applied" } });
    expect(await post(`/callbacks/${one.token}`, { payload: { score: 7 } })).toMatchObject({ body: first.body });
    expect(await t.pawl.get(essay, one.key)).toMatchObject({ state: "scored", data: { score: 7 } });
    expect(await t.pawl.callbacks.list({ lifecycle: essay, instance: one.key })).toMatchObject([{ source: "token" }]);
  });

  test("a token in a header does as well, with an Idempotency-Key", async () => {
    const one = await grading();
    const headers = { authorization: `Bearer ${one.token}`, "idempotency-key": "request-1" };
    expect(await post("/callbacks", { payload: { score: 6 } }, headers)).toMatchObject({ status: 200 });
    expect(await post("/callbacks", { payload: { score: 8 } }, headers)).toMatchObject({
      status: 422,
      body: { code: "idempotency_conflict" },
    });
    expect(await t.pawl.callbacks.list({ lifecycle: essay, instance: one.key })).toMatchObject([
      { dedupeKey: "request-1" },
    ]);
  });

  test("an error completes nothing, and a result that follows on it in time is another callback, which does", async () => {
    const one = await grading();
    const failed = await post(`/callbacks/${one.token}`, { error: { message: "overloaded" } });
    expect(failed).toMatchObject({ status: 200, body: { accepted: true, late: false } });
    expect(await t.pawl.get(essay, one.key)).toMatchObject({ state: "failed" });
    expect(await post(`/callbacks/${one.token}`, { payload: { score: 5 } })).toMatchObject({
      body: { status: "applied" },
    });
  });

  test("a late result is answered { accepted: true, late: true }", async () => {
    const one = await grading();
    await t.advance("20m");
    expect(await post(`/callbacks/${one.token}`, { payload: { score: 7 } })).toMatchObject({
      status: 200,
      body: { accepted: true, late: true, status: "kept" },
    });
  });

  test("a token that is forged, of another, expired or of an earlier run is refused, and nothing is stored", async () => {
    const [one, other] = [await grading(), await grading("1m")];
    const refused = { status: 401, body: { code: "token_invalid" } };
    const result = { payload: { score: 10 } };
    const last = one.token.slice(-1) === "A" ? "B" : "A";
    for (const forged of [
      "x",
      "pawlcb_x",
      `${one.token.slice(0, -1)}${last}`,
      `${one.token.slice(0, 40)}${other.token.slice(40)}`,
      one.token.slice(7),
      `pawlcb_${Buffer.alloc(48, 1).toString("base64url")}`,
    ]) {
      expect(await post(`/callbacks/${forged}`, result), forged).toMatchObject(refused);
    }
    expect(await post("/callbacks", result)).toMatchObject(refused);
    await t.advance("2m");
    expect(await post(`/callbacks/${other.token}`, result)).toMatchObject(refused);
    await t.pawl.send(essay, one.key, "restart");
    expect(await post(`/callbacks/${one.token}`, result)).toMatchObject(refused);
    expect(await t.pawl.callbacks.list({ lifecycle: essay, instance: one.key })).toEqual([]);
  });

  test("a token brings ten different callbacks at most; what was stored may come again, and another token is as good", async () => {
    const one = await grading();
    const send = (score: number) => post(`/callbacks/${one.token}`, { payload: { score } });
    expect(await send(0)).toMatchObject({ status: 200, body: { status: "applied" } });
    expect((await post(`/callbacks/${one.token}`, { payload: { score: "none" } })).status).toBe(422);
    for (let score = 1; score < 10; score++) {
      expect(await send(score)).toMatchObject({ status: 200, body: { accepted: false, status: "refused" } });
    }
    for (let score = 10; score < 13; score++) {
      expect(await send(score)).toMatchObject({ status: 409, body: { code: "token_spent" } });
    }
    expect(await send(0)).toMatchObject({ status: 200, body: { status: "applied" } });
    expect(await t.pawl.callbacks.list({ lifecycle: essay, instance: one.key })).toHaveLength(10);
    expect(await t.pawl.receive(essay, one.key, "graded", { score: 3 }, { dedupeKey: "by a call" })).toMatchObject({
      status: "refused",
    });
    const other = await grading();
    expect(await post(`/callbacks/${other.token}`, { payload: { score: 1 } })).toMatchObject({ status: 200 });
  });

  test("a token is good for its one event, and only its hash is in the database", async () => {
    const one = await grading();
    expect(await post(`/callbacks/${one.token}`, { payload: { note: "x" } })).toMatchObject({
      status: 422,
      body: { code: "payload_invalid" },
    });
    const rows = await t.db.rows<{ text: string }>(sql`select t::text as text from pawl.callback_tokens as t`);
    const secret = one.token.slice(30);
    expect(rows.some(({ text }) => text.includes(secret))).toBe(false);
    await t.advance("8d");
    await t.maintain();
    expect(await t.db.rows(sql`select id::text as id from pawl.callback_tokens`)).toEqual([]);
  });

  test("what is no callback is refused with a problem that says what to do", async () => {
    const { token: good } = await grading();
    const path = `/callbacks/${good}`;
    const bad = async (body: unknown, headers?: Record<string, string>) => (await post(path, body, headers)).status;
    expect(await bad("{")).toBe(400);
    expect(await bad("[]")).toBe(400);
    expect(await bad({ payload: {}, error: {} })).toBe(400);
    expect(await bad({ paylod: { score: 1 } })).toBe(400);
    expect(await bad({ error: { message: "" } })).toBe(400);
    expect(await bad({ payload: { score: "7" } })).toBe(422);
    expect(await bad('{"payload":{"score":1,"__proto__":{"admin":true}}}')).toBe(400);
    expect(await bad({ payload: { score: 1 } }, { "content-type": "text/plain" })).toBe(415);
    expect(await bad({ payload: { score: 1 } }, { "content-encoding": "gzip" })).toBe(415);
    expect(await bad({ payload: { score: 1, text: "x".repeat(2 ** 20) } })).toBe(413);
    expect(await bad(`{"payload":${"[".repeat(100_000)}${"]".repeat(100_000)}}`)).toBeLessThan(500);
    const { headers } = await post(path, "{");
    expect(headers.get("content-type")).toBe("application/problem+json");
    expect(headers.get("cache-control")).toBe("no-store");
    expect((await app.request(path)).status).toBe(404);
    expect(await post(path, { payload: { score: 1 } })).toMatchObject({ status: 200 });
  });
});

describe("how it is", () => {
  test("/health tells that the process lives, /ready that its database answers", async () => {
    expect((await app.request("/health")).status).toBe(200);
    expect((await app.request("/ready")).status).toBe(200);
    const other = await testPawl({ lifecycles: [essay] });
    const gone = httpApp(other.pawl);
    await other.close();
    const answer = await gone.request("/ready");
    expect(answer.status).toBe(503);
    expect(await answer.json()).not.toHaveProperty("detail");
    expect((await gone.request("/health")).status).toBe(200);
  });

  test("while a process drains, /ready says no and /health yes, its steps finish, and calls still work", async () => {
    const began = gateOf();
    const finish = gateOf();
    const slow = job("slow", {
      run: async () => {
        began.resolve();
        await finish.promise;
      },
    });
    const other = await testPawl({ lifecycles: [slow] });
    const otherApp = httpApp(other.pawl);
    other.pawl.work({ concurrency: 1 });
    const { id } = await other.pawl.enqueue(slow);
    await began.promise;
    const drained = other.pawl.drain();
    const ready = await otherApp.request("/ready");
    expect(ready.status).toBe(503);
    expect(await ready.json()).toMatchObject({ code: "draining" });
    expect((await otherApp.request("/health")).status).toBe(200);
    expect(() => other.pawl.work()).toThrow(expect.objectContaining({ code: "closed" }));
    finish.resolve();
    await drained;
    await other.pawl.drain(); // A second time does nothing.
    expect(await other.pawl.jobs.get(slow, { id })).toMatchObject({ status: "done" });
    await other.close();
  });

  test("/metrics asks for its token, and tells neither ids nor data", async () => {
    expect((await app.request("/metrics")).status).toBe(401);
    expect((await app.request("/metrics", { headers: { authorization: "Bearer wrong-token-of-mine" } })).status).toBe(
      401,
    );
    const answer = await app.request("/metrics", { headers: { authorization: "Bearer a-token-for-metrics" } });
    expect(answer.status).toBe(200);
    expect(await answer.text()).toMatch(/pawl_callbacks(?:_total)?\{lifecycle="essay",status="applied"\} \d/);
  });

  test("a server answers on this machine only, unless told otherwise and given a token", async () => {
    await expect(serveHttp(t.pawl, { port: 0, host: "0.0.0.0" })).rejects.toMatchObject({ code: "option_invalid" });
    await expect(serveHttp(t.pawl, { port: 70_000 })).rejects.toMatchObject({ code: "option_invalid" });
    const server = await serveHttp(t.pawl, { port: 0 });
    try {
      await expect(serveHttp(t.pawl, { port: server.port })).rejects.toMatchObject({ code: "option_invalid" });
      const one = await grading();
      const sent = await fetch(`${server.url}/callbacks/${one.token}`, {
        method: "POST",
        headers: json,
        body: JSON.stringify({ payload: { score: 7 } }),
      });
      expect(await sent.json()).toMatchObject({ accepted: true, late: false });
      expect(await chunked(`${server.url}/callbacks/${one.token}`, 40)).toBe(413);
    } finally {
      await server.close();
    }
    const open = await serveHttp(t.pawl, { port: 0, host: "0.0.0.0", token: "a-token-for-metrics" });
    await open.close();
  });
});

/** Sends so many pieces of 64 KiB without saying how much it will be; gives back the status. */
function chunked(url: string, pieces: number): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sending = request(url, { method: "POST", headers: json }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    sending.on("error", reject);
    for (let piece = 0; piece < pieces; piece++) sending.write("x".repeat(65_536));
    sending.end();
  });
}
