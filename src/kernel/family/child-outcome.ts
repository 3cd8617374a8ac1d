import type { InstanceModel } from "../../definition/decide/instance.ts";
import { failed, type LifecycleModel } from "../../definition/model.ts";

/**
 * The outcome of an instance as its parent counts it; null while it may still continue by itself. One that has failed
 * is open while a recovery will follow.
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
