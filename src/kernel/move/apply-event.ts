import { decide, type Refusal } from "../../definition/decide/decide.ts";
import type { LifecycleEvent } from "../../definition/decide/move.ts";
import type { InstanceUpdate } from "../commit/instance-update.ts";
import { isRecover, recoverNow } from "../recovery/recover.ts";
import type { MoveOrigin } from "../types/move-origin.ts";

/** Applies an event to an instance: adds its decision to the update, or returns why it is refused. */
export function applyEvent(update: InstanceUpdate, event: LifecycleEvent, origin: MoveOrigin): Refusal | undefined {
  const { lifecycle, instance, row } = update;
  if (isRecover(lifecycle, event.name) && event.payload === undefined) return recoverNow(update, event, origin);
  const decided = decide(lifecycle, instance, event, row.now_ms);
  if (decided.kind === "refused") return decided;
  update.add(decided, origin);
  return undefined;
}
