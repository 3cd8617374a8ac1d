import { httpApp } from "pawl/http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { sql } from "../../src/store/port/db.ts";
import { type TestPawl, testPawl } from "../../src/testing/test-pawl.ts";
import { cat, given, newQueue, started } from "../people/labeling.ts";
import { onPostgres } from "../setup/suites.ts";

let t: TestPawl;
let app: ReturnType<typeof httpApp>;
beforeAll(async () => {
  t = await testPawl({ lifecycles: [] });
  app = httpApp(t.pawl);
});
afterAll(() => t.close());

type Options = Parameters<TestPawl["pawl"]["access"]["createToken"]>[0];

/** Asks as somebody who has a token. */
async function asking(options: Options): Promise<(method: string, path: string, body?: unknown) => Promise<Answer>> {
  const { secret } = await t.pawl.access.createToken(options);
  const headers = { authorization: `Bearer ${secret}`, "content-type": "application/json" };
  return async (method, path, body) => {
    const init = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await app.request(`/api${path}`, { method, headers, ...init });
    return { status: response.status, body: await response.json() };
  };
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

async function countDrafts(): Promise<number> {
  const [row] = await t.db.rows<{ count: number }>(sql`select count(*)::int as count from pawl.drafts`);
  return row!.count;
}

test("a labeler finds the queues in which he may work, and there only his own", async () => {
  const ada = await asking({ name: "Ada L.", role: "labeler", labeler: "ada" });
  const open = await newQueue(t, { samples: 3, overlap: 2, instructions: "Look twice." });
  const closed = await newQueue(t, { samples: 1, labelers: ["ben"] });
  const hers = await started(t, open, "ada");
  await started(t, open, "ben");
  await t.advance("20s");
  await t.pawl.people.submit(hers.id, "ada", cat);
  const next = await given(t, open, "ada");

  const { status, body } = await ada("GET", "/desk");
  expect(status).toBe(200);
  expect(body).toMatchObject({ labeler: "ada", now: t.now().toISOString() });
  const queues = (body as { queues: { name: string }[] }).queues;
  expect(queues.map(({ name }) => name)).not.toContain(closed);
  // Of three samples she has labeled one, and has the second in hand.
  expect(queues.find(({ name }) => name === open)).toMatchObject({
    instructions: "Look twice.",
    labelSchema: { required: ["category"] },
    waiting: 1,
    waitsMore: false,
    assignments: [{ id: next.id, labelerId: "ada", status: "pending" }],
    done: 1,
    skipped: 0,
    medianSeconds: 20,
  });
  await t.pawl.people.deactivateQueue(open);
  expect(await ada("GET", "/desk")).toMatchObject({ body: { queues: [{ name: open, active: false }] } });
});

test("the form comes in the order in which its schema was written, and instructions outlive a change of the queue", async () => {
  const properties = { urgency: { type: "integer" }, mood: { type: "string" }, a: { type: "boolean" } } as const;
  const name = await newQueue(t, { label: { type: "object", properties }, instructions: "Look twice." });
  await t.pawl.people.updateQueue(name, { overlap: 2 });
  const shown = await t.pawl.people.queue(name);
  expect(shown).toMatchObject({ overlap: 2, instructions: "Look twice." });
  expect(Object.keys(shown.labelSchema.properties as object)).toEqual(["urgency", "mood", "a"]);
});

test("what is done is counted from the moment that is asked for", async () => {
  const ada = await asking({ name: "cleo", role: "labeler" });
  const queue = await newQueue(t, { samples: 1 });
  await t.pawl.people.submit((await started(t, queue, "cleo")).id, "cleo", cat);
  await t.advance("2h");
  const deskSince = (ago: number) => ada("GET", `/desk?since=${new Date(t.now().getTime() - ago).toISOString()}`);
  const mine = { name: queue, done: 1, medianSeconds: 0 };
  const holding = (one: object) => ({ body: { queues: expect.arrayContaining([expect.objectContaining(one)]) } });
  expect(await deskSince(3 * 3_600_000)).toMatchObject(holding(mine));
  expect(await deskSince(60_000)).toMatchObject(holding({ ...mine, done: 0, medianSeconds: null }));
  expect(await ada("GET", "/desk?since=yesterday")).toMatchObject({ status: 400, body: { code: "option_invalid" } });
});

test("a labeler sees and writes nothing of another's, and an admin says for whom he looks", async () => {
  const queue = await newQueue(t, { samples: 2, finishWithin: "10m" });
  const { id } = await started(t, queue, "dora");
  const dora = await asking({ name: "dora", role: "labeler" });
  const emil = await asking({ name: "emil", role: "labeler" });
  const admin = await asking({ name: "root", role: "admin" });
  const viewer = await asking({ name: "eve", role: "viewer" });
  const paths = [`/desk/assignments/${id}`, `/assignments/${id}/draft`];

  for (const path of paths) {
    expect(await emil("GET", path)).toMatchObject({ status: 404, body: { code: "assignment_unknown" } });
    expect(await emil("GET", `${path}?labeler=dora`)).toMatchObject({ status: 403, body: { code: "not_allowed" } });
    expect(await viewer("GET", path)).toMatchObject({ status: 403 });
    expect(await dora("GET", path)).toMatchObject({ status: 200 });
    expect(await admin("GET", `${path}?labeler=dora`)).toMatchObject({ status: 200 });
  }
  expect(await emil("PUT", `/assignments/${id}/draft`, { draft: 1 })).toMatchObject({ status: 404 });
  expect(await emil("GET", "/desk?labeler=dora")).toMatchObject({ status: 403 });
  expect(await admin("GET", "/desk")).toMatchObject({
    status: 400,
    body: { detail: "GET /api/desk needs `labeler`." },
  });
  expect(await admin("GET", "/desk?labeler=dora")).toMatchObject({
    body: { labeler: "dora", queues: expect.arrayContaining([expect.objectContaining({ name: queue })]) },
  });
});

test("a draft is kept while its assignment is in hand, stays when that expires, and goes with the label", async () => {
  const queue = await newQueue(t, { samples: 2, finishWithin: "10m" });
  const fay = await asking({ name: "fay", role: "labeler" });
  const keep = (id: string, draft: unknown) => fay("PUT", `/assignments/${id}/draft`, { draft });
  const draftOf = (id: string) => fay("GET", `/assignments/${id}/draft`);

  const { id } = await started(t, queue, "fay");
  expect(await draftOf(id)).toEqual({ status: 200, body: null });
  await keep(id, { category: "cat" });
  expect(await keep(id, { category: "dog" })).toMatchObject({ status: 200, body: { value: { category: "dog" } } });
  expect(await fay("GET", `/desk/assignments/${id}`)).toMatchObject({
    body: { sample: { key: "s1" }, draft: { value: { category: "dog" } }, revises: null },
  });
  expect(await keep(id, "x".repeat(300_000))).toMatchObject({ status: 422, body: { code: "value_not_serializable" } });
  expect(await keep(id, null)).toMatchObject({ status: 400 });

  await t.advance("11m");
  expect(await draftOf(id)).toMatchObject({ body: { value: { category: "dog" } } });
  const refused = { status: 409, body: { detail: expect.stringContaining("is expired: drafts are saved only") } };
  expect(await keep(id, { category: "cow" })).toMatchObject(refused);

  const before = await countDrafts();
  const second = await started(t, queue, "fay");
  await keep(second.id, { category: "cat" });
  await t.pawl.people.submit(second.id, "fay", cat);
  expect(await draftOf(second.id)).toEqual({ status: 200, body: null });
  const third = await started(t, queue, "fay");
  await keep(third.id, { category: "cat" });
  await t.pawl.people.skip(third.id, "fay");
  expect(await countDrafts()).toBe(before);
});

test("who is to correct a label sees it, and what the lead said", async () => {
  const queue = await newQueue(t, { samples: 1, review: true });
  const { id } = await started(t, queue, "gil");
  const { label } = await t.pawl.people.submit(id, "gil", cat);
  await t.pawl.people.reject(label.id, { actor: "lea", comment: "It barks." });
  const revision = await given(t, queue, "gil");
  const gil = await asking({ name: "gil", role: "labeler" });
  expect(await gil("GET", `/desk/assignments/${revision.id}`)).toMatchObject({
    body: { revises: { value: cat, comment: "It barks.", reviewedBy: "lea" } },
  });
});

test("a label that its queue does not take is refused with what is wrong at each place", async () => {
  const queue = await newQueue(t, { samples: 1 });
  const { id } = await started(t, queue, "hal");
  const hal = await asking({ name: "hal", role: "labeler" });
  expect(await hal("POST", `/assignments/${id}/submit`, { label: { category: "emu" } })).toMatchObject({
    status: 422,
    body: { code: "label_invalid", faults: [{ path: "/category", code: "enum", message: expect.any(String) }] },
  });
});

onPostgres("drafts on a server", () => {
  test("a draft that is written while its label is handed in does not outlive it, and neither waits for ever", async () => {
    const server = await testPawl({ lifecycles: [], server: process.env.PAWL_TEST_POSTGRES_URL! });
    const queue = await newQueue(server, { samples: 20 });
    const labelers = Array.from({ length: 20 }, (_, index) => `l${index}`);
    await Promise.all(
      labelers.map(async (labeler) => {
        const { id } = await started(server, queue, labeler);
        const drafts = [1, 2, 3].map((draft) => server.pawl.people.saveDraft(id, labeler, draft));
        const label = server.pawl.people.submit(id, labeler, cat);
        const written = await Promise.allSettled([...drafts, server.pawl.people.saveDraft(id, labeler, 4)]);
        for (const one of written)
          if (one.status === "rejected") expect(one.reason).toMatchObject({ code: "invalid_transition" });
        expect(await label).toMatchObject({ late: false });
        expect(await server.pawl.people.draft(id, labeler)).toBeNull();
      }),
    );
    await server.close();
  });
});
