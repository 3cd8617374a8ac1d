import { PawlError } from "../../base/errors.ts";
import type { AnyCrowd } from "../crowd.ts";
import type { AskedQuestion } from "../decide/question.ts";
import type { LifecycleModel } from "../model.ts";
import type { AnyQueue } from "../queue.ts";

interface Kinds {
  readonly queue: AnyQueue;
  readonly crowd: AnyCrowd;
}

/** The queues, or the crowds, that a process declares: those that it lists, and those that its lifecycles ask. */
export function declared<Kind extends keyof Kinds>(
  kind: Kind,
  listed: readonly Kinds[Kind][],
  lifecycles: readonly LifecycleModel[],
): Kinds[Kind][] {
  const known = new Map(listed.map((one) => [one.name, one]));
  for (const lifecycle of lifecycles) {
    for (const state of lifecycle.states.values()) {
      const asked = (state.kind === "ask" ? (state.ask as AskedQuestion)[kind] : undefined) as Kinds[Kind] | undefined;
      if (asked === undefined) continue;
      if ((known.get(asked.name) ?? asked) !== asked) {
        throw new PawlError(
          "option_invalid",
          `\`${lifecycle.name}\` asks another ${kind} \`${asked.name}\` than the one declared under that name. Use one value for both.`,
          { lifecycle: lifecycle.name, [kind]: asked.name },
        );
      }
      known.set(asked.name, asked);
    }
  }
  return [...known.values()];
}
