import { verify } from "../../../src/inspect/verify/verify.ts";
import { type Db, sql } from "../../../src/store/port/db.ts";
import { hooksTable } from "../code/names.ts";
import type { World } from "../world/world.ts";
import { claimedWhileClosed, ratesExceeded } from "./bounds.ts";
import { undelivered } from "./deliveries.ts";
import { unexplained } from "./explained.ts";
import { childrenTold } from "./families.ts";
import type { Finding } from "./finding.ts";
import { samplesForgotten } from "./samples.ts";

/** Everything that the tables say against themselves, against what was seen from outside, and against coming to rest. */
export async function check(world: World): Promise<Finding[]> {
  const silent = await unexplained(world);
  return world.database.check(async (db) => [
    ...(await verify(db)).map(({ invariant, instance, message }) => ({
      invariant,
      message: `${instance}: ${message}`,
    })),
    ...world.ledger.problems,
    ...world.unhandled.map(
      (error): Finding => ({ invariant: "I10", message: `unhandled: ${(error as Error)?.stack ?? String(error)}` }),
    ),
    ...(await wrongAnswers(world, db)),
    ...(await inconsistentHooks(db)),
    ...(await definitionsSetBack(db)),
    ...(await ratesExceeded(db, world.plan)),
    ...(await claimedWhileClosed(db, world.plan, world.ledger.closures)),
    ...(await childrenTold(db, world.plan)),
    ...(await samplesForgotten(db)),
    ...(await undelivered(world, db)),
    ...(await effectsInExcess(world, db)),
    ...silent,
  ]);
}

/** What callers were told is so: what was done left one trace, what was not done left none. */
async function wrongAnswers(world: World, db: Db): Promise<Finding[]> {
  const rows = await db.rows<{ mark: string; times: number }>(sql`
    select marked.mark, count(*)::int as times from (
      select actor as mark from pawl.journal where actor is not null and source <> 'callback'
      union all select actor from pawl.timers where actor is not null
      -- A recovery whose reset comes first is asked for, and makes its move later.
      union all select asked.mark from (
        select distinct detail ->> 'actor' as mark from pawl.attempts where what = 'asked'
      ) as asked where not exists (select from pawl.journal as move where move.actor = asked.mark)
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
      if (isPruned(world, name)) world.note("pruned", name);
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

/** An instance that a newer definition has moved is never moved by an older one. */
async function definitionsSetBack(db: Db): Promise<Finding[]> {
  const rows = await db.rows<{ message: string }>(sql`
    select format('%s was moved by definition %s after %s', instance_id, definition, earlier) as message from (
      select instance_id, definition, max(definition) over (
        partition by instance_id order by version rows between unbounded preceding and 1 preceding
      ) as earlier from pawl.journal
    ) as move where definition < earlier`);
  return rows.map(({ message }) => ({ invariant: "I2", message }));
}

/** An after-effect is one task of its move: a second one would do it all again. */
async function effectsInExcess(world: World, db: Db): Promise<Finding[]> {
  const rows = await db.rows<{ id: string; lane: string; tasks: number; states: string[] }>(sql`
    select claim.instance_id::text as id, claim.lane, claim.tasks, array_agg(move.from_state) as states
    from (
      select instance_id, min(lane) as lane, count(distinct task_id)::int as tasks from pawl.attempts
      where what = 'claimed' and lane like '%:after' group by instance_id
    ) as claim
    join pawl.journal as move on move.instance_id = claim.instance_id and move.event ~ '^([ec][0-9]|joined|answered|unanswered|accept_late)'
    -- A requeue makes a task anew.
    where not exists (select from pawl.dead_letters as letter where letter.instance_id = claim.instance_id and letter.kind = 'effect')
    group by claim.instance_id, claim.lane, claim.tasks`);
  return rows.flatMap(({ id, lane, tasks, states }) => {
    const plan = world.plan.lifecycles.find(({ name }) => lane.startsWith(`${name}@`));
    const hooked = plan?.stages.filter(({ hooks }) => hooks.includes("after")).map(({ name }) => name) ?? [];
    // A late result is accepted in `failed`, and takes the edge of the state that waited for it.
    if (plan?.stages.some(({ kind, hooks }) => kind === "callback" && hooks.includes("after"))) hooked.push("failed");
    const moves = states.filter((state) => hooked.includes(state)).length;
    if (plan === undefined || tasks <= moves) return [];
    return [
      { invariant: "effects", message: `${id} ran ${tasks} after-effects, and made ${moves} moves that have one` },
    ];
  });
}

/** What a hook wrote is there if and only if its move is. */
async function inconsistentHooks(db: Db): Promise<Finding[]> {
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
