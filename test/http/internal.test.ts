import { createPawl, crowd, lifecycle, queue } from "pawl";
import { httpApp } from "pawl/http";
import { memoryMarketplace, type TestPawl, testPawl } from "pawl/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { standingOf } from "../../src/api/internals.ts";
import { callIn } from "../../src/cli/transport/reach.ts";

const pictures = queue("pictures", { label: z.object({ animal: z.enum(["cat", "dog"]) }) });
const receipts = crowd("receipts", { label: z.object({ total: z.number() }), marketplace: "here", autoApprove: false });
/** What the steps of `meddler` do with Pawl's own lifecycles, and what came of it. */
let meddle: (step: { start: (...all: never[]) => void; send: (...all: never[]) => void }) => void = () => {};
const told: unknown[] = [];
const meddler = lifecycle("meddler", {
  initial: "at_work",
  states: {
    at_work: {
      run: (step) => {
        try {
          meddle(step as never);
        } catch (error) {
          told.push(error);
        }
        return step.go("done");
      },
      on: { done: "over" },
    },
    over: { final: "success" },
  },
});
const here = memoryMarketplace();

let t: TestPawl;
let app: ReturnType<typeof httpApp>;
/** One instance of each of Pawl's own lifecycles, by its name. */
const things = new Map<string, string>();
beforeAll(async () => {
  t = await testPawl({
    lifecycles: [meddler],
    queues: [pictures],
    crowds: [receipts],
    marketplaces: { here },
  });
  app = httpApp(t.pawl);
  const { people, crowd: crowds } = t.pawl;
  things.set("pawl_sample", (await people.add(pictures, { key: "one", data: { url: "…" } })).id);
  const given = await people.next(pictures, "ada");
  things.set("pawl_assignment", (given as { assignment: { id: string } }).assignment.id);
  const job = await crowds.ask(receipts, { content: {}, key: "r" });
  things.set("pawl_crowd_receipts", job.id);
  await t.work();
  const [posting] = here.workers.jobsOf(job.id);
  here.workers.work(posting!.id, "W1", { total: 1 });
  await crowds.sync(job.id);
  await t.work();
  const [submission] = await crowds.submissions(receipts);
  things.set("pawl_submission_receipts", submission!.id);
  things.set("pawl_bonus_receipts", (await crowds.bonus(submission!.id, { amount: "1.00", reason: "thanks" })).id);
});
afterAll(() => t.close());

const refused = { code: "not_allowed", message: expect.stringContaining("Pawl's own lifecycles") };

describe("Pawl's own lifecycles", () => {
  test("are changed by no call of the library but those of people and crowds", async () => {
    expect(t.pawl.internalLifecycles.map(({ name }) => name)).toEqual([
      "pawl_sample",
      "pawl_assignment",
      "pawl_crowd_receipts",
      "pawl_submission_receipts",
      "pawl_disposal_receipts",
      "pawl_bonus_receipts",
    ]);
    for (const own of t.pawl.internalLifecycles) {
      const id = things.get(own.name) ?? things.get("pawl_sample")!;
      const before = await t.pawl.get(own, { id });
      for (const to of [{ id }, "some-key"]) {
        for (const event of new Set([...own.states.values()].flatMap(({ name }) => own.eventsFrom(name)))) {
          const payload = { labelId: id, label: { animal: "fish" }, isRight: true, consensus: 1, agreement: 1 };
          await expect(t.pawl.send(own, to, event, payload as never, {} as never)).rejects.toMatchObject(refused);
          await expect(t.pawl.trySend(own, to, event, payload as never, {} as never)).resolves.toMatchObject({
            error: refused,
          });
          await expect(t.pawl.sendMany(own, [{ to, event } as never])).resolves.toMatchObject([{ error: refused }]);
          const dedupeKey = { dedupeKey: "d" };
          await expect(t.pawl.receive(own, to, event, payload as never, dedupeKey)).rejects.toMatchObject(refused);
          const failed = t.pawl.callbacks.receiveError(own, to, event, { message: "no" }, dedupeKey);
          await expect(failed).rejects.toMatchObject(refused);
        }
      }
      await expect(t.pawl.start(own, { key: "k", data: {} as never })).rejects.toMatchObject(refused);
      await expect(t.pawl.startMany(own, [{ key: "k" } as never])).rejects.toMatchObject({ code: "not_allowed" });
      expect(await t.pawl.get(own, { id })).toEqual(before);
      if (before !== undefined) expect(await t.pawl.allowedEvents(own, { id })).toEqual([]);
    }
  });

  test.each(["service", "operator", "admin"] as const)("are changed by no request of the role %s", async (role) => {
    const { secret } = await t.pawl.access.createToken({ name: role, role });
    const headers = { authorization: `Bearer ${secret}`, "content-type": "application/json" };
    const post = async (path: string, body: unknown) => {
      const response = await app.request(path, { method: "POST", headers, body: JSON.stringify(body) });
      return { status: response.status, code: ((await response.json()) as { code?: string }).code };
    };
    const not = { status: 403, code: "not_allowed" };
    for (const { name } of t.pawl.internalLifecycles) {
      const id = things.get(name) ?? things.get("pawl_sample")!;
      expect(await post(`/api/lifecycles/${name}/instances`, { key: "k", data: {} })).toEqual(not);
      for (const event of ["submit", "agree", "approve", "close", "published", "fail", "discard"]) {
        expect(await post(`/api/instances/${id}/events/${event}`, {})).toEqual(not);
        expect(await post(`/api/lifecycles/${name}/keys/k/events/${event}`, {})).toEqual(not);
        expect(await post(`/api/instances/${id}/callbacks/${event}`, { dedupeKey: "d" })).toEqual(not);
        expect(await post(`/api/lifecycles/${name}/keys/k/callbacks/${event}`, { dedupeKey: "d" })).toEqual(not);
      }
    }
  });

  test("are changed by nobody who comes over the local socket", async () => {
    for (const { name } of t.pawl.internalLifecycles) {
      const id = things.get(name) ?? things.get("pawl_sample")!;
      for (const [verb, args] of [
        ["start", { lifecycle: name, data: {} }],
        ["send", { id, event: "close" }],
        ["send", { lifecycle: name, key: "k", event: "close" }],
        ["receive", { id, event: "close", dedupeKey: "d" }],
        ["receive", { lifecycle: name, key: "k", event: "close", dedupeKey: "d", error: { message: "no" } }],
      ] as const) {
        await expect(callIn(t.pawl)(verb, args), `${verb} ${name}`).rejects.toMatchObject(refused);
      }
    }
  });

  test("are changed by no step of another lifecycle", async () => {
    const [own] = t.pawl.internalLifecycles;
    const id = things.get("pawl_sample")!;
    meddle = ({ start }) => start(own as never, { key: "k", data: {} } as never);
    await t.pawl.start(meddler, { key: "starts" });
    await t.work();
    meddle = ({ send }) => send(own as never, { id } as never, "close" as never);
    await t.pawl.start(meddler, { key: "sends" });
    await t.work();
    expect(told).toMatchObject([refused, refused]);
    expect(await t.pawl.get(own!, { id })).toMatchObject({ state: "open" });
  });

  test("have names that no other lifecycle may have", async () => {
    const taken = lifecycle("pawl_mine", {
      initial: "a",
      states: { a: { forever: true, on: { x: "b" } }, b: { final: "success" } },
    });
    await expect(createPawl({ lifecycles: [taken], folder: "/nowhere/at/all" })).rejects.toMatchObject({
      code: "option_invalid",
      message: expect.stringContaining("begin with `pawl_`"),
    });
  });

  test("take only what their schemas declare, also from within", async () => {
    const { kernel } = t;
    const { sendAll } = await import("../../src/kernel/move/send.ts");
    const { eventFor } = await import("../../src/people/lifecycle/sends.ts");
    const sample = kernel.lifecycles.get("pawl_sample")!;
    const agree = { lifecycle: sample, id: things.get("pawl_sample")!, event: "agree", payload: { consensus: 1 } };
    expect(await sendAll(kernel, [eventFor(kernel, agree)])).toMatchObject([
      { ok: false, error: { code: expect.stringMatching(/payload_invalid|transition_refused/) } },
    ]);
  });

  test("appear in lists only when they are asked for", async () => {
    const ask = async (path: string) => {
      const { secret } = await t.pawl.access.createToken({ name: "v", role: "viewer" });
      const response = await app.request(`/api${path}`, { headers: { authorization: `Bearer ${secret}` } });
      return response.json();
    };
    const named = async (path: string) =>
      ((await ask(path)) as { name?: string; lifecycle?: string }[]).map((one) => one.name ?? one.lifecycle);
    expect(await named("/lifecycles")).toEqual(["meddler"]);
    expect(await named("/lifecycles?internal=true")).toContain("pawl_sample");
    expect(await named("/lanes")).not.toContain("pawl_submission_receipts");
    expect(await named("/lanes?internal=true")).toContain("pawl_submission_receipts");
    expect(await ask("/search?text=r")).toEqual([]);
    expect(await ask(`/search?text=${things.get("pawl_crowd_receipts")}`)).toMatchObject([
      { lifecycle: "pawl_crowd_receipts" },
    ]);
    expect(await ask("/overview")).toMatchObject({ inFlight: 0 });
    const { counts } = await standingOf(t.pawl, []);
    expect(new Set(counts.map(({ lifecycle }) => lifecycle))).toEqual(new Set(["meddler"]));
    expect(JSON.stringify(await ask("/openapi.json"))).not.toContain("pawl_sample");
  });
});
