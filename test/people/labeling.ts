import type { Assignment, Next, RunTimeQueue, Submitted } from "pawl";
import { expect } from "vitest";
import { assignment as assignmentLifecycle } from "../../src/people/lifecycle/assignment.ts";
import { sample as sampleLifecycle } from "../../src/people/lifecycle/sample.ts";
import { sql } from "../../src/store/port/db.ts";
import type { TestClock } from "../../src/testing/clock.ts";
import type { TestPawl } from "../../src/testing/test-pawl.ts";

const label = {
  type: "object",
  properties: { category: { enum: ["cat", "dog", "cow"] } },
  required: ["category"],
  additionalProperties: false,
} as const;

export const cat = { category: "cat" };
export const dog = { category: "dog" };
export const cow = { category: "cow" };

let queues = 0;

/** A queue of its own with so many samples in it, called s1, s2 and so on. */
export async function newQueue(
  t: TestPawl,
  settings: Partial<RunTimeQueue> & { samples?: number } = {},
): Promise<string> {
  const { samples = 1, ...rest } = settings;
  const name = `queue-${++queues}`;
  await t.pawl.people.createQueue(name, { label, ...rest });
  const added = Array.from({ length: samples }, (_, index) => ({
    key: `s${index + 1}`,
    data: { picture: index + 1 },
  }));
  await t.pawl.people.addMany(name, added);
  return name;
}

/** What `next` gives, which must be something. */
export async function given(t: TestPawl, queue: string, labeler: string): Promise<Assignment> {
  return (await something(t.pawl.people.next(queue, labeler))).assignment;
}

/** The same, with the sample's key. */
export async function givenSample(t: TestPawl, queue: string, labeler: string): Promise<string | null> {
  return (await something(t.pawl.people.next(queue, labeler))).sample.key;
}

async function something(next: Promise<Next>): Promise<Extract<Next, { sample: unknown }>> {
  const answer = await next;
  if (answer.assignment === null) throw new Error(`Nothing was given: ${answer.why.sentence}`);
  return answer;
}

export async function started(t: TestPawl, queue: string, labeler: string): Promise<Assignment> {
  const { id } = await given(t, queue, labeler);
  return t.pawl.people.start(id, labeler);
}

/** A label by this labeler for what comes next. */
export async function labeled(t: TestPawl, queue: string, labeler: string, value: unknown = cat): Promise<Submitted> {
  const { id } = await started(t, queue, labeler);
  return t.pawl.people.submit(id, labeler, value);
}

/** Why nothing is given. */
export async function whyNothing(t: TestPawl, queue: string, labeler: string) {
  const answer = await t.pawl.people.next(queue, labeler);
  if (answer.assignment !== null) throw new Error(`Something was given: ${JSON.stringify(answer)}`);
  return answer.why;
}

/** In which state the samples of a queue are, by key. */
export async function sampleStates(t: TestPawl, queue: string): Promise<Record<string, string>> {
  const rows = await t.db.rows<{ key: string; state: string }>(sql`
    select instance.key, instance.state from pawl.samples as sample
    join pawl.instances as instance on instance.id = sample.id
    where sample.queue = ${queue} order by sample.id`);
  return Object.fromEntries(rows.map(({ key, state }) => [key.slice(queue.length + 1), state]));
}

/** The moves of an assignment, as `event: from > to by actor`. */
export async function movesOf(t: TestPawl, id: string): Promise<string[]> {
  const moves = await t.pawl.journal(assignmentLifecycle, { id });
  return moves.map((move) => `${move.event}: ${move.from ?? ""} > ${move.to} by ${move.actor ?? move.source}`);
}

export function sampleOf(t: TestPawl, queue: string, key: string) {
  return t.pawl.get(sampleLifecycle, `${queue}/${key}`);
}

/** Moves the clock without any maintenance: what is due is found by whoever comes. */
export async function moveClock(t: TestPawl, ms: number): Promise<void> {
  await (t.kernel.clock as TestClock).set(t.now().getTime() + ms);
}

/** What must be so after whatever happened: `pawl verify` finds nothing, and the sums are those of the assignments. */
export async function expectSound(t: TestPawl): Promise<void> {
  expect(await t.pawl.inspect.verify()).toEqual([]);
  expect(await wrongSums(t)).toEqual([]);
}

/** Labelers whose hours do not add up to their assignments. */
async function wrongSums(t: TestPawl): Promise<unknown[]> {
  return t.db.rows(sql`
    select queue, labeler, h.*, a.*
    from (
      select queue, labeler, sum(given)::int as given, sum(completed)::int as completed, sum(skipped)::int as skipped,
        sum(expired)::int as expired, sum(attempts)::int as attempts, sum(started)::int as started
      from pawl.labeler_hours group by queue, labeler
    ) as h
    full join (
      select queue, labeler, count(*)::int as given, (count(*) filter (where status = 'completed'))::int as completed,
        (count(*) filter (where status = 'skipped'))::int as skipped, (count(*) filter (where status = 'expired'))::int as expired,
        sum(attempts)::int as attempts, count(started_at)::int as started
      from pawl.assignments group by queue, labeler
    ) as a using (queue, labeler)
    where (h.given, h.completed, h.skipped, h.expired, h.attempts, h.started)
      is distinct from (a.given, a.completed, a.skipped, a.expired, a.attempts, a.started)`);
}
