import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { lifecycle } from "pawl";
import { httpApp, serveHttp } from "pawl/http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { AppOptions } from "../../src/http/app.ts";
import { type TestPawl, testPawl } from "../../src/testing/test-pawl.ts";

const parcel = lifecycle("parcel", {
  initial: "packed",
  states: { packed: { forever: true, on: { sent: "away" } }, away: { final: "success" } },
});

let t: TestPawl;
let secret: string;
let headers: Record<string, string>;
beforeAll(async () => {
  t = await testPawl({ lifecycles: [parcel] });
  ({ secret } = await t.pawl.access.createToken({ name: "ada", role: "viewer" }));
  headers = { authorization: `Bearer ${secret}` };
});
afterAll(() => t.close());

const config = "of-the-secret-store-".repeat(2);

async function other(name: string): Promise<Record<string, string>> {
  const made = await t.pawl.access.createToken({ name, role: "viewer" });
  return { authorization: `Bearer ${made.secret}` };
}

describe("one caller", () => {
  test("who sends too many requests is answered 429 with when to try again, and others are served", async () => {
    const app = httpApp(t.pawl, { limits: { requestsPerSecond: 1 } });
    const answers = await Promise.all(
      Array.from({ length: 7 }, async () => app.request("/api/lifecycles", { headers })),
    );
    const refused = answers.filter(({ status }) => status === 429);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 200, 429, 429]);
    expect(refused[0]!.headers.get("retry-after")).toBe("1");
    expect(await refused[0]!.json()).toMatchObject({
      code: "rate_limited",
      details: { retryAfterMs: expect.any(Number) },
    });
    expect((await app.request("/api/lifecycles", { headers: await other("bob") })).status).toBe(200);
  });

  test("requests beyond its turns wait for one, and only a crowd of them is refused", async () => {
    const app = httpApp(t.pawl, { limits: { concurrency: 1 } });
    const answers = await Promise.all(
      Array.from({ length: 20 }, async () => app.request("/api/lifecycles", { headers })),
    );
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(9);
    expect(statuses.filter((status) => status === 429)).toHaveLength(11);
    // Turns are returned, also those of requests that were refused.
    expect((await app.request("/api/instances/nonsense", { headers })).status).toBe(404);
    expect((await app.request("/api/lifecycles", { headers })).status).toBe(200);
  });

  test("gets its turn back after a body of unknown length, which is read through another request", async () => {
    const app = httpApp(t.pawl, { limits: { concurrency: 1 } });
    const { secret: service } = await t.pawl.access.createToken({ name: "sender", role: "service" });
    const start = async () =>
      app.request("/api/lifecycles/parcel/instances", {
        method: "POST",
        headers: { authorization: `Bearer ${service}`, "content-type": "application/json" },
        body: new Blob(["{}"]).stream(),
        duplex: "half",
      } as RequestInit);
    for (let time = 0; time < 3; time++) expect((await start()).status).toBe(200);
  });

  test("holds so many live streams at most, and one that ended counts no more", async () => {
    const app = httpApp(t.pawl, { limits: { streams: 2 } });
    const [first, second] = await Promise.all([1, 2].map(async () => app.request("/api/live", { headers })));
    expect([first!.status, second!.status]).toEqual([200, 200]);
    const refused = await app.request("/api/live", { headers });
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "5"]);
    const its = await app.request("/api/live", { headers: await other("carla") });
    expect(its.status).toBe(200);
    await first!.body!.cancel();
    const third = await app.request("/api/live", { headers });
    expect(third.status).toBe(200);
    await Promise.all([second, its, third].map((one) => one!.body!.cancel()));
  });

  test("adds a thousand samples a request at most", async () => {
    const app = httpApp(t.pawl);
    await t.pawl.people.createQueue("pictures", { label: { type: "object" } });
    const { secret: service } = await t.pawl.access.createToken({ name: "importer", role: "service" });
    const add = async (count: number) => {
      const response = await app.request("/api/queues/pictures/samples", {
        method: "POST",
        headers: { authorization: `Bearer ${service}`, "content-type": "application/json" },
        body: JSON.stringify({ samples: Array.from({ length: count }, (_, n) => ({ key: `s${n}`, data: n })) }),
      });
      return [response.status, await response.json()] as const;
    };
    expect(await add(1_001)).toMatchObject([
      400,
      {
        code: "option_invalid",
        detail: "`samples` has 1001 items; the maximum is 1000. Send the rest in another request.",
      },
    ]);
    expect(await t.pawl.people.samples("pictures")).toEqual([]);
    const [status, added] = await add(1_000);
    expect([status, (added as unknown[]).length]).toEqual([200, 1_000]);
  });

  test("waits for instances only so often at a time, and a wait blocks none of its other requests", async () => {
    const app = httpApp(t.pawl, { limits: { streams: 1, concurrency: 1 } });
    const { id } = await t.pawl.start(parcel, {});
    const waiting = app.request(`/api/instances/${id}/wait?until=away&timeout=30s`, { headers });
    expect((await app.request("/api/lifecycles", { headers })).status).toBe(200);
    await t.pawl.send(parcel, { id }, "sent");
    expect((await waiting).status).toBe(200);
  });
});

describe("one address", () => {
  test("cannot guess tokens, sessions, links or callbacks for long, and nothing is looked up for it any more", async () => {
    const guesses: Record<string, [string, RequestInit]> = {
      token: ["/api/lifecycles", { headers: { authorization: "Bearer pawl_guessed" } }],
      session: ["/api/lifecycles", { headers: { cookie: "pawl_session=guessed" } }],
      link: ["/sign-in/guessed", {}],
      "sign-in": [
        "/api/session",
        { method: "POST", headers: { "content-type": "application/json" }, body: '{"token":"guessed"}' },
      ],
      callback: ["/callbacks/guessed", { method: "POST", headers: { "content-type": "application/json" }, body: "{}" }],
    };
    for (const [kind, [path, init]] of Object.entries(guesses)) {
      const app = httpApp(t.pawl, { limits: { failedSignInsPerMinute: 3 } });
      for (let time = 0; time < 3; time++) expect([kind, (await app.request(path, init)).status]).not.toContain(429);
      const refused = await app.request(path, init);
      expect([kind, refused.status, refused.headers.get("retry-after")]).toEqual([kind, 429, "20"]);
      expect((await app.request("/api/lifecycles", { headers })).status).toBe(429);
    }
  });

  test("is only told to sign in when it sends no secret at all, however often, nor by cookies of other programs", async () => {
    const app = httpApp(t.pawl, { limits: { failedSignInsPerMinute: 1 } });
    for (const sent of [undefined, { cookie: "analytics=1; other_session=guessed" }])
      for (let time = 0; time < 5; time++)
        expect((await app.request("/api/lifecycles", sent && { headers: sent })).status).toBe(401);
    expect((await app.request("/api/lifecycles", { headers })).status).toBe(200);
  });

  /** An application that knows one user, behind a proxy that a guesser uses, too. */
  function guessedAt(options: AppOptions = {}) {
    const app = httpApp(t.pawl, { limits: { failedSignInsPerMinute: 3 }, ...options });
    const guess = async (path = "/api/lifecycles") =>
      (await app.request(path, { headers: { authorization: `Bearer pawl_${"guessed".repeat(6)}` } })).status;
    return {
      app,
      guess,
      exhaust: async () => expect([await guess(), await guess(), await guess()]).toEqual([401, 401, 401]),
    };
  }

  test("keeps out only unknown secrets: tokens and sessions that were valid before pass", async () => {
    const { app, guess, exhaust } = guessedAt({ token: config });
    const statusOf = async (sent: Record<string, string>, path = "/api/session") =>
      (await app.request(path, { headers: sent })).status;
    const signedIn = await app.request("/api/session", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ token: secret }),
    });
    const session = { cookie: signedIn.headers.get("set-cookie")!.split(";")[0]! };
    const valid = [session, headers, { authorization: `Bearer ${config}` }];
    for (const sent of valid) expect(await statusOf(sent)).toBe(200);
    const shortLived = await t.pawl.access.createToken({ name: "gone", role: "viewer" });
    const revoked = { authorization: `Bearer ${shortLived.secret}` };
    expect(await statusOf(revoked)).toBe(200);
    await exhaust();
    for (let time = 0; time < 5; time++) {
      expect(await guess()).toBe(429);
      for (const sent of valid) expect(await statusOf(sent)).toBe(200);
    }
    expect(await statusOf({ authorization: `Bearer ${config}` }, "/metrics")).toBe(200);
    expect(await guess("/metrics")).toBe(429);
    // A secret is unknown from when it is found to be revoked.
    await t.pawl.access.revokeToken(shortLived.id);
    expect([await statusOf(revoked), await statusOf(revoked)]).toEqual([401, 429]);
    // What was not valid yet, in this process, waits like a guess.
    expect(await statusOf(await other("new"))).toBe(429);
    expect(await statusOf({ cookie: `${session.cookie}x` })).toBe(429);
  });

  test("keeps out no user whom the application knows", async () => {
    const { app, guess, exhaust } = guessedAt({
      authenticate: (request) =>
        request.headers.get("x-user") === "ada" ? { name: "ada", role: "viewer", labeler: null } : undefined,
    });
    await exhaust();
    for (let time = 0; time < 5; time++) {
      expect(await guess()).toBe(429);
      expect((await app.request("/api/lifecycles", { headers: { "x-user": "ada" } })).status).toBe(200);
    }
  });

  test("cannot guess a short token of the config at length, though its owner uses it", async () => {
    const { app, exhaust } = guessedAt({ token: "hunter2" });
    const own = { authorization: "Bearer hunter2" };
    expect((await app.request("/api/lifecycles", { headers: own })).status).toBe(200);
    await exhaust();
    expect((await app.request("/api/lifecycles", { headers: own })).status).toBe(429);
    expect((await app.request("/metrics", { headers: own })).status).toBe(429);
  });

  test("makes no wrong callback token known by a request that is refused before it is looked up", async () => {
    const { app, exhaust } = guessedAt();
    await exhaust();
    const path = `/callbacks/pawl_${"guessed".repeat(6)}`;
    const send = async (type: string) =>
      (await app.request(path, { method: "POST", headers: { "content-type": type }, body: "{}" })).status;
    expect([await send("text/plain"), await send("application/json")]).toEqual([415, 429]);
  });

  test("cannot hold all connections: what it opens beyond its share is closed", async () => {
    await using server = await served({ connectionsPerAddress: 3 });
    const sockets = await Promise.all(Array.from({ length: 3 }, () => open(server.port)));
    const fourth = connect(server.port, "127.0.0.1");
    fourth.on("error", () => {});
    await once(fourth, "close");
    sockets[0]!.destroy();
    await expect.poll(async () => (await fetch(`${server.url}/health`).catch(() => undefined))?.status).toBe(200);
    for (const socket of sockets) socket.destroy();
  });
});

test("a server looks for clients that are too slow every second, not when their time is long over", async () => {
  await using server = await served({});
  const socket = await open(server.port);
  const since = performance.now();
  socket.write("GET /health HTTP/1.1\r\nx-slow: ");
  socket.resume();
  await once(socket, "close");
  // Not a promise about speed: Node's own interval would find it only after half a minute.
  expect(performance.now() - since).toBeLessThan(25_000);
});

test.each([
  [{ limits: { streems: 1 } }, "Unknown option `streems` for `http.limits`. Did you mean `streams`?"],
  [{ limits: { streams: 0 } }, "at least 1"],
  [{ limits: { concurrency: "many" } }, "at least 1"],
])("bad limits are refused before anything listens", async (options, message) => {
  await expect(serveHttp(t.pawl, { port: 0, ...(options as object) })).rejects.toMatchObject({
    code: "option_invalid",
    message: expect.stringContaining(message),
  });
});

async function served(limits: object) {
  const server = await serveHttp(t.pawl, { port: 0, limits });
  return { ...server, [Symbol.asyncDispose]: () => server.close() };
}

async function open(port: number): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => {});
  await once(socket, "connect");
  return socket;
}
