import { createPawl, crowd, job, lifecycle, type Pawl, queue, schedule, type Worker } from "pawl";
import { httpApp } from "pawl/http";
import { memoryMarketplace } from "pawl/testing";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { z } from "zod";
import { sql } from "../../src/store/port/db.ts";
import { newPostgresStore, type TestStore } from "../../src/testing/stores.ts";
import { Random, repeat, seed } from "../faults/harm/random.ts";
import { onPostgres } from "../setup/suites.ts";
import { type HostileRequest, hostileRequest, type Targets } from "./hostile-request.ts";

/** Requests of each role. */
const size = Number(process.env.PAWL_TEST_HOSTILE ?? 170);
const concurrency = 8;
/** As the guide has them, which `rights.test.ts` compares with the routes. */
const rightsOf = {
  stranger: [],
  viewer: ["read"],
  labeler: ["label"],
  service: ["read", "send"],
  operator: ["read", "send", "operate"],
  admin: ["read", "send", "operate", "label", "administer"],
} as const;
type Caller = keyof typeof rightsOf;
const callers = Object.keys(rightsOf) as Caller[];

const essay = lifecycle("essay", {
  data: z.object({ text: z.string() }),
  initial: "written",
  states: { written: { forever: true, on: { graded: "scored" } }, scored: { final: "success" } },
});
const mail = job("mail", { run: () => {} });
const lost = job("lost", {
  retry: { maxAttempts: 1, backoff: () => 0 },
  run: () => {
    throw new Error("the address is unknown");
  },
});
/** No request names it: its steps are what must go on. */
const errand = lifecycle("errand", {
  initial: "running",
  states: { running: { run: () => {}, on: { ran: "done" } }, done: { final: "success" } },
});
const nightly = schedule("nightly", { cron: "30 3 * * *", timezone: "UTC", start: mail });
const pictures = queue("pictures", {
  label: z.object({ animal: z.enum(["cat", "dog"]) }),
  startWithin: "30d",
  finishWithin: "30d",
});
const receipts = crowd("receipts", { label: z.object({ total: z.number() }), marketplace: "here" });
const canary = "nobody-else-reads-this";

onPostgres("hostile requests", () => {
  let store: TestStore;
  let pawl: Pawl;
  let worker: Worker;
  let targets: Targets;
  const secrets = new Map<Caller, string>();

  beforeAll(async () => {
    store = await newPostgresStore(process.env.PAWL_TEST_POSTGRES_URL!);
    pawl = await createPawl({
      database: store.url,
      lifecycles: [essay, mail, lost, errand],
      schedules: [nightly],
      queues: [pictures],
      crowds: [receipts],
      marketplaces: { here: memoryMarketplace() },
      breakers: { llm: {} },
      logger: false,
    });
    worker = pawl.work({ concurrency: 4 });
    for (const role of callers) {
      if (role === "stranger") continue;
      secrets.set(role, (await pawl.access.createToken({ name: `the-${role}`, role })).secret);
    }
    targets = await fill();
  });
  afterAll(async () => {
    await worker?.stop();
    await pawl?.close();
    await store?.dispose();
  });

  async function fill(): Promise<Targets> {
    const { people } = pawl;
    const essays = await Promise.all(
      ["e1", "e2", "e3"].map(async (key) => pawl.start(essay, { key, data: { text: canary } })),
    );
    await people.addMany(pictures, [
      { key: "p1", data: canary },
      ...Array.from({ length: 20 }, (_, index) => ({ key: `q${index}`, data: index })),
    ]);
    const given = async (labeler: string) =>
      ((await people.next(pictures, labeler)) as { assignment: { id: string } }).assignment.id;
    const [others, own] = [await given("bob"), await given("the-labeler")];
    const sample = await people.sample({ queue: "pictures", key: "p1" });
    const asked = await pawl.crowd.ask(receipts, { key: "r1", content: { image: "r.png" } });
    const { id: died } = await pawl.enqueue(lost);
    const letter = await vi.waitFor(
      async () => {
        const [first] = await pawl.deadLetters.list();
        if (first === undefined) throw new Error("There is no dead letter yet.");
        return first;
      },
      { timeout: 60_000 },
    );
    const unknown = "0190a000-0000-7000-8000-000000000000";
    return {
      idsAt: {
        instances: [...essays.map(({ id }) => id), sample.id],
        assignments: [others, own],
        desk: [others, own],
        samples: [sample.id],
        "crowd-jobs": [asked.id],
        "dead-letters": [letter.id],
        tickets: [letter.id],
        jobs: [died],
      },
      ids: [...essays.map(({ id }) => id), others, own, sample.id, asked.id, died, letter.id, unknown],
      named: {
        lifecycle: "essay",
        key: "e1",
        lane: "essay",
        job: "mail",
        breaker: "llm",
        schedule: "nightly",
        queue: "pictures",
        crowd: "receipts",
        marketplace: "here",
        state: "written",
        event: "graded",
        labeler: "the-labeler",
        to: "the-labeler",
        data: { text: "plain" },
        payload: {},
        dedupeKey: "the same",
        label: { animal: "cat" },
        samples: [{ data: 1, key: "q1" }],
        definition: { label: { type: "object" } },
        content: { image: "r.png" },
        reason: "because",
        role: "viewer",
        limit: 2,
        version: 1,
      },
    };
  }

  /** What each right alone may change, as it stands. */
  async function standing(): Promise<Record<string, string>> {
    const [row] = await store.db.rows<Record<string, string>>(sql`
      select
        (select string_agg(concat_ws(' ', id, kind, role, labeler), ',' order by id) from pawl.access_tokens
          where kind <> 'session') as administer,
        concat_ws('; ',
          (select string_agg(concat_ws(' ', id, resumed_at), ',' order by id) from pawl.pauses),
          (select string_agg(concat_ws(' ', name, active, settings), ',' order by name) from pawl.queues),
          (select string_agg(concat_ws(' ', name, paused_at, paused_by), ',' order by name) from pawl.schedules),
          (select string_agg(concat_ws(' ', name, forced, actor), ',' order by name) from pawl.breakers
            where forced is not null),
          (select string_agg(labeler::text, ',' order by labeler::text) from pawl.labelers as labeler where id <> 'the-labeler'),
          (select string_agg(operation::text, ',' order by operation::text) from pawl.operations as operation),
          (select string_agg(ticket::text, ',' order by ticket::text) from pawl.tickets as ticket),
          (select string_agg(letter::text, ',' order by letter::text) from pawl.dead_letters as letter),
          (select string_agg(concat_ws(' ', id, status, label_id), ',' order by id) from pawl.assignments
            where labeler <> 'the-labeler')) as operate,
        concat_ws('; ',
          (select string_agg(concat_ws(' ', id, status, label_id), ',' order by id) from pawl.assignments
            where labeler = 'the-labeler'),
          (select string_agg(label::text, ',' order by label::text) from pawl.labels as label),
          (select string_agg(draft::text, ',' order by draft::text) from pawl.drafts as draft)) as label,
        concat_ws('; ',
          (select string_agg(concat_ws(' ', id, state, version), ',' order by id) from pawl.instances
            where lifecycle in ('essay', 'mail', 'lost')),
          (select string_agg(id::text, ',' order by id) from pawl.samples),
          (select string_agg(id::text, ',' order by id) from pawl.callbacks)) as send`);
    return row!;
  }

  interface Move {
    readonly lifecycle: string;
    readonly event: string;
    readonly actor: string | null;
  }

  /** What callers have moved after a version of the whole. */
  function movesSince(at: string): Promise<Move[]> {
    return store.db.rows<Move>(sql`
      select lifecycle, event, actor from pawl.journal
      where at > ${at}::timestamptz and source = 'call' and lifecycle <> 'errand'`);
  }

  async function now(): Promise<string> {
    const [row] = await store.db.rows<{ now: string }>(sql`select pawl.now()::text as now`);
    return row!.now;
  }

  interface Answer {
    readonly status: number;
    readonly code: string;
    readonly text: string;
    readonly retryAfter: string | null;
  }

  async function ask(app: ReturnType<typeof httpApp>, { path, init }: HostileRequest): Promise<Answer> {
    const response = await app.request(path, init);
    const retryAfter = response.headers.get("retry-after");
    const type = response.headers.get("content-type") ?? "";
    if (type.startsWith("text/event-stream")) {
      await response.body?.cancel();
      return { status: response.status, code: "stream", text: "", retryAfter };
    }
    const text = await response.text();
    const code = type.includes("problem+json") && text !== "" ? (JSON.parse(text) as { code: string }).code : "none";
    return { status: response.status, code, text, retryAfter };
  }

  /** No answer tells of a fault of Pawl, or that the database refused what no check had refused before. */
  function isFault({ status, code }: Answer): boolean {
    return status >= 500 && !["wait_timeout", "not_available", "busy"].includes(code);
  }

  function described(caller: Caller, { path, init }: HostileRequest, { status, text }: Answer): string {
    const headers = [...(init.headers as Headers)].filter(([name]) => name !== "authorization");
    const body = String(init.body ?? "").slice(0, 400);
    return `${caller} ${init.method} ${path.slice(0, 400)} ${JSON.stringify(headers)} ${body}: ${status} ${text.slice(0, 300)}`;
  }

  const figures: Record<string, number> = {};
  const errands: string[] = [];

  test.each(callers)(
    "a hostile %s exceeds no right, breaks nothing, and steps go on meanwhile",
    async (caller) => {
      const app = httpApp(pawl, { limits: false });
      const random = new Random(seed + callers.indexOf(caller));
      const rights: readonly string[] = rightsOf[caller];
      const [before, from] = [await standing(), await now()];
      const faults: string[] = [];
      const exceeded: string[] = [];
      const one = async (request: HostileRequest): Promise<void> => {
        const answer = await ask(app, request);
        const figure = `${answer.status} ${answer.code}`;
        figures[figure] = (figures[figure] ?? 0) + 1;
        if (isFault(answer)) faults.push(described(caller, request, answer));
        const isGranted = request.needs === undefined || request.needs.some((right) => rights.includes(right));
        const isLeak =
          (answer.text.includes(canary) && !rights.includes("read")) ||
          (caller !== "admin" && /pawl_[\w-]{43}/.test(answer.text.replaceAll(/A{43}/g, "")));
        if ((!isGranted && answer.status < 400) || isLeak) exceeded.push(described(caller, request, answer));
      };
      for (let sent = 0; sent < size; sent += concurrency) {
        const key = `${caller}-${sent}`;
        errands.push(key);
        await pawl.start(errand, { key });
        const requests = Array.from({ length: Math.min(concurrency, size - sent) }, () =>
          hostileRequest(random, targets, secrets.get(caller)),
        );
        await Promise.all(requests.map(one));
      }
      expect(faults, repeat).toEqual([]);
      expect(exceeded, repeat).toEqual([]);
      const after = await standing();
      for (const [right, stood] of Object.entries(before)) {
        if (!rights.includes(right) && !rights.includes("administer") && !mayAlso(rights, right))
          expect(after[right], `${caller} changed what needs the right to ${right}. ${repeat}`).toBe(stood);
      }
      const moves = await movesSince(from);
      if (!rights.some((right) => right !== "read")) expect(moves, repeat).toEqual([]);
      for (const { event, actor } of moves) {
        if (caller === "labeler" || caller === "operator") expect(actor, repeat).toBe(`the-${caller}`);
        if (["recover", "restart", "discard", "fail"].includes(event))
          expect(rights, `${caller} sent ${event}. ${repeat}`).toContain("operate");
      }
    },
    60_000 + size * 200,
  );

  /** Operators release and review what labelers do. */
  function mayAlso(rights: readonly string[], right: string): boolean {
    return right === "label" && rights.includes("operate");
  }

  test("afterwards every step has run, nothing contradicts an invariant, and everybody is served", async () => {
    for (const key of errands) await pawl.wait(errand, key, { until: "done", timeout: "60s" });
    expect(await pawl.inspect.verify()).toEqual([]);
    const app = httpApp(pawl);
    const headers = { authorization: `Bearer ${secrets.get("viewer")!}` };
    expect((await app.request("/api/overview", { headers })).status).toBe(200);
    expect(Object.keys(figures).filter((figure) => figure.startsWith("5") && !figure.startsWith("504"))).toEqual([]);
    if (process.env.PAWL_TEST_HOSTILE !== undefined)
      console.info(`${size} requests of each role, seed ${seed}`, figures);
  }, 300_000);

  test("with limits on, what comes too often is answered 429 with when to try again", async () => {
    const app = httpApp(pawl);
    const random = new Random(seed);
    const requests = Array.from({ length: 300 }, () => hostileRequest(random, targets, secrets.get("viewer")));
    const answers = await Promise.all(requests.map(async (request) => ask(app, request)));
    expect(
      answers.flatMap((answer, index) => (isFault(answer) ? [described("viewer", requests[index]!, answer)] : [])),
      repeat,
    ).toEqual([]);
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThan(0);
    for (const { code, retryAfter } of refused) {
      expect(["rate_limited", "none"]).toContain(code); // The answer to a HEAD request has no body.
      expect(Number(retryAfter)).toBeGreaterThanOrEqual(1);
    }
  });
});
