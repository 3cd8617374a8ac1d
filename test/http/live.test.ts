import { once } from "node:events";
import { connect } from "node:net";
import { lifecycle } from "pawl";
import { httpApp, serveHttp } from "pawl/http";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { kernelOf } from "../../src/kernel/kernel-of.ts";
import { type TestPawl, testPawl } from "../../src/testing/test-pawl.ts";

const parcel = lifecycle("parcel", {
  data: z.object({ weight: z.number() }),
  initial: "packed",
  states: {
    packed: { forever: true, on: { sent: "away", lost: "gone", weigh: "weighing" } },
    weighing: { run: (step) => step.go("sent"), on: { sent: "away" } },
    away: { final: "success" },
    gone: { final: "failure" },
  },
});

let t: TestPawl;
let headers: Record<string, string>;
beforeAll(async () => {
  t = await testPawl({ lifecycles: [parcel] });
  const { secret } = await t.pawl.access.createToken({ name: "ada", role: "viewer" });
  headers = { authorization: `Bearer ${secret}` };
});
afterAll(() => t.close());

/** Reads a stream until something was said that is looked for. */
class Heard {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  #text = "";

  constructor(response: Response) {
    this.#reader = response.body!.getReader();
  }

  async until<Said>(event: string, isIt: (said: Said) => boolean = () => true): Promise<Said> {
    for (;;) {
      for (const [, name, data] of this.#text.matchAll(/event: (\w+)\ndata: (.*)\n\n/g)) {
        const said = JSON.parse(data!) as Said;
        if (name === event && isIt(said)) return said;
      }
      const { done, value } = await this.#reader.read();
      if (done) throw new Error("The stream has ended.");
      this.#text += new TextDecoder().decode(value);
    }
  }

  async end(): Promise<string> {
    for (;;) {
      const { done, value } = await this.#reader.read();
      if (done) return this.#text;
      this.#text += new TextDecoder().decode(value);
    }
  }

  leave(): Promise<void> {
    return this.#reader.cancel();
  }
}

type Counts = Record<string, Record<string, number>>;

describe("what happens is told while somebody listens", () => {
  test("counts come whole at first, and then as they change", async () => {
    const app = httpApp(t.pawl);
    const { id } = await t.pawl.start(parcel, { data: { weight: 1 } });
    const heard = new Heard(await app.request("/api/live", { headers }));
    await heard.until<Counts>("counts", ({ parcel }) => parcel?.packed === 1);
    await t.pawl.send(parcel, { id }, "sent");
    expect(await heard.until<Counts>("counts", ({ parcel }) => parcel?.away === 1)).toEqual({
      parcel: { packed: 0, away: 1 },
    });
    const later = new Heard(await app.request("/api/live", { headers }));
    expect(await later.until("counts")).toEqual({ parcel: { away: 1 } });
    await Promise.all([heard.leave(), later.leave()]);
  });

  test("an instance that is watched says when it has moved", async () => {
    const { id } = await t.pawl.start(parcel, { data: { weight: 2 } });
    const heard = new Heard(await httpApp(t.pawl).request(`/api/live?instance=${id}`, { headers }));
    expect(await heard.until("instance")).toEqual({ id, version: 1, state: "packed" });
    await t.pawl.send(parcel, { id }, "lost");
    expect(await heard.until<{ version: number }>("instance", ({ version }) => version === 2)).toMatchObject({
      state: "gone",
    });
    await heard.leave();
  });

  test("how much is started and done is told, too", async () => {
    const heard = new Heard(await httpApp(t.pawl).request("/api/live", { headers }));
    await heard.until("counts");
    await t.pawl.start(parcel, { data: { weight: 3 } });
    const grew = (samples: readonly { started: number }[]) => samples.some(({ started }) => started > 0);
    await heard.until<{ started: number }[]>("rates", grew);
    await heard.leave();
  });
});

test("only who may look hears anything, and only of what can be an instance", async () => {
  const app = httpApp(t.pawl);
  expect((await app.request("/api/live")).status).toBe(401);
  await t.pawl.people.upsertLabeler({ id: "lea" });
  const { secret } = await t.pawl.access.createToken({ name: "lea", role: "labeler", labeler: "lea" });
  const labeler = await app.request("/api/live", { headers: { authorization: `Bearer ${secret}` } });
  expect(labeler.status).toBe(403);
  const stray = await app.request("/api/live?instance=none", { headers });
  expect(await stray.json()).toMatchObject({ code: "option_invalid" });
});

test("a server that closes ends the streams that are open", async () => {
  await t.pawl.start(parcel, { data: { weight: 1 } });
  const server = await serveHttp(t.pawl, { port: 0 });
  const heard = new Heard(await fetch(`${server.url}/api/live`, { headers }));
  await heard.until("counts");
  await server.close();
  expect(await heard.end()).toContain("event: counts");
});

test("a server that closes does not wait for those who have asked nothing", { timeout: 15_000 }, async () => {
  const server = await serveHttp(t.pawl, { port: 0 });
  const silent = connect(server.port, "127.0.0.1");
  await once(silent, "connect");
  await fetch(`${server.url}/health`, { headers: { connection: "close" } });
  await server.close();
  silent.destroy();
});

test("when the last one has gone, nobody looks any more", async () => {
  await t.pawl.start(parcel, { data: { weight: 1 } });
  const looks = vi.spyOn(kernelOf(t.pawl)!.db, "rows");
  const server = await serveHttp(t.pawl, { port: 0 });
  const leaving = new AbortController();
  const heard = new Heard(await fetch(`${server.url}/api/live`, { headers, signal: leaving.signal }));
  await heard.until("counts");
  leaving.abort();
  let before = -1;
  const looked = () => {
    const earlier = before;
    before = looks.mock.calls.length;
    expect(before).toBe(earlier);
  };
  await vi.waitFor(looked, { interval: 800, timeout: 20_000 });
  looks.mockRestore();
  await server.close();
});

describe("a stream ends", () => {
  const streamOf = async (principal: Record<string, string>, app = httpApp(t.pawl)) => {
    const heard = new Heard(await app.request("/api/live", { headers: principal }));
    await heard.until("counts");
    return heard;
  };

  test("when its token is revoked, and no other with it", async () => {
    const app = httpApp(t.pawl);
    const token = await t.pawl.access.createToken({ name: "eve", role: "viewer" });
    const [revoked, other] = [
      await streamOf({ authorization: `Bearer ${token.secret}` }, app),
      await streamOf(headers, app),
    ];
    await t.pawl.access.revokeToken(token.id);
    await revoked.end();
    await t.pawl.start(parcel, { key: "after-the-end", data: { weight: 1 } });
    await other.until<{ parcel?: { packed: number } }>("counts", ({ parcel: states }) => states !== undefined);
    await other.leave();
  });

  test("when its session is revoked", async () => {
    const session = await t.pawl.access.signIn(await t.pawl.access.createSignInCode({ name: "kay", role: "viewer" }));
    const heard = await streamOf({ cookie: `pawl_session=${session!.secret}` });
    const [listed] = (await t.pawl.access.sessions()).filter(({ name }) => name === "kay");
    await t.pawl.access.revokeSession(listed!.id);
    await heard.end();
  });

  test("when its time is over", async () => {
    const { secret } = await t.pawl.access.createToken({ name: "short", role: "viewer", expiresIn: "1h" });
    const heard = await streamOf({ authorization: `Bearer ${secret}` });
    await t.advance("1h");
    await heard.end();
  });

  test("when the application no longer knows its reader, or fails to say", async () => {
    let answer: () => { name: string; role: "viewer"; labeler: null } | undefined = () => ({
      name: "host",
      role: "viewer",
      labeler: null,
    });
    const app = httpApp(t.pawl, { authenticate: () => answer(), reauthenticateInterval: 20 });
    const known = answer;
    const first = await streamOf({}, app);
    answer = () => undefined;
    await first.end();
    answer = known;
    const second = await streamOf({}, app);
    answer = () => {
      throw new Error("the session store is away");
    };
    await second.end();
  });
});

describe("the overview", () => {
  const app = () => httpApp(t.pawl);
  const ask = async (path: string) => (await app().request(path, { headers })).json();

  test("tells in numbers how everything stands, and in sentences what needs somebody", async () => {
    const { id } = await t.pawl.start(parcel, { data: { weight: 9 } });
    await t.pawl.send(parcel, { id }, "discard");
    await t.pawl.lanes.pause(parcel, { reason: "the belt is stuck" });
    expect(await ask("/api/overview")).toMatchObject({
      done: 1,
      failed: 1,
      discarded: 1,
      deadLetters: 0,
      oldestReadyMs: null,
      peopleWaiting: 0,
      workers: { alive: 0, silent: 0 },
      needs: [
        { what: "lanes", level: "warn", text: "parcel is paused: the belt is stuck", page: "/lifecycles/parcel" },
      ],
    });
    await t.pawl.lanes.resume(parcel);
    expect(await ask("/api/overview")).toMatchObject({ needs: [] });
  });

  test("an instance is found by its id, and by how its key begins", async () => {
    const { id } = await t.pawl.start(parcel, { key: "elm-3", data: { weight: 3 } });
    await t.pawl.start(parcel, { key: "elm-31", data: { weight: 4 } });
    await t.pawl.start(parcel, { key: "oak-1", data: { weight: 5 } });
    expect(await ask(`/api/search?text=${id}`)).toMatchObject([{ key: "elm-3" }]);
    expect(await ask("/api/search?text=elm-3")).toMatchObject([{ key: "elm-3" }, { key: "elm-31" }]);
    expect(await ask("/api/search?text=elm-3&limit=1")).toHaveLength(1);
    expect(await ask("/api/search?text=Elm")).toEqual([]);
    expect(await ask("/api/search")).toMatchObject({ code: "option_invalid" });
  });

  test("what has stood in a state longest is told, at rest and at work", async () => {
    const oldest = (state: string) => ask(`/api/lifecycles/parcel/states/${state}/oldest?limit=2`);
    expect(await oldest("gone")).toMatchObject([{ state: "gone", data: { weight: 2 } }]);
    for (const key of ["first", "second", "third"]) {
      await t.pawl.start(parcel, { key, data: { weight: 1 } });
      await t.pawl.send(parcel, key, "weigh");
    }
    expect(await oldest("weighing")).toMatchObject([{ key: "first" }, { key: "second" }]);
    expect(await oldest("nowhere")).toMatchObject({ code: "option_invalid" });
  });
});
