import { messageOf } from "../../base/errors.ts";
import { PermanentError, TransientError } from "../../base/step-errors.ts";
import type { AnyLifecycle } from "../../definition/language/public-types.ts";
import { quotedValue } from "../../definition/read/fault.ts";
import { never } from "../killable-db.ts";
import { interrupt } from "./calls.ts";
import { Problem, settled } from "./problem.ts";
import type { StepFault, World } from "./world.ts";

type Handler = (step: unknown) => unknown;

/** The parts of a step that are used here. */
interface RunningStep {
  readonly id: string;
  readonly key: string | null;
  readonly parent: { readonly lifecycle: string; readonly id: string } | null;
  readonly attempt: number;
}

/**
 * Fakes for the steps of all lifecycles: each calls the real step, or the user's own fake, and applies the faults that
 * the run has planned for it.
 */
export function simulatedSteps(
  lifecycles: readonly AnyLifecycle[],
  fakes: Readonly<Record<string, Handler | undefined>>,
  world: () => World,
): Record<string, (step: RunningStep) => unknown> {
  const steps = lifecycles.flatMap(({ name, states }) =>
    [...states.values()].flatMap((state): [string, (step: RunningStep) => unknown][] => {
      if (state.run === undefined) return [];
      const handler = fakes[`${name}/${state.name}`] ?? (state.run as Handler);
      return [
        [`${name}/${state.name}`, (step) => runStep(world(), { lifecycle: name, state: state.name, handler }, step)],
      ];
    }),
  );
  return Object.fromEntries(steps);
}

async function runStep(
  world: World,
  { lifecycle, state, handler }: { readonly lifecycle: string; readonly state: string; readonly handler: Handler },
  step: RunningStep,
): Promise<unknown> {
  const name = world.story.nameOf({ id: step.id, lifecycle, key: step.key, parent: step.parent });
  const attempt = step.attempt > 1 ? ` (attempt ${step.attempt})` : "";
  world.story.add(`A worker runs \`${state}\` of ${name}${attempt}.`);
  const mishap = world.nextMishap();
  if (mishap?.when === "before") await applyFault(world, mishap, step.id);
  const place = `The step of \`${lifecycle}/${state}\``;
  let returned: unknown;
  try {
    returned = await settled(world.settings.timeoutMs, place, () => handler(step));
  } catch (error) {
    if (error instanceof Problem) return stop(world, error);
    world.story.add(`It throws: ${messageOf(error)}`);
    throw error;
  }
  if (!isReturnable(returned)) {
    const message = `${place} returned ${quotedValue(returned)}. Return step.go(…), step.retryLater(…), step.giveUp(…) or nothing.`;
    return stop(world, new Problem(place, message));
  }
  if (mishap?.when === "after") await applyFault(world, mishap, step.id);
  return returned;
}

/** The run has ended, so the result is not awaited. */
function stop(world: World, problem: Problem): Promise<never> {
  world.stop(problem);
  return never();
}

const ends: readonly unknown[] = ["go", "retry_later", "give_up"];

function isReturnable(returned: unknown): boolean {
  if (returned === undefined || returned === null) return true;
  return typeof returned === "object" && ends.includes((returned as { kind?: unknown }).kind);
}

const failure = "a simulated failure";
/** A worker that stalls is late by more than a moment. */
const marginMs = 1_000;

async function applyFault(world: World, { kind, when, dice }: StepFault, id: string): Promise<void> {
  const moment = when === "before" ? "before it begins" : "after it has done its work";
  switch (kind) {
    case "fail":
      world.story.add(`It fails ${moment}.`);
      throw new TransientError(failure);
    case "failPermanently":
      world.story.add(`It fails ${moment}, with an error that is not retried.`);
      throw new PermanentError(failure);
    case "stall":
      world.story.add(`Its worker stalls ${moment}, for longer than its lease. Another one takes over.`);
      await world.inParallel(async (t) => {
        await t.advance(world.settings.leaseMs + marginMs);
        await t.work();
      });
      world.story.add("The first worker continues its step.");
      return;
    default:
      await interrupt(world, dice, id, `${moment},`);
  }
}
