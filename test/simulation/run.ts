import type { TestStore } from "../../src/testing/stores.ts";
import { check } from "./checks/check.ts";
import type { Finding } from "./checks/finding.ts";
import { histories } from "./checks/histories.ts";
import type { Plan } from "./plan/plan.ts";
import { perform } from "./world/acts.ts";
import { comeToRest } from "./world/quiescence.ts";
import { Livelock } from "./world/simulated-database.ts";
import { World } from "./world/world.ts";

/** What one run came to. */
export interface Run {
  readonly plan: Plan;
  readonly findings: readonly Finding[];
  readonly story: readonly string[];
  /** The features that each instance has met. */
  readonly met: readonly ReadonlySet<string>[];
  readonly statements: number;
  readonly moves: number;
  readonly faults: number;
}

/** Runs a plan from its first act to its last, lets everything come to rest, and checks what is left. */
export async function run(plan: Plan, borrow: () => Promise<TestStore>): Promise<Run> {
  const store = await borrow();
  const world = await World.open(plan, store);
  const restore = world.time.install();
  const listeners = process.listeners("unhandledRejection");
  const onRejection = (reason: unknown) => world.unhandled.push(reason);
  process.removeAllListeners("unhandledRejection").on("unhandledRejection", onRejection);
  try {
    const findings = await findingsOf(world).catch((error: unknown): Finding[] => {
      if (!(error instanceof Livelock)) throw error;
      return [{ invariant: "I9", message: error.message }];
    });
    const moves = await world.moves();
    if (findings.length > 0) world.story.push(...(await histories(world, findings)));
    for (const { process: one } of world.slots) one.kill();
    await world.database.settle();
    const { story, faults, database } = world;
    return { plan, findings, story, met: metIn(world), statements: database.statements, moves, faults };
  } finally {
    restore();
    process.removeListener("unhandledRejection", onRejection);
    for (const listener of listeners) process.on("unhandledRejection", listener);
    await store.dispose();
  }
}

async function findingsOf(world: World): Promise<Finding[]> {
  await world.boot();
  for (const [at, act] of world.plan.acts.entries()) await perform(world, act, at);
  return [...(await comeToRest(world)), ...(await check(world))];
}

/** What was at work for each instance, with what was at work for all. */
function metIn({ used, usedBy }: World): Set<string>[] {
  return [...usedBy.values()].map((own) => new Set([...own, ...used]));
}
