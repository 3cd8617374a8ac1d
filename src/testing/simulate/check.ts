import { messageOf } from "../../base/errors.ts";
import { quotedValue } from "../../definition/read/fault.ts";
import { Problem, settled } from "./problem.ts";
import type { World } from "./world.ts";

/** An invariant that does not hold. */
export interface Violation {
  readonly invariant: string;
  readonly message: string;
}

/** Checks the invariants in order; returns the first violation. */
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

/** The violation of an invariant in this world; undefined if it holds. */
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
  const message = `${what} returned ${quotedValue(answer)}. Return true, or return false or a string with the problem, or throw.`;
  throw new Problem(what, message);
}

/** If more instances are open, the rest is not checked. */
const maxAsked = 50;

/** A step that violates its own definition: its instance stays where it is until one of them changes. */
export async function refuseDefinitionFaults(world: World): Promise<void> {
  const open = world.instances.filter(({ instance }) => instance.outcome === null).slice(0, maxAsked);
  for (const { id, name, lifecycle, instance } of open) {
    const { stuck } = await world.look((t) => t.pawl.explain(lifecycle, { id }));
    if (stuck?.reason !== "definition_fault") continue;
    const about = `the step of \`${lifecycle.name}/${instance.state}\``;
    throw new Problem(about, `${name} is stuck in ${instance.state}: ${stuck.sentence}`);
  }
}
