import { shownTime } from "../../definition/decide/explain.ts";
import type { NotClaimed, StuckReason } from "../explain/explanation.ts";
import { remedyFor } from "../explain/stuck-instance.ts";
import { whyOf } from "../explain/task-waits.ts";
import type { StuckGroup } from "./stuck-group.ts";

/** How many are stuck and where, why, and what to do. */
export function sentenceOf(group: Omit<StuckGroup, "sentence">, notClaimed: NotClaimed | undefined): string {
  const { reason, since } = group;
  const why = notClaimed === undefined ? words[reason] : `ready, and ${whyOf(notClaimed)}`;
  return `${subjectOf(group)} since ${shownTime(since)}: ${why}. ${remedyFor(reason)}`;
}

function subjectOf({ lifecycle, lane, state, queue, count, more }: Omit<StuckGroup, "sentence">): string {
  const [what, where] =
    lane !== null ? ["task", lane] : queue !== null ? ["sample", queue] : [`instance`, `${lifecycle}/${state}`];
  const number = `${count.toLocaleString("en")}${more ? " or more" : ""}`;
  return `${number} ${what}${count === 1 ? " is" : "s are"} stuck in \`${where}\``;
}

/** Why instances are stuck, in a few words. */
const words: Record<StuckReason, string> = {
  no_worker: "no live worker serves this lane",
  worker_outdated: "live workers have an older definition",
  state_undeclared: "no live process has a definition with this state",
  ready_too_long: "ready, and not claimed",
  running_too_long: "running for too long",
  overdue: "due work has not run",
  dead_letter: "a dead letter awaits a decision",
  release_refused: "the release is repeatedly refused",
  event_refused: "the event that would have ended the wait was refused",
  result_unmatched: "a result arrived that no reachable state accepts",
  unassignable: "no eligible labeler is left",
  queue_inactive: "the queue is inactive",
  definition_fault: "the step does what its definition does not allow",
};
