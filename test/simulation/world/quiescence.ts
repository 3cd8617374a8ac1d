import { sql } from "../../../src/store/port/db.ts";
import type { Finding } from "../checks/check.ts";
import { canaryName } from "../code/names.ts";
import { resumeAll } from "./acts.ts";
import type { World } from "./world.ts";

/** Longer than any timeout, deadline or pause of a plan. */
const farAheadMs = 20 * 86_400_000;
const mostRounds = 400;

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
  await resumeAll(world, world.dice.for("rest"));
  for (const { process } of world.slots) {
    const call = world.begin(process, (pawl) => pawl.breakers.force("dependency", null, { actor: "ada" }));
    await world.answered([call]);
  }
  const findings = await tryCanary(world);
  const endMs = world.time.nowMs + farAheadMs;
  for (let round = 0; round < mostRounds && world.time.nowMs < endMs; round++) {
    const { busy, next_ms } = await left(world);
    if (busy > 0) {
      await world.pass(11_000);
      continue;
    }
    if (next_ms === null) return findings;
    await world.jump(Math.max(1, next_ms - world.database.nowMs + 1));
  }
  const { busy } = await left(world);
  if (busy > 0)
    findings.push({ invariant: "rest", message: `${busy} tasks are still ready or running after the last round` });
  return findings;
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
          (select min(due_at) from pawl.tasks where due_at > pawl.now()),
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
           ))
        )) as next_ms`),
  );
  return row!;
}
