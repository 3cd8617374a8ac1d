import { PawlError } from "../base/errors.ts";
import type { LifecycleModel } from "../definition/model.ts";
import type { Asked } from "../definition/question.ts";
import type { AnyQueue } from "../definition/queue.ts";

/** The queues that a process declares: those that it lists, and those that its lifecycles ask. */
export function declaredQueues(listed: readonly AnyQueue[], lifecycles: readonly LifecycleModel[]): AnyQueue[] {
  const queues = new Map(listed.map((one) => [one.name, one]));
  for (const lifecycle of lifecycles) {
    for (const state of lifecycle.states.values()) {
      const queue = state.kind === "ask" ? (state.ask as Asked).queue : undefined;
      if (queue === undefined) continue;
      if ((queues.get(queue.name) ?? queue) !== queue) {
        throw new PawlError(
          "option_invalid",
          `\`${lifecycle.name}\` asks another queue \`${queue.name}\` than the one declared under that name. Use one value for both.`,
          { lifecycle: lifecycle.name, queue: queue.name },
        );
      }
      queues.set(queue.name, queue);
    }
  }
  return [...queues.values()];
}
