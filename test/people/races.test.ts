import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sql } from "../../src/store/port/db.ts";
import { type TestPawl, testPawl } from "../../src/testing/test-pawl.ts";
import { Random, repeat, seed } from "../faults/harm/random.ts";
import { eachStore } from "../support/each-store.ts";
import { openSecondProcess } from "../support/second-process.ts";
import { cat, expectSound, given, moveClock, movesOf, newQueue, sampleStates, started } from "./labeling.ts";

/** With `PAWL_TEST_LABELING=10000` the races and the crowd are as large as that. */
const asked = Number(process.env.PAWL_TEST_LABELING ?? 0);
const server = process.env.PAWL_TEST_POSTGRES_URL;

eachStore((store) => {
  let t: TestPawl;
  beforeAll(async () => {
    t = await store.open({ lifecycles: [] });
  });
  afterAll(() => t.close());

  test("R121 the four ways of an assignment: started and completed, not completed unstarted, skipped, expired", async () => {
    const name = await newQueue(t, { samples: 3 });
    const one = await given(t, name, "a");
    await expect(t.pawl.people.submit(one.id, "a", cat)).rejects.toMatchObject({
      code: "invalid_transition",
      details: { from: "pending", to: "completed" },
    });
    const begun = await t.pawl.people.start(one.id, "a");
    expect(begun).toMatchObject({ status: "in_progress", startedAt: t.now(), deadlineAt: expect.any(Date) });
    expect((await t.pawl.people.submit(one.id, "a", cat)).assignment).toMatchObject({
      status: "completed",
      completedAt: t.now(),
    });
    const two = await started(t, name, "b");
    expect(await t.pawl.people.skip(two.id, "b", { reason: "bad image" })).toMatchObject({
      status: "skipped",
      skipReason: "bad image",
    });
    const three = await started(t, name, "c");
    await moveClock(t, 3_600_000);
    expect(await t.pawl.people.checkExpired(name)).toMatchObject([{ id: three.id, status: "expired" }]);
  });

  test("R121 of a label and an expiry at the same time exactly one happens, and a label that came second is kept", async () => {
    const races = Math.max(asked, store.kind === "postgres" ? 250 : 60);
    const other = await openSecondProcess(t, []);
    const name = await newQueue(t, { samples: races });
    const labelers = Array.from({ length: races }, (_, index) => `l${index}`);
    const assignments = await Promise.all(labelers.map((labeler) => started(t, name, labeler)));
    let completed = 0;
    for (let from = 0; from < races; from += 50) {
      const outcomes = await Promise.all(
        assignments.slice(from, from + 50).map(async ({ id, labelerId }, index) => {
          const label = () => (index % 2 === 0 ? t : other).pawl.people.submit(id, labelerId, cat);
          const expire = () => other.pawl.people.release(id, { actor: "lead" });
          const both = index % 3 === 0 ? [expire(), label()] : [label(), expire()];
          const [one, two] = await Promise.allSettled(both);
          return [id, ...(index % 3 === 0 ? [two, one] : [one, two])] as const;
        }),
      );
      for (const [id, labeled, expired] of outcomes) {
        const { status } = await t.pawl.people.assignment(id);
        if (status === "completed") {
          expect(labeled).toMatchObject({ status: "fulfilled", value: { late: false } });
          expect(expired).toMatchObject({ status: "rejected", reason: { code: "invalid_transition" } });
          completed += 1;
        } else {
          expect(status).toBe("expired");
          expect(expired).toMatchObject({ status: "fulfilled" });
          expect(labeled).toMatchObject({ status: "fulfilled", value: { late: true, label: { value: cat } } });
        }
      }
    }
    const states = Object.values(await sampleStates(t, name));
    expect(states.filter((state) => state === "agreed")).toHaveLength(completed);
    const [kept] = await t.db.rows<{ labels: number; late: number }>(sql`
      select count(*)::int as labels, (count(*) filter (where late))::int as late from pawl.labels where queue = ${name}`);
    expect(kept).toEqual({ labels: races, late: races - completed });
    await expectSound(t);
    await other.close();
  });

  test("R121 of a label and a deadline that passes at the same time exactly one happens", async () => {
    const races = store.kind === "postgres" ? 60 : 20;
    const other = await openSecondProcess(t, []);
    for (let race = 0; race < races; race++) {
      const name = await newQueue(t, { finishWithin: "1m" });
      const { id } = await started(t, name, "ada");
      const passes = async () => {
        await moveClock(t, 60_000);
        return other.pawl.people.checkExpired(name);
      };
      const labels = () => t.pawl.people.submit(id, "ada", cat);
      // Which of them comes first is up to the database.
      const first = race % 2 === 0 ? labels() : undefined;
      const passing = passes();
      const [labeled, expired] = await Promise.all([first ?? labels(), passing]);
      const { status } = await t.pawl.people.assignment(id);
      expect(["completed", "expired"]).toContain(status);
      expect(labeled.late).toBe(status === "expired");
      expect(expired.every((one) => one.id === id && one.status === "expired")).toBe(true);
      if (status === "completed") expect(expired).toEqual([]);
      const ends = (await movesOf(t, id)).filter((move) => /> (?:completed|expired) /.test(move));
      expect(ends).toHaveLength(1);
      expect(await sampleStates(t, name)).toEqual({ s1: status === "completed" ? "agreed" : "open" });
    }
    await expectSound(t);
    await other.close();
  });

  test("two windows of one labeler do not get more than fits on the desk", async () => {
    const other = await openSecondProcess(t, []);
    const name = await newQueue(t, { samples: 40, overlap: 2 });
    const labelers = Array.from({ length: 20 }, (_, index) => `twice-${index}`);
    const both = await Promise.all(
      labelers.flatMap((one) => [t.pawl.people.next(name, one), other.pawl.people.next(name, one)]),
    );
    for (let index = 0; index < both.length; index += 2) {
      expect(both[index]!.assignment!.id).toBe(both[index + 1]!.assignment!.id);
    }
    await expectSound(t);
    await other.close();
  });
});

describe.skipIf(server === undefined)("many labelers at once, of whom some vanish and some are late", () => {
  test("R122 never more than one at a slot, nobody twice at a sample, and every sample ends with three labels or a reason", async () => {
    const samples = Math.max(asked, 300);
    const t = await testPawl({ lifecycles: [], server });
    const other = await openSecondProcess(t, []);
    const name = await newQueue(t, {
      samples,
      overlap: 3,
      maxAttemptsTotal: 6,
      startWithin: "5m",
      finishWithin: "10m",
    });
    const crowd = Array.from(
      { length: 64 },
      (_, index) => new Person(`person-${index}`, index % 2 === 0 ? t : other, index),
    );
    for (let round = 0; ; round++) {
      const did = await Promise.all(crowd.map((one) => one.act(name)));
      await moveClock(t, 60_000);
      // Now and then somebody looks after it, in one process or the other; in between, whoever comes finds what is due.
      if (round % 4 === 0) await other.pawl.people.checkExpired(name);
      if (round % 7 === 0) await t.maintain();
      if (did.every((one) => one === "nothing") && (await waiting(t, name)) === 0) break;
      expect(round, repeat).toBeLessThan(samples);
    }
    await t.maintain();
    const ends = await t.db.rows<{ state: string; labels: number; labelers: number; reason: string | null }>(sql`
      select instance.state, instance.data ->> 'reason' as reason, count(label.id)::int as labels, count(distinct label.labeler)::int as labelers
      from pawl.samples as sample
      join pawl.instances as instance on instance.id = sample.id
      left join pawl.slots as slot on slot.sample_id = sample.id and slot.filled
      left join pawl.labels as label on label.assignment_id = slot.assignment_id
      where sample.queue = ${name} group by instance.id`);
    expect(ends, repeat).toHaveLength(samples);
    for (const { state, labels, labelers, reason } of ends) {
      expect(labelers).toBe(labels);
      if (state === "agreed") expect(labels).toBe(3);
      else
        expect({ state, labels, reason }).toEqual({
          state: "exhausted",
          labels: expect.any(Number),
          reason: expect.any(String),
        });
    }
    expect(ends.filter((one) => one.state === "agreed").length).toBeGreaterThan(samples / 2);
    const { byStatus } = await t.pawl.people.metrics(name);
    expect(byStatus).toMatchObject({ pending: 0, in_progress: 0 });
    expect(byStatus.expired).toBeGreaterThan(0);
    await expectSound(t);
    await other.close();
    await t.close();
  }, 600_000);
});

async function waiting(t: TestPawl, queue: string): Promise<number> {
  const [row] = await t.db.rows<{ open: number }>(sql`
    select count(*)::int as open from pawl.samples where queue = ${queue} and open`);
  return row!.open;
}

/** Somebody who works most of the time, and now and then goes away for a while with a sample in hand. */
class Person {
  readonly #name: string;
  readonly #t: TestPawl;
  readonly #random: Random;
  #away = 0;
  #comesBackWith: string | undefined;

  constructor(name: string, t: TestPawl, place: number) {
    this.#name = name;
    this.#t = t;
    this.#random = new Random(seed + place);
  }

  async act(queue: string): Promise<"something" | "nothing"> {
    const { people } = this.#t.pawl;
    if (this.#away > 0) {
      this.#away -= 1;
      return "nothing";
    }
    if (this.#comesBackWith !== undefined) {
      const { late } = await people.submit(this.#comesBackWith, this.#name, cat);
      expect(late).toBe(true);
      this.#comesBackWith = undefined;
    }
    const { assignment } = await people.next(queue, this.#name);
    if (assignment === null) return "nothing";
    const { id } = assignment;
    if (this.#random.below(100) < 3) return this.#goAway(undefined); // With something that was not begun.
    if (assignment.status === "pending") await people.start(id, this.#name);
    const mood = this.#random.below(100);
    if (mood < 5) return this.#goAway(undefined);
    if (mood < 10) return this.#goAway(id);
    if (mood < 15) await people.skip(id, this.#name);
    else await people.submit(id, this.#name, cat);
    return "something";
  }

  #goAway(with_: string | undefined): "something" {
    this.#away = 12;
    this.#comesBackWith = with_;
    return "something";
  }
}
