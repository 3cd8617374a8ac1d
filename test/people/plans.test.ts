import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openOn } from "../../src/api/open/create.ts";
import { settleRest } from "../../src/people/review/settle.ts";
import { newPostgresStore, type TestStore } from "../../src/testing/stores.ts";
import { type ExplainedDb, openExplained } from "../support/statements/explained-db.ts";

const label = { type: "object", properties: { ok: { type: "boolean" } } } as const;
const ok = { ok: true };

/** Every hot statement of people, really run, one by one and many at once. */
async function everyHotStatement(db: ExplainedDb): Promise<void> {
  const { pawl, kernel } = await openOn(db, { lifecycles: [] });
  const { people } = pawl;
  const name = `q-${kernel.newId()}`;
  await people.createQueue(name, { label, overlap: 2, review: true });
  db.plans();
  await people.addMany(
    name,
    Array.from({ length: 20 }, (_, index) => ({ key: `s${index}`, data: {} })),
  );
  const labelers = Array.from({ length: 30 }, (_, index) => `l${index}`);
  const given = await Promise.all(labelers.map((one) => people.next(name, one)));
  await Promise.all(given.map((one, index) => people.start(one.assignment!.id, labelers[index]!)));
  const submitted = await Promise.all(
    given.slice(0, 20).map((one, index) => people.submit(one.assignment!.id, labelers[index]!, ok)),
  );
  await Promise.all(given.slice(20, 25).map((one, index) => people.skip(one.assignment!.id, labelers[20 + index]!)));
  await people.extend(given[25]!.assignment!.id, labelers[25]!);
  await people.release(given[26]!.assignment!.id, { actor: "lead" });
  await people.accept(submitted[0]!.label.id, { actor: "lead" });
  await people.reject(submitted[1]!.label.id, { actor: "lead" });
  await people.checkExpired(name);
  await people.next(name, "l1");
  await people.next(name, "nobody-yet");
  await people.sample({ queue: name, key: "s1" });
  await people.samples(name, { limit: 5 });
  await people.samples(name, { limit: 5, state: "open" });
  await people.assignments(name, { limit: 5, labeler: "l1" });
  await people.labels(name, { limit: 5 });
  await people.metrics(name);
  await people.desk("l1");
  await people.saveDraft(given[27]!.assignment!.id, labelers[27]!, ok);
  await people.deskWork(given[27]!.assignment!.id, labelers[27]!);
  await people.queueStats();
  for (const queue of [name, "busy"]) {
    await people.samples(queue, { limit: 5 });
    await people.assignments(queue, { limit: 5 });
    await people.labels(queue, { limit: 5 });
    await people.labels(queue, { limit: 5, late: true });
    await people.exportLabels(queue).next();
  }
  // The labeler who has done the first thirty thousand of a queue with as many more.
  await people.next("busy", "ada");
  await people.next("busy", "ada");
  await settleRest(kernel);
}

/** Small and bounded by what is declared, not by how much work there is. */
const mayBeScanned = ["migrations", "lifecycles", "edges", "counts", "queues", "labelers"];

function sequentialScans(plans: readonly string[]): string[] {
  return plans.flatMap((plan) => {
    const scans = [...plan.matchAll(/Seq Scan on (\w+)/g)].map((match) => match[1]!);
    const stray = scans.filter((table) => !mayBeScanned.includes(table));
    const place = plan.search(/Seq Scan on/);
    return stray.length === 0 ? [] : [`${stray.join(", ")}: …${plan.slice(place - 400, place + 300)}…`];
  });
}

/** A page that is found by going through those of all queues, or of all states. */
function strayWalks(plans: readonly string[]): string[] {
  return plans.filter((plan) => /Scan Backward using \w+_pkey on (?:samples|assignments|labels|instances)/.test(plan));
}

const server = process.env.PAWL_TEST_POSTGRES_URL;
const tables = ["instances", "journal", "timers", "samples", "slots", "assignments", "labels", "labeler_hours"];

describe.skipIf(server === undefined)("no statement that people wait for reads a table from end to end", () => {
  let store: TestStore;
  beforeAll(async () => {
    store = await newPostgresStore(server!);
    // Statistics are what this test says they are.
    for (const table of tables) await store.db.script(`alter table pawl.${table} set (autovacuum_enabled = off)`);
    const { pawl } = await openOn({ ...shared(store), close: async () => {} }, { lifecycles: [] });
    await pawl.people.createQueue("busy", { label, overlap: 2 });
  });
  afterAll(() => store.dispose());

  async function holds(): Promise<void> {
    for (const planning of ["force_custom_plan", "force_generic_plan"] as const) {
      const db = await openExplained(store.url!, planning);
      try {
        await everyHotStatement(db);
        const plans = db.plans();
        expect(sequentialScans(plans)).toEqual([]);
        expect(strayWalks(plans)).toEqual([]);
      } finally {
        await db.close();
      }
    }
  }

  test("on small tables without statistics", holds);
  test("on tens of thousands of rows whose statistics say that there are few", async () => {
    await store.db.script("analyze");
    await store.db.script(many);
    await holds();
  }, 120_000);
  test("on tens of thousands of rows with fresh statistics", async () => {
    await store.db.script("analyze");
    await holds();
  }, 120_000);
});

function shared({ db }: TestStore) {
  return {
    kind: db.kind,
    rows: db.rows.bind(db),
    transaction: db.transaction.bind(db),
    script: db.script.bind(db),
  } as typeof db;
}

/** 60,000 samples with a slot open each; ada has labeled the first half. Past the triggers, for time's sake. */
const many = `
  set session_replication_role = replica;
  create temp table fresh as
  select n, ('0' || lpad(to_hex(n), 7, '0') || '-0000-7000-8000-000000000000')::uuid as id,
    ('1' || lpad(to_hex(n), 7, '0') || '-0000-7000-8000-000000000000')::uuid as assignment_id
  from generate_series(1, 60000) as n;
  insert into pawl.instances (id, lifecycle, definition, state, shelf, version, visit, data, created_at, moved_at)
  select id, 'pawl_sample', 1, 'open', 'open', 1, 1, '{"queue": "busy", "content": 1, "agreementWanted": null, "review": false, "isGold": false}', now(), now() from fresh;
  insert into pawl.samples (id, queue, needs, filled, spare, created_at)
  select id, 'busy', 2, case when n <= 30000 then 1 else 0 end, 3, now() from fresh;
  insert into pawl.slots (sample_id, no, queue, open_in, rank, assignment_id, filled)
  select id, 1, 'busy', null, 0, assignment_id, true from fresh where n <= 30000
  union all select id, 2, 'busy', 'busy', 0, null, false from fresh
  union all select id, 1, 'busy', 'busy', 0, null, false from fresh where n > 30000;
  insert into pawl.assignments (id, queue, sample_id, slot, labeler, status, try, attempts, label_id, created_at, started_at, completed_at)
  select assignment_id, 'busy', id, 1, 'ada', 'completed', 1, 1, assignment_id, now(), now(), now() from fresh where n <= 30000;
  insert into pawl.labels (id, assignment_id, sample_id, slot, queue, labeler, value, at)
  select assignment_id, assignment_id, id, 1, 'busy', 'ada', '{"ok": true}', now() from fresh where n <= 30000;
  drop table fresh;
  set session_replication_role = origin;`;
