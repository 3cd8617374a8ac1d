import { shownTime, timesOf } from "../../definition/decide/explain.ts";
import type { WaitEnd, WaitingFor } from "./explanation.ts";
import { enteredAt, hasFailed, type KnownInstance } from "./known-instance.ts";

/** The timeout of the state or the deadline of the run, whichever comes first. */
export function endOf({ waits }: KnownInstance): WaitEnd | null {
  for (const { kind, event, due_ms } of waits.timers)
    if (kind !== "send") return { timer: kind, event, at: new Date(due_ms) };
  return null;
}

/** Timeouts, deadlines and delayed events, without the one that already ends a wait for events. */
export function timerWaits(known: KnownInstance): WaitingFor[] {
  const isInEvents = known.kind === "wait" && !hasFailed(known) && known.sample === undefined;
  const since = enteredAt(known);
  const end = isInEvents ? endOf(known) : null;
  return known.waits.timers.flatMap((timer): WaitingFor[] => {
    const until = new Date(timer.due_ms);
    if (timer.kind !== "send") {
      if (end !== null && end.timer === timer.kind && end.at.getTime() === timer.due_ms) return [];
      const sentence = `At ${shownTime(until)} its ${timer.kind} sends \`${timer.event}\`.`;
      return [{ kind: "timer", timer: timer.kind, event: timer.event, since, until, by: "clock", sentence }];
    }
    const failures = timer.attempts;
    const again = failures === 0 ? "" : ` Its delivery failed ${timesOf(failures)} so far.`;
    const from = timer.actor === null ? "" : ` (sent by ${timer.actor})`;
    const sentence = `Event \`${timer.event}\`${from} is delivered at ${shownTime(until)}.${again}`;
    return [{ kind: "delayed_event", event: timer.event, failures, since, until, by: "clock", sentence }];
  });
}
