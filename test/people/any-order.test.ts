import fc from "fast-check";
import { isPawlError } from "pawl";
import { afterAll, beforeAll, test } from "vitest";
import { sql } from "../../src/store/port/db.ts";
import type { TestPawl } from "../../src/testing/test-pawl.ts";
import { eachStore } from "../support/each-store.ts";
import { cat, cow, dog, expectSound, moveClock, newQueue } from "./labeling.ts";

/** Something that somebody does: numbers stand for whichever assignment, label or sample there is at the time. */
const doing = fc.oneof(
  { weight: 6, arbitrary: fc.record({ verb: fc.constant("next" as const), who: fc.nat(4) }) },
  { weight: 5, arbitrary: fc.record({ verb: fc.constant("start" as const), which: fc.nat(20), who: fc.nat(9) }) },
  {
    weight: 6,
    arbitrary: fc.record({ verb: fc.constant("submit" as const), which: fc.nat(20), who: fc.nat(9), label: fc.nat(3) }),
  },
  { weight: 2, arbitrary: fc.record({ verb: fc.constant("skip" as const), which: fc.nat(20), who: fc.nat(9) }) },
  { weight: 1, arbitrary: fc.record({ verb: fc.constant("extend" as const), which: fc.nat(20), who: fc.nat(9) }) },
  { weight: 1, arbitrary: fc.record({ verb: fc.constant("release" as const), which: fc.nat(20) }) },
  { weight: 2, arbitrary: fc.record({ verb: fc.constant("wait" as const), minutes: fc.constantFrom(1, 6, 61) }) },
  { weight: 1, arbitrary: fc.record({ verb: fc.constant("sweep" as const) }) },
  { weight: 1, arbitrary: fc.record({ verb: fc.constant("accept" as const), which: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ verb: fc.constant("reject" as const), which: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ verb: fc.constant("reopen" as const), which: fc.nat(5), attempts: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.record({ verb: fc.constant("close" as const), which: fc.nat(5) }) },
  {
    weight: 1,
    arbitrary: fc.record({ verb: fc.constant("change" as const), labelers: fc.boolean(), active: fc.boolean() }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ verb: fc.constant("labeler" as const), who: fc.nat(4), active: fc.boolean() }),
  },
);
type Doing = typeof doing extends fc.Arbitrary<infer T> ? T : never;

const settings = fc.record({
  overlap: fc.integer({ min: 1, max: 3 }),
  maxAttemptsTotal: fc.integer({ min: 3, max: 5 }),
  maxAttemptsPerLabeler: fc.integer({ min: 1, max: 2 }),
  reassignExpired: fc.boolean(),
  reassignSkipped: fc.boolean(),
  review: fc.boolean(),
  concurrency: fc.integer({ min: 1, max: 2 }),
  order: fc.constantFrom("oldest" as const, "priority" as const, "least_labeled" as const),
});

const people = ["ada", "ben", "cem", "dan", "eve"];
const labels = [cat, dog, cow, { category: "fish" }];

eachStore((store) => {
  let t: TestPawl;
  beforeAll(async () => {
    t = await store.open({ lifecycles: [] });
  });
  afterAll(() => t.close());

  async function idsOf(
    table: "assignments" | "labels" | "samples",
    queue: string,
  ): Promise<{ id: string; who: string }[]> {
    const statements = {
      assignments: sql`select id::text as id, labeler as who from pawl.assignments where queue = ${queue} order by id desc`,
      labels: sql`select id::text as id, labeler as who from pawl.labels where queue = ${queue} order by id desc`,
      samples: sql`select id::text as id, '' as who from pawl.samples where queue = ${queue} order by id desc`,
    };
    return t.db.rows(statements[table]);
  }

  async function act(queue: string, one: Doing): Promise<unknown> {
    const verbs = t.pawl.people;
    const lead = { actor: "lea" };
    if (one.verb === "next") return verbs.next(queue, people[one.who]!);
    if (one.verb === "wait") return moveClock(t, one.minutes * 60_000);
    if (one.verb === "sweep") return t.maintain();
    if (one.verb === "change") {
      await verbs.updateQueue(queue, { labelers: one.labelers ? people : people.slice(0, 4) });
      return one.active ? verbs.activateQueue(queue) : verbs.deactivateQueue(queue);
    }
    if (one.verb === "labeler") return verbs.upsertLabeler({ id: people[one.who]!, active: one.active });
    const table = { accept: "labels", reject: "labels", reopen: "samples", close: "samples" } as const;
    const known = await idsOf(table[one.verb as keyof typeof table] ?? "assignments", queue);
    if (known.length === 0) return undefined;
    const { id, who } = known[one.which % known.length]!;
    // Mostly the one whose it is, now and then somebody else.
    const labeler = "who" in one && one.who < 2 ? people[one.who]! : who;
    switch (one.verb) {
      case "start":
        return verbs.start(id, labeler);
      case "submit":
        return verbs.submit(id, labeler, labels[one.label]);
      case "skip":
        return verbs.skip(id, labeler);
      case "extend":
        return verbs.extend(id, labeler);
      case "release":
        return verbs.release(id, lead);
      case "accept":
        return verbs.accept(id, lead);
      case "reject":
        return verbs.reject(id, lead);
      case "reopen":
        return verbs.reopen(id, { ...lead, attempts: one.attempts });
      default:
        return verbs.close(id, lead);
    }
  }

  const runs = Number(process.env.PAWL_TEST_RUNS ?? 5);

  test("whatever people do in whatever order, nothing overshoots, nothing is stranded, and everything adds up", async () => {
    await fc.assert(
      fc.asyncProperty(settings, fc.array(doing, { minLength: 10, maxLength: 45 }), async (given, list) => {
        const queue = await newQueue(t, { ...given, samples: 3, agreement: { atLeast: 0.6, maxOverlap: 4 } });
        for (const one of list) {
          await act(queue, one).catch((error: unknown) => {
            // Whatever is refused is refused to who asked for it; anything else is a fault of ours.
            if (!isPawlError(error) || error.fault !== "request") throw error;
          });
          await expectSound(t);
        }
        await t.maintain();
        await expectSound(t);
      }),
      { numRuns: runs, endOnFailure: true },
    );
  }, 120_000);
});
