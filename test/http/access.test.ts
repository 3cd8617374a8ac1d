import { lifecycle } from "pawl";
import { httpApp } from "pawl/http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { type TestPawl, testPawl } from "../../src/testing/test-pawl.ts";

const parcel = lifecycle("parcel", {
  data: z.object({ weight: z.number() }),
  initial: "packed",
  states: { packed: { forever: true, on: { sent: "away" } }, away: { final: "success" } },
});

let t: TestPawl;
let app: ReturnType<typeof httpApp>;
beforeAll(async () => {
  t = await testPawl({ lifecycles: [parcel] });
  app = httpApp(t.pawl);
});
afterAll(() => t.close());

type Role = Parameters<TestPawl["pawl"]["access"]["createToken"]>[0]["role"];

async function bearer(role: Role, name: string = role): Promise<Record<string, string>> {
  const { secret } = await t.pawl.access.createToken({ name, role });
  return { authorization: `Bearer ${secret}`, "content-type": "application/json" };
}

async function ask(path: string, init: RequestInit = {}): Promise<{ status: number; body: unknown }> {
  const response = await app.request(path, init);
  return { status: response.status, body: await response.json() };
}

describe("who may come in", () => {
  test("a stranger is told how to come in, and nothing else", async () => {
    const refused = { status: 401, body: { code: "token_invalid", detail: expect.stringContaining("Bearer") } };
    expect(await ask("/api/lifecycles")).toMatchObject(refused);
    expect(await ask("/api/lifecycles", { headers: { authorization: "Bearer pawl_guessed" } })).toMatchObject({
      status: 401,
      body: { detail: expect.stringContaining("unknown, revoked") },
    });
  });

  test("a role may do what it says, and nothing else", async () => {
    const start = (headers: Record<string, string>) =>
      ask("/api/lifecycles/parcel/instances", { method: "POST", headers, body: '{"data":{"weight":2}}' });
    expect(await start(await bearer("viewer"))).toMatchObject({ status: 403, body: { code: "not_allowed" } });
    expect(await start(await bearer("labeler"))).toMatchObject({ status: 403 });
    expect(await start(await bearer("service"))).toMatchObject({ status: 200, body: { state: "packed" } });
  });

  test("a service sends events, and leaves to operators what decides about a failure", async () => {
    const send = async (role: Role, key: string, event: string) => {
      const path = `/api/lifecycles/parcel/keys/${key}/events/${event}`;
      return ask(path, { method: "POST", headers: await bearer(role), body: "{}" });
    };
    for (const key of ["s1", "s2"]) await t.pawl.start(parcel, { key, data: { weight: 1 } });
    const { id } = (await t.pawl.get(parcel, "s1"))!;
    for (const event of ["recover", "restart", "discard", "fail"]) {
      const refused = { status: 403, body: { code: "not_allowed", detail: expect.stringContaining("operate") } };
      expect(await send("service", "s1", event), event).toMatchObject(refused);
      const byId = { method: "POST", headers: await bearer("service"), body: "{}" };
      expect(await ask(`/api/instances/${id}/events/${event}`, byId), event).toMatchObject(refused);
    }
    expect(await t.pawl.get(parcel, "s1")).toMatchObject({ state: "packed", version: 1 });
    expect(await send("service", "s1", "sent")).toMatchObject({ status: 200, body: { state: "away" } });
    for (const [event, state] of [
      ["fail", "failed"],
      ["recover", "packed"],
      ["discard", "discarded"],
    ])
      expect(await send("operator", "s2", event!)).toMatchObject({ status: 200, body: { state } });
  });

  test("what is done stands in the journal under the name of whoever did it; only who speaks for others names another", async () => {
    const start = async (role: Role, key: string, actor?: string) =>
      ask("/api/lifecycles/parcel/instances", {
        method: "POST",
        headers: await bearer(role, "grace"),
        body: JSON.stringify({ key, data: { weight: 1 }, ...(actor === undefined ? {} : { actor }) }),
      });
    await start("operator", "mine");
    expect(await t.pawl.journal(parcel, "mine")).toMatchObject([{ actor: "grace" }]);
    expect(await start("operator", "no", "ada")).toMatchObject({ status: 403, body: { code: "not_allowed" } });
    await start("service", "for-ada", "ada");
    expect(await t.pawl.journal(parcel, "for-ada")).toMatchObject([{ actor: "ada" }]);
  });

  test("a token that was taken back counts no more, and one with a time only until then", async () => {
    const { id, secret } = await t.pawl.access.createToken({ name: "short", role: "viewer", expiresIn: "1h" });
    const headers = { authorization: `Bearer ${secret}` };
    expect(await ask("/api/lifecycles", { headers })).toMatchObject({ status: 200 });
    const other = await t.pawl.access.createToken({ name: "short", role: "viewer", expiresIn: "1h" });
    await t.pawl.access.revokeToken(id);
    expect(await ask("/api/lifecycles", { headers })).toMatchObject({ status: 401 });
    await t.advance("1h");
    expect(await t.pawl.access.authenticateToken(other.secret)).toBeUndefined();
    await expect(t.pawl.access.revokeToken("nobody")).rejects.toMatchObject({ code: "token_unknown" });
  });
});

describe("who gives out tokens", () => {
  test("an admin makes, lists and revokes them, and links that sign in; nobody else does", async () => {
    const admin = await bearer("admin");
    const make = (headers: Record<string, string>) =>
      ask("/api/tokens", { method: "POST", headers, body: '{"name":"nightly","role":"service","expiresIn":"30d"}' });
    expect(await make(await bearer("operator"))).toMatchObject({ status: 403, body: { code: "not_allowed" } });
    const made = await make(admin);
    const { id, secret } = made.body as { id: string; secret: string };
    expect(await t.pawl.access.authenticateToken(secret)).toEqual({ name: "nightly", role: "service", labeler: null });
    const listed = await ask("/api/tokens", { headers: admin });
    expect(listed.body).toContainEqual(expect.objectContaining({ id, name: "nightly", role: "service" }));
    expect(JSON.stringify(listed.body)).not.toContain("pawl_");
    const revoke = () => ask(`/api/tokens/${id}`, { method: "DELETE", headers: admin });
    expect(await revoke()).toEqual({ status: 200, body: null });
    expect(await revoke()).toMatchObject({ status: 404, body: { code: "token_unknown" } });
    const link = await ask("/api/sign-in-codes", {
      method: "POST",
      headers: admin,
      body: '{"name":"ada","role":"viewer"}',
    });
    const { path } = link.body as { path: string };
    expect((await app.request(path)).headers.get("set-cookie")).toMatch(/^pawl_session=/);
  });
});

describe("a session in a browser", () => {
  async function visit(link: string): Promise<{ status: number; to: string | null; cookie: string }> {
    const response = await app.request(link);
    const cookie = response.headers.get("set-cookie") ?? "";
    return { status: response.status, to: response.headers.get("location"), cookie: cookie.split(";")[0]! };
  }

  test("a link signs in once", async () => {
    const code = await t.pawl.access.createSignInCode({ name: "ada", role: "operator" });
    const first = await visit(`/sign-in/${code}`);
    expect(first).toMatchObject({ status: 303, to: "/", cookie: expect.stringMatching(/^pawl_session=/) });
    expect(await ask("/api/session", { headers: { cookie: first.cookie } })).toEqual({
      status: 200,
      body: { name: "ada", role: "operator", labeler: null, may: ["read", "send", "operate"] },
    });
    expect(await visit(`/sign-in/${code}`)).toEqual({ status: 303, to: "/sign-in?spent", cookie: "" });
  });

  test("a link takes no token, which would stay in histories and logs", async () => {
    const { secret } = await t.pawl.access.createToken({ name: "ada", role: "admin" });
    expect(await visit(`/sign-in/${secret}`)).toEqual({ status: 303, to: "/sign-in?spent", cookie: "" });
  });

  test("asking for the headers of a link does not spend it", async () => {
    const code = await t.pawl.access.createSignInCode({ name: "ada", role: "operator" });
    expect((await app.request(`/sign-in/${code}`, { method: "HEAD" })).status).toBe(204);
    expect(await visit(`/sign-in/${code}`)).toMatchObject({ to: "/", cookie: expect.stringMatching(/^pawl_session=/) });
  });

  test("its cookie is bound to the host over HTTPS, and to the port without", async () => {
    const signIn = async (origin: string, headers: Record<string, string> = {}) => {
      const code = await t.pawl.access.createSignInCode({ name: "ada", role: "operator" });
      const response = await app.request(`${origin}/sign-in/${code}`, { headers });
      const cookie = response.headers.get("set-cookie")!;
      const again = await app.request(`${origin}/api/session`, {
        headers: { ...headers, cookie: cookie.split(";")[0]! },
      });
      expect(again.status).toBe(200);
      return cookie;
    };
    expect(await signIn("https://pawl.example")).toMatch(/^__Host-pawl_session=[^;]+; Path=\/; HttpOnly; Secure/);
    expect(await signIn("http://127.0.0.1:7295", { "x-forwarded-proto": "https" })).toMatch(/^__Host-pawl_session=/);
    expect(await signIn("http://127.0.0.1:7295")).toMatch(/^pawl_session_7295=/);
  });

  test("another site cannot act in its name, and it ends when its token is taken back", async () => {
    const token = await t.pawl.access.createToken({ name: "grace", role: "admin" });
    const headers = { "content-type": "application/json" };
    const signedIn = await app.request("/api/session", {
      method: "POST",
      headers,
      body: JSON.stringify({ token: token.secret }),
    });
    expect(signedIn.headers.get("set-cookie")).toMatch(/HttpOnly; SameSite=Lax/);
    const cookie = signedIn.headers.get("set-cookie")!.split(";")[0]!;
    const start = (more: Record<string, string>) =>
      ask("/api/lifecycles/parcel/instances", {
        method: "POST",
        headers: { ...headers, cookie, ...more },
        body: '{"data":{"weight":3}}',
      });
    expect(await start({ "sec-fetch-site": "cross-site" })).toMatchObject({ status: 403 });
    expect(await start({ origin: "https://elsewhere.example" })).toMatchObject({ status: 403 });
    expect(await start({})).toMatchObject({ status: 403 });
    expect(await start({ "sec-fetch-site": "same-origin" })).toMatchObject({ status: 200 });
    await t.pawl.access.revokeToken(token.id);
    expect(await ask("/api/session", { headers: { cookie } })).toMatchObject({ status: 401 });
  });

  test("another site cannot act for whoever the application knows, either", async () => {
    const authenticate = (request: Request) =>
      request.headers.get("cookie") === "host=1" || request.headers.get("x-api-key") === "k"
        ? ({ name: "ada", role: "admin", labeler: null } as const)
        : undefined;
    const hosted = httpApp(t.pawl, { authenticate });
    const start = async (headers: Record<string, string>, method = "POST") =>
      (await hosted.request("/api/lifecycles/parcel/keys/hosted/events/sent", { method, headers })).status;
    const cookie = "host=1";
    await t.pawl.start(parcel, { key: "hosted", data: { weight: 1 } });
    expect(await start({ cookie, "sec-fetch-site": "cross-site" })).toBe(403);
    expect(await start({ cookie, "sec-fetch-site": "same-site" })).toBe(403);
    expect(await start({ cookie, origin: "https://elsewhere.example" })).toBe(403);
    expect(await start({ cookie, origin: "null" })).toBe(403);
    expect(await start({ cookie })).toBe(403);
    expect(await start({ "x-api-key": "k", origin: "https://elsewhere.example" })).toBe(403);
    expect((await hosted.request("/api/session", { method: "DELETE", headers: { cookie } })).status).toBe(403);
    expect(await t.pawl.get(parcel, "hosted")).toMatchObject({ state: "packed" });
    expect((await hosted.request("/api/overview", { headers: { cookie } })).status).toBe(200);
    expect(await start({ cookie, origin: "http://localhost" })).toBe(200);
    // A program that the application knows by a header of its own sends neither a cookie nor an origin.
    expect(await start({ "x-api-key": "k" })).toBe(409);
    expect(await start({ cookie, "sec-fetch-site": "same-origin" })).toBe(409);
  });

  test("a session that a link opened is listed, and ends when it is revoked", async () => {
    const admin = await bearer("admin");
    const { cookie } = await visit(
      `/sign-in/${await t.pawl.access.createSignInCode({ name: "ines", role: "viewer" })}`,
    );
    const listed = (await ask("/api/sessions", { headers: admin })).body as { id: string; name: string }[];
    const own = listed.find(({ name }) => name === "ines")!;
    expect(own).toMatchObject({ role: "viewer", token: null, usedAt: null, expiresAt: expect.stringMatching(/Z$/) });
    expect(JSON.stringify(listed)).not.toContain("pawl_");
    expect(await ask("/api/sessions", { headers: await bearer("operator") })).toMatchObject({ status: 403 });
    const revoke = () => ask(`/api/sessions/${own.id}`, { method: "DELETE", headers: admin });
    expect(await revoke()).toEqual({ status: 200, body: null });
    expect(await ask("/api/session", { headers: { cookie } })).toMatchObject({ status: 401 });
    expect(await revoke()).toMatchObject({ status: 404, body: { code: "token_unknown" } });
    expect((await t.pawl.access.sessions()).some(({ id }) => id === own.id)).toBe(false);
  });

  test("a new sign-in ends the session before it: that of the browser, and that of an earlier link for the same name", async () => {
    const signedIn = async (cookie: string) => (await ask("/api/session", { headers: { cookie } })).status === 200;
    const link = async (name: string, role: Role = "viewer") =>
      `/sign-in/${await t.pawl.access.createSignInCode({ name, role })}`;
    const laptop = await visit(await link("kim"));
    const other = await visit(await link("sam"));
    const admin = await visit(await link("kim", "admin"));
    const phone = await visit(await link("kim"));
    expect(await Promise.all([laptop, other, admin, phone].map(({ cookie }) => signedIn(cookie)))).toEqual([
      false, // The same person, by an earlier link.
      true,
      true, // Another role is another sign-in.
      true,
    ]);
    const token = await t.pawl.access.createToken({ name: "team", role: "operator" });
    const post = async (cookie = "") => {
      const body = JSON.stringify({ token: token.secret });
      const headers = { "content-type": "application/json", cookie };
      const response = await app.request("/api/session", { method: "POST", headers, body });
      return response.headers.get("set-cookie")!.split(";")[0]!;
    };
    const [first, second] = [await post(), await post()];
    expect([await signedIn(first), await signedIn(second)]).toEqual([true, true]); // Two who share a token.
    const anew = await post(first);
    expect([await signedIn(first), await signedIn(second), await signedIn(anew)]).toEqual([false, true, true]);
    expect(await t.pawl.access.sessions()).toContainEqual(expect.objectContaining({ name: "team", token: token.id }));
  });

  test("signing out ends it", async () => {
    const { cookie } = await visit(
      `/sign-in/${await t.pawl.access.createSignInCode({ name: "linus", role: "viewer" })}`,
    );
    const own = { cookie, "sec-fetch-site": "same-origin" };
    expect(await ask("/api/session", { method: "DELETE", headers: own })).toMatchObject({ status: 200 });
    expect(await ask("/api/session", { headers: { cookie } })).toMatchObject({ status: 401 });
  });
});
