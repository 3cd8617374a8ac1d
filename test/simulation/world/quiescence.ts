import type { AnyLifecycle, Pawl } from "pawl";
import { maxRefusals } from "../../../src/kernel/move/release-failures.ts";
import { sql } from "../../../src/store/port/db.ts";
import type { Dice } from "../../../src/testing/dice.ts";
import { seenInTables } from "../checks/coverage.ts";
import type { Finding } from "../checks/finding.ts";
import { unpruned } from "../checks/pruned.ts";
import { canaryName } from "../code/names.ts";
import { labelers } from "../plan/plan.ts";
import { resumeAll } from "./acts.ts";
import type { World } from "./world.ts";

/** Longer than any timeout, deadline or pause of a plan. */
const farAheadMs = 20 * 86_400_000;
const mostRounds = 400;
/** Longer than any step runs. */
const mostBusyMs = 45 * 60_000;
/** Longer than a sweep for what is to be deleted rests. */
const pruneMs = 300_000;
const tellMs = 60_000;

interface Left {
  /** Steps and effects that are ready or running. */
  readonly busy: number;
  /** When something is due next, by the database's clock. */
  readonly next_ms: number | null;
}

/**
 * Nothing goes wrong any more, and time moves far ahead: everything that can happen by itself happens. A new instance must
 * come through as well, since a worker that no longer works leaves everything else waiting.
 */
export async function comeToRest(world: World): Promise<Finding[]> {
  await world.heal();
  world.tell("all faults end");
  world.opened("its breaker");
  const dice = world.dice.for("rest");
  await resumeAll(world, dice);
  for (const { process } of world.slots) {
    const call = world.begin(process, (pawl) => pawl.breakers.force("dependency", null, { actor: "ada" }));
    await world.answered([call]);
  }
  const findings = [...(await tryCanary(world)), ...(await untilNothingIsDue(world))];
  // Where something goes on for ever, it would be waited for again and again.
  if (findings.length > 0) return findings;
  // In some worlds others do what is left to them, in the rest of them it stays open.
  if (dice.chance("answers", 0.7)) {
    for (let round = 0; round < 5 && (await answerAll(world, dice.for(`answers ${round}`))) > 0; round++)
      findings.push(...(await untilNothingIsDue(world)));
  }
  for (const { feature, name } of await world.database.check(seenInTables)) world.note(feature, name);
  if (dice.chance("prune", 0.5)) {
    await world.jump(2 * farAheadMs);
    await world.pass(pruneMs);
    findings.push(...(await world.database.check((db) => unpruned(world, db))));
  }
  // What has just been written is told.
  await world.pass(tellMs);
  return findings;
}

/** Everything that can happen by itself happens, each at its own time. */
async function untilNothingIsDue(world: World): Promise<Finding[]> {
  const endMs = world.time.nowMs + farAheadMs;
  let busyMs = 0;
  for (let round = 0; round < mostRounds && world.time.nowMs < endMs && busyMs < mostBusyMs; round++) {
    const { busy, next_ms } = await left(world);
    if (busy > 0) {
      await world.pass(11_000);
      busyMs += 11_000;
      continue;
    }
    busyMs = 0;
    if (next_ms === null) return [];
    await world.jump(Math.max(1, next_ms - world.database.nowMs + 1));
  }
  const { busy, next_ms } = await left(world);
  if (busy === 0 && (next_ms === null || world.time.nowMs >= endMs)) return [];
  const due =
    next_ms === null
      ? "nothing is due"
      : `something is due in ${Math.round((next_ms - world.database.nowMs) / 1_000)} s`;
  return [{ invariant: "rest", message: `${busy} tasks are still ready or running after the last round, and ${due}` }];
}

/** People label, decide about dead letters and send what is waited for. Returns how much that was. */
async function answerAll(world: World, dice: Dice): Promise<number> {
  const { process } = world.slots[0]!;
  let answers = 0;
  const call = world.begin(process, async (pawl) => {
    // All or none: letters of one moment are in no order that a seed could repeat.
    const letters = dice.chance("requeue", 0.5) ? await pawl.deadLetters.list({ limit: 100 }) : [];
    for (const { id } of letters) {
      await pawl.deadLetters.requeue(id, { actor: "ada" });
      world.note("letter: requeue");
      answers++;
    }
    for (const late of await pawl.callbacks.list({ late: true, status: "kept", limit: 5 })) {
      await pawl.callbacks.acceptLate(late.id, { actor: "ada" });
      answers++;
    }
    for (const { name, stages } of world.plan.lifecycles.filter((one) => !one.isChild)) {
      const of = world.lifecycleAt(process, name);
      for (const [at, { name: state, kind }] of stages.entries()) {
        if (kind === "callback") await receiveLate(pawl, of, `c${at}`);
        if (kind !== "waiting" && kind !== "callback") continue;
        for (const { key } of await pawl.list(of, { state } as never)) {
          const sent = await pawl.trySend(of, key!, `e${at}` as never);
          if (sent.ok) answers++;
        }
      }
    }
    for (const labeler of labelers) {
      await pawl.people.upsertLabeler({ id: labeler, active: true });
      for (let count = 0; count < 20; count++) {
        const { assignment } = await pawl.people.next("opinions", labeler);
        if (assignment === null || assignment === undefined) break;
        await pawl.people.start(assignment.id, labeler);
        await pawl.people.submit(assignment.id, labeler, { good: dice.chance(`${labeler} ${count}`, 0.6) });
        answers++;
      }
    }
  });
  await world.answered([call]);
  return answers;
}

/** A service answers those that its answer comes too late for. */
async function receiveLate(pawl: Pawl, of: AnyLifecycle, event: string): Promise<void> {
  for (const { id, key } of await pawl.list(of, { state: "failed" } as never))
    await pawl
      .receive(of, key!, event as never, { value: 2 } as never, { dedupeKey: `late ${event} ${id}` })
      .catch(() => {});
}

async function tryCanary(world: World): Promise<Finding[]> {
  const { process } = world.slots[0]!;
  const call = world.begin(process, async (pawl) => {
    const of = world.lifecycleAt(process, canaryName);
    await pawl.start(of, { key: "canary", data: { name: "canary" } } as never);
  });
  await world.answered([call]);
  for (let tries = 0; tries < 20; tries++) {
    await world.pass(31_000);
    if ((await world.standing("canary"))?.closed) return [];
  }
  return [{ invariant: "I9", message: "a job that was started after the last fault was not done within ten minutes" }];
}

async function left(world: World): Promise<Left> {
  const [row] = await world.database.check((db) =>
    db.rows<Left>(sql`
      select (
          select count(*)::int from pawl.tasks where due_at is null or due_at <= pawl.now()
        ) + (select count(*)::int from pawl.checks) as busy,
        pawl.ms(least(
          (select min(next_due_at) from pawl.instances where next_due_at > pawl.now()),
          (select min(task.due_at) from pawl.tasks as task
           left join lateral (
             select attempt.detail ->> 'reason' as reason from pawl.attempts as attempt
             where attempt.instance_id = task.instance_id and attempt.task_id = task.id
               and attempt.what in ('failed', 'lapsed', 'released', 'deferred')
             order by coalesce(attempt.position, 0) desc, attempt.token desc limit 1
           ) as last on true
           -- A step that contradicts its definition is tried again until another definition is deployed; people know of it.
           where task.due_at > pawl.now() and last.reason is distinct from 'definition'),
          (select min(leased_until) from pawl.tasks where leased_until > pawl.now()),
          (select min(next_attempt_at) from pawl.messages
           where status = 'pending' and next_attempt_at > pawl.now() and next_attempt_at < 'infinity'),
          (select min(due_at) from pawl.alerts where due_at > pawl.now()),
          (select min(release.due_at) from pawl.releases as release
           where release.due_at > pawl.now() and exists (
             select from pawl.instances as instance
             where instance.lifecycle = release.lifecycle and instance.shelf = release.state
               and not exists (
                 select from pawl.dead_letters as letter where letter.instance_id = instance.id and letter.status = 'open'
               )
               -- People know of those that go on refusing, and of those that are not released any more.
               and not exists (
                 select from pawl.release_failures as failure
                 where failure.instance_id = instance.id and (failure.retry_at is null or failure.what = 'refused' and failure.attempts >= ${maxRefusals})
               )
           ))
        )) as next_ms`),
  );
  return row!;
}
