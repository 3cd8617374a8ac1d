import { decide, type Refusal } from "../../definition/decide/decide.ts";
import type { LifecycleEvent } from "../../definition/decide/move.ts";
import type { Course } from "../commit/instance-update.ts";
import { isRecover, recoverNow } from "../recovery/recover.ts";
import type { Maker } from "../types/move-origin.ts";

/** Lets an event happen to an instance: its decision is taken up, or what stands in the way is given back. */
export function happen(course: Course, event: LifecycleEvent, maker: Maker): Refusal | undefined {
  const { lifecycle, instance, row } = course;
  if (isRecover(lifecycle, event.name) && event.payload === undefined) return recoverNow(course, event, maker);
  const decided = decide(lifecycle, instance, event, row.now_ms);
  if (decided.kind === "refused") return decided;
  course.add(decided, maker);
  return undefined;
}
