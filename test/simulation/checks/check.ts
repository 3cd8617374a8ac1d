import { type Violation, verify } from "../../../src/inspect/verify/verify.ts";
import { type Db, sql } from "../../../src/store/port/db.ts";
import { hooksTable } from "../code/names.ts";
import type { World } from "../world/world.ts";

/** Something that must not be, by the invariant that it breaks. */
export interface Finding {
  readonly invariant: Violation["invariant"] | "I5" | "I8" | "I9" | "I10" | "I11" | "rest";
  readonly message: string;
}

/** Everything that the tables say against themselves, against what was seen from outside, and against coming to rest. */
export async function check(world: World): Promise<Finding[]> {
  return world.database.check(async (db) => [
    ...(await verify(db)).map(({ invariant, instance, message }) => ({
      invariant,
      message: `${instance}: ${message}`,
    })),
    ...world.ledger.problems.map((message): Finding => ({ invariant: "I5", message })),
    ...world.unhandled.map(
      (error): Finding => ({ invariant: "I10", message: `unhandled: ${(error as Error)?.stack ?? String(error)}` }),
    ),
    ...(await wrongAnswers(world, db)),
    ...(await hooksAstray(db)),
    ...(await unexplained(world, db)),
  ]);
}

/** What callers were told is so: what was done left one trace, what was not done left none. */
async function wrongAnswers(world: World, db: Db): Promise<Finding[]> {
  const rows = await db.rows<{ mark: string; times: number }>(sql`
    select marked.mark, count(*)::int as times from (
      select actor as mark from pawl.journal where actor is not null and source <> 'callback'
      union all select actor from pawl.timers where actor is not null
      union all select dedupe from pawl.callbacks
    ) as marked group by marked.mark`);
  const traces = new Map(rows.map(({ mark, times }) => [mark, times]));
  const names = await db.rows<{ key: string }>(sql`select key from pawl.instances where key is not null`);
  const there = new Set(names.map(({ key }) => key));
  const found: Finding[] = [];
  for (const [mark, { what, name, answer }] of world.ledger.calls) {
    const times = traces.get(mark) ?? 0;
    const wrong = (message: string) =>
      found.push({ invariant: "I8", message: `${what} ${mark} of ${name}: ${message}` });
    if (times > 1) wrong(`it left ${times} traces`);
    if (answer === "not done" && times > 0) wrong("it was refused, and was carried out");
    if (answer !== "done") continue;
    if (what === "start" && !there.has(name)) {
      if (isPruned(world, name)) world.used.add("pruned");
      else wrong("it was started, and is not there");
    }
    if ((what === "send" || what === "callback") && times === 0 && there.has(name))
      wrong("it was done, and left no trace");
  }
  return found;
}

/** An instance whose lifecycle is deleted some time after its end may be gone, with all its traces. */
function isPruned({ plan, names }: World, name: string): boolean {
  return plan.lifecycles.find((one) => one.name === names.get(name))?.keepClosedDays !== undefined;
}

/** What a hook wrote is there if and only if its move is. */
async function hooksAstray(db: Db): Promise<Finding[]> {
  const rows = await db.rows<{ message: string }>({
    text: `
      select format('%s wrote %s times in its hook of %s, and left it %s times', hook.id, hook.times, hook.state, coalesce(move.times, 0)) as message
      from (select id, state, count(*) as times from ${hooksTable} group by id, state) as hook
      left join (
        select instance_id, from_state, count(*) as times from pawl.journal
        where event ~ '^[ec][0-9]|^joined$|^answered$|^unanswered$|^accept_late$' group by instance_id, from_state
      ) as move on move.instance_id = hook.id and move.from_state = hook.state
      where hook.times is distinct from move.times and exists (select from pawl.instances as instance where instance.id = hook.id)`,
    name: "",
    values: [],
  });
  return rows.map(({ message }) => ({ invariant: "I8", message }));
}

interface Open {
  readonly lifecycle: string;
  readonly key: string | null;
  readonly state: string;
  readonly since: string;
  /** What it waits for, as far as the tables tell. */
  readonly waits: string | null;
}

/** Open instances that nothing and nobody will move, and that nothing reports. */
async function unexplained({ plan }: World, db: Db): Promise<Finding[]> {
  const rows = await db.rows<Open>(sql`
    select instance.lifecycle, instance.key, instance.state, instance.moved_at::text as since, case
      when exists (
        select from pawl.dead_letters as letter
        where letter.instance_id = instance.id and (letter.status = 'open' or letter.status = 'discarded' and instance.state = 'failed')
      ) then 'a person decides, or has decided, about its dead letter'
      when instance.state = 'failed' and instance.child_outcome is not null then 'its parent was told that it failed'
      when exists (select from pawl.tasks as task where task.instance_id = instance.id) then 'a task'
      when instance.next_due_at is not null then 'a timer'
      when exists (select from pawl.release_failures as failure where failure.instance_id = instance.id)
        then 'a release that fails and is reported'
      when exists (
        select from pawl.instances as child
        where child.parent_id = instance.id and child.parent_run = instance.run
          and (child.child_outcome is null or child.child_outcome = 'failure')
      ) then 'a child'
      when exists (
        select from pawl.slots as slot join pawl.samples as sample on sample.id = slot.sample_id
        where sample.id = instance.id and sample.open
      ) then 'people'
      when exists (select from pawl.assignments as assignment where assignment.id = instance.id and assignment.desk is not null)
        then 'a labeler'
    end as waits
    from pawl.instances as instance where instance.closed_at is null order by instance.id`);
  return rows.flatMap(({ lifecycle, key, state, since, waits }): Finding[] => {
    const stage = plan.lifecycles.find((one) => one.name === lifecycle)?.stages.find((one) => one.name === state);
    if (waits !== null || stage?.kind === "waiting") return [];
    return [
      {
        invariant: "I11",
        message: `${lifecycle} "${key}" is in ${state} (${stage?.kind}) since ${since}, and nothing says why`,
      },
    ];
  });
}
