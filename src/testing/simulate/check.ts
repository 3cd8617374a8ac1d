import { messageOf } from "../../base/errors.ts";
import { shown } from "../../definition/read/fault.ts";
import { Problem, settled } from "./problem.ts";
import type { World } from "./world.ts";

/** An invariant that does not hold. */
export interface Violation {
  readonly invariant: string;
  readonly message: string;
}

/** Asks the invariants, in their order; the first that is violated. */
export async function violated(world: World, atRest: boolean): Promise<Violation | undefined> {
  const { settings } = world;
  const instances = Object.fromEntries(
    [...settings.lifecycles.keys()].map((name) => [
      name,
      world.instances.filter(({ lifecycle }) => lifecycle.name === name).map(({ instance }) => instance),
    ]),
  );
  for (const [invariant, check] of settings.invariants) {
    const message = await world.look((t) =>
      objection(world, invariant, () => check({ instances, effects: settings.effects, atRest, pawl: t.pawl })),
    );
    if (message !== undefined) return { invariant, message: world.story.withNames(message) };
  }
  return undefined;
}

/** What an invariant has to say against the world; undefined when it holds. */
async function objection(world: World, invariant: string, check: () => unknown): Promise<string | undefined> {
  const what = invariant === "invariant" ? "The invariant" : `The invariant "${invariant}"`;
  let answer: unknown;
  try {
    answer = await settled(world.settings.timeoutMs, what, check);
  } catch (error) {
    if (error instanceof Problem) throw error;
    return messageOf(error);
  }
  if (answer === undefined || answer === null || answer === true) return undefined;
  if (answer === false) return "it is false";
  if (typeof answer === "string" && answer !== "") return answer;
  const message = `${what} returned ${shown(answer)}. Return true, or return false or a string with the problem, or throw.`;
  throw new Problem(what, message);
}

/** Of more open instances the rest is not asked. */
const mostAsked = 50;

/** A step that did what its own definition does not allow: its instance stays where it is, for as long as both are as they are. */
export async function refuseDefinitionFaults(world: World): Promise<void> {
  const open = world.instances.filter(({ instance }) => instance.outcome === null).slice(0, mostAsked);
  for (const { id, name, lifecycle, instance } of open) {
    const { stuck } = await world.look((t) => t.pawl.explain(lifecycle, { id }));
    if (stuck?.reason !== "definition_fault") continue;
    const about = `the step of \`${lifecycle.name}/${instance.state}\``;
    throw new Problem(about, `${name} is stuck in ${instance.state}: ${stuck.sentence}`);
  }
}
