import { shownTime } from "../../definition/decide/explain.ts";
import { mostRefusals } from "../../kernel/move/release-failures.ts";
import type { Stuck, StuckReason, WaitingFor } from "./explanation.ts";
import type { KnownInstance } from "./known-instance.ts";

/** Why nothing will move an instance, by what it waits for; null while something will. The same rules as for attention. */
export function stuckBy(known: KnownInstance, waitingFor: readonly WaitingFor[]): Stuck | null {
  const { waits, kernel, row } = known;
  const nowMs = waits.now_ms;
  const { overdueMs } = kernel.stuckAfter;
  for (const wait of waitingFor) {
    const reason = ofTask(known, wait) ?? ofOther(known, wait);
    if (reason !== undefined) return stuck(reason, wait.since, wait);
  }
  if (row.outcome !== null) return null;
  const late = waitingFor.find(({ until }) => until !== null && until.getTime() < nowMs - overdueMs);
  if (late !== undefined) return stuck("overdue", late.until!, late);
  const hasEnd = waitingFor.some(({ until }) => until !== null);
  if (hasEnd) return null;
  const letter = waitingFor.find((wait) => wait.kind === "person" && isOpenLetter(known, wait.deadLetter));
  if (letter !== undefined) return stuck("dead_letter", letter.since, letter);
  if (waits.refused_event !== null && waits.step === null)
    return stuck("event_refused", new Date(waits.refused_ms!), waitingFor[0]);
  const result = waitingFor.find((wait) => wait.kind === "result" && !wait.reachable);
  return result === undefined || waits.step !== null ? null : stuck("result_unmatched", result.since, result);
}

function ofTask({ waits, kernel }: KnownInstance, wait: WaitingFor): StuckReason | undefined {
  if (wait.kind !== "step" && wait.kind !== "recovery" && wait.kind !== "effect") return undefined;
  const ageMs = waits.now_ms - wait.since.getTime();
  const { noWorkerMs, readyMs, overdueMs } = kernel.stuckAfter;
  if (wait.status === "running") return waits.now_ms - wait.leaseUntil.getTime() > overdueMs ? "overdue" : undefined;
  if (wait.status === "scheduled") return waits.now_ms - wait.until!.getTime() > overdueMs ? "overdue" : undefined;
  const { reason } = wait.notClaimed;
  if ((reason === "no_worker" || reason === "worker_outdated") && ageMs > noWorkerMs) return reason;
  return ageMs > readyMs ? "ready_too_long" : undefined;
}

function ofOther(known: KnownInstance, wait: WaitingFor): StuckReason | undefined {
  switch (wait.kind) {
    case "definition_fault":
      return "definition_fault";
    case "release":
      return wait.lastFailure?.what === "refused" && wait.failures >= mostRefusals ? "release_refused" : undefined;
    case "people":
      if (known.sample!.state === "unassignable") return "unassignable";
      return known.sample!.state === "open" && !known.sample!.active ? "queue_inactive" : undefined;
    case "person":
      return known.row.outcome === null && isInstanceLetter(known, wait.deadLetter) ? "dead_letter" : undefined;
    default:
      return undefined;
  }
}

function isOpenLetter({ waits }: KnownInstance, id: string | null): boolean {
  return waits.letters.some((one) => one.id === id && one.status === "open");
}

/** A letter about the instance itself: it waits for the decision, whatever else it has left behind. */
function isInstanceLetter({ waits }: KnownInstance, id: string | null): boolean {
  return waits.letters.some((one) => one.id === id && one.status === "open" && one.kind === "instance");
}

/** What an operator can do about it. */
const remedies: Record<StuckReason, string> = {
  no_worker: "Start a worker that serves this lane.",
  worker_outdated: "Deploy workers with the newer definition.",
  ready_too_long: "Remove what holds the lane back, or add workers.",
  overdue: "Start a process that runs maintenance for this definition (`pawl.work()` or `pawl.maintain()`).",
  dead_letter: "Requeue or discard its dead letter.",
  release_refused: "Change what its guard looks at, or send another event.",
  event_refused: "Send an event that its state takes, or change its guard.",
  result_unmatched: "Accept the result, or send another event.",
  unassignable: "Add an eligible labeler, or close the sample.",
  queue_inactive: "Activate the queue, or close the sample.",
  definition_fault: "Deploy a definition that allows what the step does.",
};

function stuck(reason: StuckReason, since: Date, wait: WaitingFor | undefined): Stuck {
  const because = wait === undefined ? "" : ` ${wait.sentence}`;
  const sentence = `It is stuck since ${shownTime(since)} (${reason.replaceAll("_", " ")}).${because} ${remedies[reason]}`;
  return { reason, since, sentence };
}
