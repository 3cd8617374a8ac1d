import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { crowd, folderArchive, job, lifecycle, queue, schedule } from "pawl";
import { httpApp } from "pawl/http";
import { memoryMarketplace, type TestPawl, testPawl } from "pawl/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { routes } from "../../src/http/routes/routes.ts";
import { Documented } from "./documented.ts";

/** What steps have handed out. */
const tokens: string[] = [];

const essay = lifecycle("essay", {
  data: z.object({ text: z.string(), score: z.number().optional() }),
  events: { graded: z.object({ score: z.number() }) },
  initial: "written",
  deadline: { within: "1h", late: "keep" },
  states: {
    written: {
      forever: true,
      on: { hand_in: "grading", burn: { to: "burnt", guard: () => "paper is dear" } },
    },
    grading: {
      forever: true,
      on: { graded: { to: "scored", set: ({ payload }) => ({ score: payload.score }) }, check: "checking" },
    },
    checking: {
      run: async (step) => {
        tokens.push(await step.callbackToken("checked"));
        return step.giveUp("illegible");
      },
      on: { checked: "scored" },
    },
    scored: { final: "success" },
    burnt: { final: "failure" },
  },
});
const mail = job("mail", { run: () => {}, limit: { total: 10, per: ({ id }) => id, each: 2 } });
const nightly = schedule("nightly", { cron: "30 3 * * *", timezone: "Europe/Berlin", start: mail });
const pictures = queue("pictures", { label: z.object({ animal: z.enum(["cat", "dog"]) }), overlap: 2, review: true });
const receipts = crowd("receipts", {
  label: z.object({ total: z.number() }),
  marketplace: "here",
  autoApprove: false,
});
const here = memoryMarketplace();

interface Thing {
  readonly id: string;
}

const folder = mkdtempSync(join(tmpdir(), "pawl-api-"));
let t: TestPawl;
let api: Documented;
beforeAll(async () => {
  t = await testPawl({
    lifecycles: [essay, mail],
    schedules: [nightly],
    queues: [pictures],
    crowds: [receipts],
    marketplaces: { here },
    breakers: { llm: {} },
    deadLetters: { archive: folderArchive(folder) },
  });
  const app = httpApp(t.pawl, { authenticate: () => ({ name: "grace", role: "admin", labeler: null }) });
  api = await Documented.of(app);
});
afterAll(async () => {
  await t.close();
  rmSync(folder, { recursive: true });
});

/** Starts one that is given up, as a dead letter. */
async function giveUp(key: string): Promise<void> {
  await api.post("/lifecycles/essay/instances", { key, data: { text: "…" } });
  for (const event of ["hand_in", "check"]) await api.post(`/lifecycles/essay/keys/${key}/events/${event}`);
  await t.work();
}

describe("everything is answered as it is documented", () => {
  test("lifecycles and instances", async () => {
    const started = await api.post<Thing>("/lifecycles/essay/instances", {
      key: "e/1",
      data: { text: "…" },
      reason: "x",
    });
    expect(await api.get("/lifecycles/essay/instances?state=written,grading&limit=5")).toMatchObject([{ key: "e/1" }]);
    expect(await api.get(`/instances/${started.id}`)).toMatchObject({ key: "e/1", state: "written" });
    expect(await api.get("/lifecycles/essay/keys/e%2F1")).toMatchObject({ id: started.id });
    expect(await api.get(`/instances/${started.id}/allowed-events`)).toContainEqual(
      expect.objectContaining({ event: "burn", permitted: "no" }),
    );
    await api.get("/lifecycles/essay/keys/e%2F1/allowed-events");
    await api.post(`/instances/${started.id}/events/hand_in`, { expectedVersion: 1, idempotencyKey: "once" });
    const callback = { payload: { score: 7 }, dedupeKey: "request-1" };
    expect(await api.post(`/instances/${started.id}/callbacks/graded`, callback)).toMatchObject({ accepted: true });
    expect(await api.get(`/instances/${started.id}/wait?until=scored&timeout=1s`)).toMatchObject({
      outcome: "success",
    });
    await api.get("/lifecycles/essay/keys/e%2F1/wait");
    for (const place of [`/instances/${started.id}`, "/lifecycles/essay/keys/e%2F1"]) {
      await api.get(`${place}/children?limit=1`);
      expect(await api.get(`${place}/journal`)).toMatchObject([{ actor: "grace" }, {}, {}]);
      expect(await api.get(`${place}/history`)).toHaveLength(3);
      expect(await api.get(`${place}/explain`)).toMatchObject({ outcome: "success", waitingFor: [], stuck: null });
      expect(await api.get(`${place}/callbacks?status=applied`)).toMatchObject([{ dedupeKey: "request-1" }]);
    }
    expect(await api.get("/lifecycles")).toContainEqual(expect.objectContaining({ name: "essay" }));
    expect(await api.get("/search?text=e%2F&limit=5")).toMatchObject([{ key: "e/1" }]);
    expect(await api.get("/overview")).toMatchObject({ done: 1, inFlight: 0 });
    expect(await api.get("/lifecycles/essay/counts")).toEqual({ scored: 1 });
    const filter = "state=scored&key=e%2F&idleFor=0s&olderThan=0s";
    expect(await api.get(`/lifecycles/essay/instances?${filter}&limit=5`)).toMatchObject([{ key: "e/1" }]);
    expect(await api.get(`/lifecycles/essay/instances/count?${filter}`)).toEqual({ count: 1, more: false });
    expect(await api.get("/lifecycles/essay/instances/count?key=f")).toEqual({ count: 0, more: false });
    expect(await api.get("/lifecycles/essay/states/scored/oldest?limit=5")).toMatchObject([{ key: "e/1" }]);
    expect(await api.get("/lifecycles/essay/diagram?format=dot")).toContain("digraph");
  });

  test("what is stuck, with what to do", async () => {
    await api.post("/lifecycles/essay/instances", { key: "stuck", data: { text: "…" } });
    for (const event of ["hand_in", "check"]) await api.post(`/lifecycles/essay/keys/stuck/events/${event}`);
    await t.advance("2m");
    const sentence = expect.stringContaining("Start a worker that serves this lane.");
    const group = { reason: "no_worker", lane: "essay@1/checking", count: 1, more: false, queue: null, sentence };
    expect(await api.get("/stuck?limit=1")).toMatchObject([
      { ...group, instances: [{ key: "stuck", state: "checking" }] },
    ]);
    expect(await api.get("/overview")).toMatchObject({ needs: [{ what: "stuck", page: "/workers" }] });
    await api.post("/lifecycles/essay/keys/stuck/events/discard");
    expect(await api.get("/stuck")).toEqual([]);
  });

  test("R77 callbacks, and late ones with all that a banner shows of them", async () => {
    await api.post("/lifecycles/essay/instances", { key: "late", data: { text: "…" } });
    await api.post("/lifecycles/essay/keys/late/events/hand_in");
    await t.advance("2h");
    const late = await api.post<Thing>("/lifecycles/essay/keys/late/callbacks/graded", {
      payload: { score: 3 },
      dedupeKey: "r",
    });
    expect(await api.get(`/callbacks/${late.id}`)).toMatchObject({ late: true, status: "kept" });
    expect(await api.get("/callbacks?late=true")).toMatchObject([{ id: late.id }]);
    expect(await api.get("/lifecycles/essay/keys/late/callbacks?late=true")).toMatchObject([
      { id: late.id, event: "graded", payload: { score: 3 }, error: null, late: true, status: "kept" },
    ]);
    expect(await api.get("/lifecycles/essay/keys/late")).toMatchObject({ state: "failed", data: { text: "…" } });
    const failed = await api.get<readonly { failure: { reason: string } }[]>(
      "/lifecycles/essay/instances?state=failed",
    );
    const reason = failed[0]!.failure.reason;
    const ofReason = "/lifecycles/essay/instances?failure=";
    expect(await api.get(`${ofReason}${reason}`)).toMatchObject([{ key: "late", failure: { reason } }]);
    expect(await api.get(`${ofReason}${reason}&state=failed&limit=1`)).toMatchObject([{ key: "late" }]);
    expect(await api.get(`${ofReason}${reason}&state=scored`)).toEqual([]);
    expect(await api.get(`${ofReason}another`)).toEqual([]);
    expect(await api.get("/lifecycles/essay/keys/late/explain")).toMatchObject({
      waitingFor: [{ kind: "person" }],
      stuck: { reason: "dead_letter" },
      recovery: { failure: { state: "grading" } },
    });
    expect(await api.post(`/callbacks/${late.id}/accept`, { reason: "It was us." })).toMatchObject({ state: "scored" });
  });

  test("jobs, lanes, workers and schedules", async () => {
    const enqueued = await api.post<Thing>("/jobs/mail", { payload: {}, key: "m1", after: "1h", priority: 3 });
    expect(await api.get("/jobs?job=mail&status=pending")).toMatchObject([{ key: "m1" }]);
    expect(await api.get(`/jobs/mail/${enqueued.id}`)).toMatchObject({ status: "pending" });
    expect(await api.get("/jobs/mail/keys/m1")).toMatchObject({ id: enqueued.id });
    expect(await api.post("/lanes/essay%2Fchecking/pause", { reason: "ink is out" })).toBeNull();
    expect(await api.get("/lanes")).toContainEqual(
      expect.objectContaining({ state: "checking", closed: expect.objectContaining({ actor: "grace" }) }),
    );
    expect(await api.post("/lanes/essay%2Fchecking/resume")).toBe(true);
    expect(await api.post("/lanes/mail/limits", { limit: 5, limitEach: 1, reason: "slow" })).toEqual({
      limit: 5,
      limitEach: 1,
      rate: null,
      rateEach: null,
    });
    expect(await api.get("/lanes")).toContainEqual(
      expect.objectContaining({
        lifecycle: "mail",
        limit: 5,
        each: { limit: 1, rate: null },
        limitsChanged: { at: expect.any(String), actor: "grace", reason: "slow" },
      }),
    );
    expect(await api.post("/lanes/mail/limits", { defaults: ["limit", "limitEach"] })).toMatchObject({ limit: 10 });
    const worker = t.pawl.work();
    while ((await t.pawl.workers.list()).length === 0) await new Promise(setImmediate);
    expect(await api.get("/workers")).toMatchObject([{ id: worker.id }]);
    await worker.stop();
    expect(await api.post("/schedules/nightly/pause", { reason: "holidays" })).toBeNull();
    expect(await api.get("/schedules")).toMatchObject([{ name: "nightly", paused: { actor: "grace" } }]);
    expect(await api.post("/schedules/nightly/resume")).toBeNull();
    expect(await api.post("/schedules/nightly/run")).toMatchObject({ lifecycle: "mail", created: true });
    expect(await api.get("/schedules")).toMatchObject([{ status: "active" }]);
  });

  test("breakers and the outbox", async () => {
    await api.post("/breakers/llm/force", { to: "open", reason: "It said so." });
    expect(await api.get("/breakers")).toMatchObject([{ forced: "open", actor: "grace" }, {}]);
    expect(await api.post("/breakers/llm/release")).toMatchObject({ forced: null });
    expect(await api.get("/breakers/llm/history?limit=1")).toMatchObject([{ cause: "released" }]);
    await t.pawl.publish("grading.request", { text: "…" }, { aggregate: { type: "essay", id: "1" } });
    expect(await api.get("/outbox")).toMatchObject({
      dead: 0,
      types: [{ type: "grading.request", pending: 1 }],
    });
    expect(await api.get("/messages?status=pending&status=dead&type=grading.request")).toMatchObject([
      { behind: false },
    ]);
    expect(await api.post("/messages/requeue", { all: true })).toEqual({ messages: 0 });
    expect(await api.post("/messages/discard", { type: "grading.request" })).toEqual({ messages: 0 });
  });

  test("dead letters, one and many", async () => {
    for (const key of ["d1", "d2", "d3", "d4"]) await giveUp(key);
    const letters = await api.get<Thing[]>("/dead-letters?lifecycle=essay&status=open");
    const [one, two, three] = letters as [Thing, Thing, Thing];
    expect(await api.get(`/dead-letters/${one.id}`)).toMatchObject({ origin: "checking", key: "d4" });
    expect(await api.get("/tickets?status=open&limit=10")).toHaveLength(4);
    expect(await api.post(`/tickets/${three.id}/assign`)).toMatchObject({ assignee: "grace" });
    expect(await api.post(`/tickets/${three.id}/resolve`, { reason: "seen" })).toMatchObject({ status: "resolved" });
    await api.post(`/dead-letters/${one.id}/requeue`, { data: { text: "!" }, reason: "read again" });
    expect(await api.post(`/dead-letters/${two.id}/discard`)).toMatchObject({ status: "discarded" });
    const groups = await api.get<{ fingerprint: string; origin: string }[]>("/dead-letter-groups?kind=instance");
    const { fingerprint } = groups.find((group) => group.origin === "checking")!;
    const preview = { decision: "requeue", fingerprint };
    expect(await api.post("/dead-letters/preview", preview)).toMatchObject({ outcomes: { requeued: 2 } });
    const operation = await api.post<Thing>("/dead-letters/requeue", { fingerprint, rate: 100, reason: "all" });
    expect(await api.get(`/operations/${operation.id}`)).toMatchObject({ status: "running", items: 2 });
    expect(await api.post(`/operations/${operation.id}/run-batch`)).toMatchObject({ done: 2 });
    await giveUp("d5");
    const other = await api.post<Thing>("/dead-letters/discard", { all: true });
    expect(await api.post(`/operations/${other.id}/abort`, { reason: "no" })).toMatchObject({ status: "aborted" });
    expect(await api.get("/operations?limit=5")).toHaveLength(2);
    expect(await api.post("/dead-letters/archive", { olderThan: "0s" })).toMatchObject({ files: 1 });
    expect(await api.get("/archives")).toHaveLength(1);
    expect(await api.post("/archives/restore", { all: true })).toMatchObject({ files: 1 });
  });

  test("instances in bulk", async () => {
    const place = "/lifecycles/essay";
    const wanted = { failure: "none of these" };
    const preview = { decision: "send", event: "graded", payload: { score: 7 }, ...wanted };
    expect(await api.post(`${place}/operations/preview`, preview)).toMatchObject({ instances: 0 });
    const sent = { event: "graded", payload: { score: 7 }, reason: "all", rate: 10, ...wanted };
    expect(await api.post(`${place}/operations/send`, sent)).toMatchObject({ status: "done", event: "graded" });
    for (const decision of ["recover", "restart", "discard"])
      expect(await api.post(`${place}/operations/${decision}`, wanted)).toMatchObject({ status: "done", decision });
    const some = await api.get<Thing[]>(`${place}/export?all=true&limit=1`);
    expect(some).toHaveLength(1);
    expect(await api.get(`${place}/export?all=true&limit=1&after=${some[0]!.id}`)).toHaveLength(1);
  });

  test("queues, samples, labels and those who label", async () => {
    await api.post("/queues", { queue: "words", definition: { label: { type: "string" } } });
    expect(await api.post("/queues/words/deactivate")).toMatchObject({ active: false });
    expect(await api.post("/queues/words/activate")).toMatchObject({ active: true });
    expect(await api.get("/queues/words")).toMatchObject({ source: "run_time" });
    expect(await api.get("/queues")).toHaveLength(2);
    await api.get("/queue-stats");
    await api.put("/labelers/ben", { name: "Ben", skills: ["latin"], active: true });
    expect(await api.get("/labelers")).toMatchObject([{ id: "ben" }]);
    const samples = ["one", "two", "three"].map((key) => ({ key, data: { url: key }, gold: { animal: "cat" } }));
    await api.post("/queues/pictures/samples", { samples, reason: "import" });
    expect(await api.get("/queues/pictures/samples?state=open")).toHaveLength(3);
    const labels = [];
    for (const [labeler, animal] of [
      ["ben", "cat"],
      ["cem", "dog"],
    ] as const) {
      const { assignment } = await api.post<{ assignment: Thing }>("/queues/pictures/next", { labeler });
      const place = `/assignments/${assignment.id}`;
      await api.post(`${place}/start`, { labeler });
      await api.post(`${place}/extend`, { labeler });
      await api.put(`${place}/draft`, { labeler, draft: { animal } });
      await api.get(`${place}/draft?labeler=${labeler}`);
      await api.get(`/desk/assignments/${assignment.id}?labeler=${labeler}`);
      expect(await api.get(place)).toMatchObject({ labelerId: labeler, status: "in_progress" });
      const { label } = await api.post<{ label: Thing }>(`${place}/submit`, { labeler, label: { animal } });
      labels.push(label.id);
      const moves = await api.get<{ event: string; actor: string | null }[]>(`${place}/journal`);
      expect(moves.map(({ event }) => event)).toEqual(["start", "start", "extend", "submit"]);
      expect(moves.at(-1)).toMatchObject({ from: "in_progress", to: "completed", actor: labeler });
      expect(JSON.stringify(moves), "whether a gold sample was answered right").not.toContain("isRight");
    }
    await api.post(`/labels/${labels[0]}/accept`, { comment: "good" });
    expect(await api.post(`/labels/${labels[1]}/reject`)).toMatchObject({ revision: { labelerId: "cem" } });
    expect(await api.get("/labels?queue=pictures&late=false")).toHaveLength(2);
    await api.get("/desk?labeler=ben");
    const given = await api.post<{ assignment: Thing }>("/queues/pictures/next", { labeler: "ben" });
    await api.post(`/assignments/${given.assignment.id}/start`, { labeler: "ben" });
    await api.post(`/assignments/${given.assignment.id}/skip`, { labeler: "ben", reason: "too dark" });
    const taken = await api.post<{ assignment: Thing }>("/queues/pictures/next", { labeler: "dan" });
    await api.post(`/assignments/${taken.assignment.id}/release`, { reason: "holidays" });
    expect(await api.post("/queues/words/next", { labeler: "ben" })).toMatchObject({ why: { code: "nothing_waits" } });
    expect(await api.get("/assignments?queue=pictures&labeler=ben&status=skipped")).toHaveLength(1);
    const sample = await api.get<Thing>("/queues/pictures/keys/one");
    expect(await api.get(`/samples/${sample.id}`)).toMatchObject({ key: "one", gold: { animal: "cat" } });
    const moved = await api.get<{ event: string; actor: string | null }[]>(`/samples/${sample.id}/journal`);
    expect(moved.map(({ event, actor }) => `${event} by ${actor}`)).toEqual([
      "start by grace",
      "accept_label by grace",
      "reject_label by grace",
    ]);
    const three = await api.get<Thing>("/queues/pictures/keys/three");
    expect(
      await api.post(`/samples/${three.id}/assign`, { to: "eva", reason: "exists in the database" }),
    ).toMatchObject({
      labelerId: "eva",
      status: "pending",
    });
    await api.post(`/samples/${three.id}/close`, { reason: "blurred" });
    await api.post("/queues/pictures/samples", { samples: [{ key: "often", data: 1, overlap: 1 }] });
    const often = await api.get<Thing>("/queues/pictures/keys/often");
    await exhaust(often.id);
    expect(await api.post(`/samples/${often.id}/reopen`, { attempts: 1 })).toMatchObject({ state: "open" });
    await api.post("/queues/pictures/check-expired");
    await api.get("/queues/pictures/quality");
    for (const by of ["", "?by=labeler", "?by=hour"]) await api.get(`/queues/pictures/metrics${by}`);
    expect(await api.get("/queues/pictures/export?limit=10")).toHaveLength(1);
  });

  /** Lets a sample be skipped until it may be handed out no more. */
  async function exhaust(sampleId: string): Promise<void> {
    for (let labeler = 0; labeler < 40; labeler++) {
      const name = { labeler: `l${labeler}` };
      const next = await api.post<{ assignment: (Thing & { sampleId: string }) | null }>("/queues/pictures/next", name);
      if (next.assignment === null) return;
      await api.post(`/assignments/${next.assignment.id}/start`, name);
      await api.post(`/assignments/${next.assignment.id}/skip`, name);
      if ((await t.pawl.people.sample(sampleId)).state !== "open") return;
    }
  }

  test("crowds and what their workers submit", async () => {
    const asked = await api.post<Thing>("/crowds/receipts/jobs", { key: "r1", content: { image: "r1" } });
    await t.work();
    expect(await api.get("/crowds/receipts/jobs?state=running")).toMatchObject([{ id: asked.id }]);
    expect(await api.get(`/crowd-jobs/${asked.id}`)).toMatchObject({ key: "r1" });
    await api.get("/crowds/receipts/keys/r1");
    const [posting] = here.workers.openJobs();
    here.workers.work(posting!.id, "W1", { total: 1 });
    expect(await api.post("/marketplaces/here/notifications", { posting: posting!.id })).toEqual({ ours: true });
    await t.work();
    const [submission] = await api.get<Thing[]>("/submissions?crowd=receipts&state=pending_approval");
    expect(await api.get(`/crowd-jobs/${asked.id}/submissions`)).toMatchObject([{ worker: "W1" }]);
    await api.get(`/submissions/${submission!.id}`);
    await api.post(`/submissions/${submission!.id}/approve`, { feedback: "Thank you." });
    await api.post(`/submissions/${submission!.id}/bonus`, { amount: "0.50", reason: "Quick." });
    await t.work();
    await api.post("/crowds/receipts/jobs", { key: "r2", content: { image: "r2" } });
    await t.work();
    const other = await api.get<Thing>("/crowds/receipts/keys/r2");
    await api.post(`/crowd-jobs/${other.id}/sync`);
    await t.work();
    here.workers.work(here.workers.openJobs()[0]!.id, "W2", { total: "two" });
    await api.post(`/crowd-jobs/${other.id}/sync`);
    await t.work();
    const [bad] = await api.get<Thing[]>("/submissions?state=errored");
    await api.post(`/submissions/${bad!.id}/retry`, { reason: "look again" });
    await t.work();
    await api.post(`/submissions/${bad!.id}/reject`, { feedback: "It is another one." });
    await t.work();
    await api.post(`/crowd-jobs/${other.id}/close`);
    const unwanted = await api.post<Thing>("/crowds/receipts/jobs", { key: "unwanted", content: {} });
    expect(await api.post(`/crowd-jobs/${unwanted.id}/discard`, { reason: "nobody needs it" })).toMatchObject({
      state: "discarded",
    });
    expect(await api.get("/crowds")).toMatchObject([{ name: "receipts", marketplace: "here" }]);
    expect(await api.get("/marketplaces/here/balance")).toEqual({ marketplace: "here", balance: null });
    expect(await api.post("/marketplaces/here/reconcile", { repair: false })).toEqual([]);
  });

  test("who may come in", async () => {
    const token = await api.post<Thing & { secret: string }>("/tokens", {
      name: "grader",
      role: "service",
      expiresIn: "1h",
    });
    expect(await api.get("/tokens")).toHaveLength(1);
    await t.pawl.access.signIn(token.secret);
    const [session] = await api.get<[Thing]>("/sessions");
    expect(session).toMatchObject({ name: "grader", token: token.id });
    expect(await api.delete(`/sessions/${session.id}`)).toBeNull();
    expect(await api.get("/session")).toMatchObject({ name: "grace" });
    expect(await api.post("/session", { token: token.secret })).toMatchObject({ name: "grader" });
    expect(await api.delete("/session")).toBeNull();
    await api.delete(`/tokens/${token.id}`);
    await api.post("/sign-in-codes", { name: "ada", role: "viewer" });
  });

  test("what is not below /api", async () => {
    await giveUp("d6");
    const place = `/callbacks/${tokens.at(-1)}`;
    expect(await api.outside("post", place, { dedupeKey: "r-1" })).toMatchObject({ late: false });
    expect(await api.outside("get", "/health")).toEqual({ status: "ok" });
    expect(await api.outside("get", "/ready")).toEqual({ status: "ready" });
  });

  test("nothing is documented that was not asked for here", () => {
    const left = api.operations.map(({ operation }) => operation.operationId).filter((name) => !api.done.has(name));
    // Those two are no JSON, and have tests of their own.
    expect(left, "Ask for it above, so that its answer is checked.").toEqual(["live", "metrics"]);
  });
});

describe("the document", () => {
  test("every route is in it", () => {
    const documented = new Set(api.operations.map(({ operation }) => operation.operationId));
    expect(routes.filter(({ name }) => !documented.has(name))).toEqual([]);
  });

  test("names every operation once, and every name that is in a path", () => {
    const names = api.operations.map(({ operation }) => operation.operationId);
    expect(names).toEqual([...new Set(names)]);
    for (const { path, operation } of api.operations) {
      const described = (operation.parameters ?? []).filter(
        (one) => one.in === "path" && one.description !== undefined,
      );
      expect(described.map((one) => `{${one.name}}`)).toEqual(path.match(/\{\w+\}/g) ?? []);
    }
    const templates = Object.keys(api.document.paths).map((path) => path.replaceAll(/\{\w+\}/g, "{}"));
    expect(templates).toEqual([...new Set(templates)]);
  });
});
