import type { Assignment, Next, RunTimeQueue, Submitted } from "pawl";
import { expect } from "vitest";
import { assignment as assignmentLifecycle } from "../../src/people/assignment.ts";
import { sample as sampleLifecycle } from "../../src/people/sample.ts";
import { sql } from "../../src/store/db.ts";
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

/** What must be so after whatever happened; `pawl verify` finds nothing either. */
export async function expectSound(t: TestPawl): Promise<void> {
  expect(await faultsOf(t)).toEqual([]);
  expect(await t.pawl.verify()).toEqual([]);
}

/** Where the rows beside the instances do not say what they say, or where something overshoots or is stranded. */
export async function faultsOf(t: TestPawl): Promise<string[]> {
  const faults = await t.db.rows<{ fault: string }>(sql`
    select 'assignment ' || a.id || ' is ' || a.status || ', its instance ' || i.state as fault
    from pawl.assignments as a left join pawl.instances as i on i.id = a.id where i.state is distinct from a.status
    union all
    select 'slot ' || s.sample_id || '/' || s.no || ' is held by ' || s.assignment_id || ', which is ' || coalesce(a.status, 'nowhere')
    from pawl.slots as s left join pawl.assignments as a on a.id = s.assignment_id
    where s.assignment_id is not null and (a.id is null or a.sample_id <> s.sample_id or a.slot <> s.no
      or (s.filled and a.status <> 'completed') or (not s.filled and a.status not in ('pending', 'in_progress')))
    union all
    select 'open assignment ' || a.id || ' has no slot'
    from pawl.assignments as a where a.desk is not null
      and not exists (select from pawl.slots as s where s.sample_id = a.sample_id and s.no = a.slot and s.assignment_id = a.id)
    union all
    select 'sample ' || p.id || ' counts ' || p.filled || ' filled and ' || p.spent || ' spent of ' || p.needs || ', and has '
      || s.filled || ' and ' || s.spent || ' of ' || s.slots
    from pawl.samples as p
    cross join lateral (
      select count(*) as slots, count(*) filter (where filled) as filled,
        count(*) filter (where open_in is null and assignment_id is null) as spent
      from pawl.slots where sample_id = p.id
    ) as s
    where (p.needs, p.filled, p.spent) is distinct from (s.slots::int, s.filled::int, s.spent::int)
    union all
    select 'sample ' || p.id || ' is ' || i.state || ' and says open ' || p.open
    from pawl.samples as p join pawl.instances as i on i.id = p.id where (i.state = 'open') <> p.open
    union all
    select 'sample ' || p.id || ' is over and has an open slot'
    from pawl.samples as p join pawl.slots as s on s.sample_id = p.id where not p.open and s.open_in is not null
    union all
    select 'labeler ' || labeler || ' has labeled ' || sample_id || ' twice' from (
      select l.labeler, l.sample_id from pawl.labels as l
      join pawl.slots as s on s.sample_id = l.sample_id and s.assignment_id = l.assignment_id and s.filled
      group by l.labeler, l.sample_id having count(*) > 1
    ) as twice
    union all
    select 'completed assignment ' || a.id || ' has no label' from pawl.assignments as a
    where a.status = 'completed' and not exists (select from pawl.labels as l where l.id = a.label_id and l.assignment_id = a.id)
    union all
    select 'sample ' || p.id || ' is open, and nothing is to be done about it' from pawl.samples as p
    where p.open and p.filled + p.spent >= p.needs and p.changes = p.settled
      and not exists (select from pawl.labels as l where l.sample_id = p.id and l.review is null)
    union all
    select 'hours of ' || h.queue || '/' || h.labeler || ' do not add up' from (
      select queue, labeler, sum(given) as given, sum(completed) as completed, sum(skipped) as skipped, sum(expired) as expired,
        sum(attempts) as attempts, sum(started) as started
      from pawl.labeler_hours group by queue, labeler
    ) as h
    join (
      select queue, labeler, count(*) as given, count(*) filter (where status = 'completed') as completed,
        count(*) filter (where status = 'skipped') as skipped, count(*) filter (where status = 'expired') as expired,
        sum(attempts) as attempts, count(started_at) as started
      from pawl.assignments group by queue, labeler
    ) as a using (queue, labeler)
    where (h.given, h.completed, h.skipped, h.expired, h.attempts, h.started)
      is distinct from (a.given, a.completed, a.skipped, a.expired, a.attempts, a.started)`);
  return faults.map((one) => one.fault);
}
