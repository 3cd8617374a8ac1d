import { messageOf } from "../../base/errors.ts";
import type { TestBench } from "../test-bench.ts";
import type { TestPawl } from "../test-pawl.ts";
import type { Plan } from "./act.ts";
import { refuseDefinitionFaults, type Violation, violated } from "./check.ts";
import { type SeenMove, seenMoves } from "./coverage.ts";
import { perform } from "./perform.ts";
import { Problem, settled } from "./problem.ts";
import { withSeededRandom } from "./seeded-random.ts";
import type { Settings } from "./settings.ts";
import { effectsUntilDeath } from "./simulated-process.ts";
import { World } from "./world.ts";

/** What ended a run: an invariant that does not hold, or one of the user's functions. */
interface RunFailure {
  /** Null when it is not an invariant. */
  readonly invariant: string | null;
  readonly message: string;
  /** Runs with the same text here fail in the same way. */
  readonly about: string;
  /** Each repetition costs real time. */
  readonly isSlow: boolean;
  readonly cause: unknown;
}

/** The result of a run. */
export interface Run {
  readonly plan: Plan;
  readonly failure: RunFailure | undefined;
  readonly story: readonly string[];
  /** How many acts of its plan were done. */
  readonly acts: number;
  readonly moves: readonly SeenMove[];
}

/** Messages lead to further moves, and those to further messages: so often at most. */
const maxRelays = 20;
/** Longer than a dead relay keeps others from sending. */
const relayPauseMs = 60_000;

/** Runs a plan from its first act to its last, and lets the world come to rest. `enter` gets the world of the run. */
export async function runPlan(
  bench: TestBench,
  settings: Settings,
  plan: Plan,
  enter: (world: World) => void,
): Promise<Run> {
  await bench.reset();
  const world = new World(bench, settings, plan);
  enter(world);
  settings.effects.clear();
  settings.effects.observe(
    effectsUntilDeath(({ name, about }, isRepeat) => {
      const what = `\`${name}\`${about === null ? "" : ` for ${about}`}`;
      world.story.add(
        isRepeat ? `The known key keeps the effect ${what} from happening again.` : `The effect ${what} happens.`,
      );
    }),
  );
  let acts = 0;
  const whole = async (): Promise<RunFailure | undefined> => {
    await prepare(settings);
    await world.boot();
    for (const act of plan.acts) {
      acts += 1;
      await perform(world, act);
      const found = await readWorld(world, false);
      if (found !== undefined) return violationFailure(found);
    }
    await comeToRest(world);
    const found = await readWorld(world, true);
    if (found !== undefined) return violationFailure(found);
    await refuseDefinitionFaults(world);
    return undefined;
  };
  const random = world.dice.stream("random");
  const failure = await withSeededRandom(random, () => whole().catch(problemFailure));
  try {
    const moves = failure === undefined ? await world.look(seenMoves) : [];
    return { plan, failure, story: world.story.lines, acts, moves };
  } finally {
    settings.effects.observe(undefined);
    world.end();
  }
}

async function prepare({ beforeEach, timeoutMs }: Settings): Promise<void> {
  if (beforeEach === undefined) return;
  try {
    await settled(timeoutMs, "`beforeEach` of `simulate`", beforeEach);
  } catch (error) {
    if (error instanceof Problem) throw error;
    throw new Problem("beforeEach", `\`beforeEach\` of \`simulate\` threw: ${messageOf(error)}`, { cause: error });
  }
}

async function readWorld(world: World, atRest: boolean): Promise<Violation | undefined> {
  await world.see();
  return violated(world, atRest);
}

/** No more acts; everything that happens by itself happens. Planned faults still occur, each once. */
async function comeToRest(world: World): Promise<void> {
  const { settings } = world;
  world.story.add("No more acts follow; all work settles.");
  const settleDown = async (t: TestPawl) => {
    await t.settle(settings.settleMs);
    if (settings.pawl.outbox === undefined) return;
    for (let relays = 0, idle = 0; relays < maxRelays && idle < 2; relays++) {
      const sent = await t.relay();
      idle = sent.length === 0 ? idle + 1 : 0;
      await t.advance(relayPauseMs);
      await t.settle(settings.settleMs);
    }
  };
  while ((await world.attempt(settleDown)) === undefined);
}

function violationFailure({ invariant, message }: Violation): RunFailure {
  return { invariant, message, about: `invariant ${invariant}`, isSlow: false, cause: undefined };
}

function problemFailure(error: unknown): RunFailure {
  if (error instanceof Problem) {
    const { about, message, isSlow, cause } = error;
    return { invariant: null, message, about, isSlow, cause };
  }
  const message = messageOf(error);
  return { invariant: null, message, about: "an error", isSlow: false, cause: error };
}
