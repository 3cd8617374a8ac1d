import type { InstanceModel } from "../../definition/decide/instance.ts";
import { failed, type LifecycleModel } from "../../definition/model.ts";

/**
 * How an instance has ended as its parent counts it; null while it may still go on by itself. One that has failed goes on
 * as long as a recovery is to come.
 */
export function childOutcomeOf(
  lifecycle: LifecycleModel,
  instance: InstanceModel,
  recovers: boolean,
): InstanceModel["outcome"] {
  if (instance.outcome !== null) return instance.outcome;
  const isFailed = instance.state === failed && lifecycle.states.get(failed)?.builtIn === true;
  return isFailed && !recovers ? "failure" : null;
}
