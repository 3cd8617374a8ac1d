import { acceptLate, type LifecycleModel } from "../model.ts";
import { type Blocker, decide, openEdges, takesPayload } from "./decide.ts";
import type { InstanceModel } from "./instance.ts";
import { planRecovery } from "./recover.ts";

/** Whether an event may be sent now: yes, no with every reason, or it depends on a payload that is not known yet. */
export type AllowedEvent =
  | { readonly event: string; readonly permitted: "yes" }
  | { readonly event: string; readonly permitted: "depends" }
  | { readonly event: string; readonly permitted: "no"; readonly blockers: readonly Blocker[] };

/** The events that an instance accepts now. A recovery is permitted if all of its moves are. */
export function allowedEvents(
  lifecycle: LifecycleModel,
  instance: InstanceModel,
  actor: string | null,
  nowMs: number,
): AllowedEvent[] {
  const cause = { actor, reason: null };
  const events = lifecycle.eventsFrom(instance.state).filter((event) => event !== acceptLate || !lifecycle.builtIns);
  return events.map((event): AllowedEvent => {
    const isRecover = event === "recover" && lifecycle.builtIns;
    if (!isRecover) {
      const edges = openEdges(lifecycle, instance, { name: event }, lifecycle.edgesFrom(instance.state, event));
      if (edges.some((edge) => edge.guard === undefined)) return { event, permitted: "yes" };
      if (edges.length > 0 && takesPayload(lifecycle, event)) return { event, permitted: "depends" };
    }
    const decided = isRecover
      ? planRecovery(lifecycle, instance, cause, nowMs)
      : decide(lifecycle, instance, { name: event, payload: undefined, ...cause }, nowMs);
    return decided.kind === "refused"
      ? { event, permitted: "no", blockers: decided.blockers }
      : { event, permitted: "yes" };
  });
}
