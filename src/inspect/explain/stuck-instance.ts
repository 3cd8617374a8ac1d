import { maxRefusals } from "../../kernel/move/release-failures.ts";
import type { StuckAfter } from "../../kernel/stuck-after.ts";
import type { NotClaimed, Stuck, StuckReason, WaitingFor } from "./explanation.ts";
import type { KnownInstance } from "./known-instance.ts";

/** Why an instance does not move by itself, by its waits; null if it will. `findStuck` uses the same rules. */
export function stuckBy(known: KnownInstance, waitingFor: readonly WaitingFor[]): Stuck | null {
  const { waits, row } = known;
  for (const wait of waitingFor) {
    const found = ofTask(known, wait) ?? ofOther(known, wait);
    if (found !== undefined) return stuck(found.reason, found.since ?? wait.since);
  }
  if (row.outcome !== null) return null;
  const late = waitingFor.find((wait) => isOverdue(known, wait));
  if (late !== undefined) return stuck("overdue", late.until!);
  if (waits.check_ms !== null && isLate(known, waits.check_ms)) return stuck("overdue", new Date(waits.check_ms));
  if (waitingFor.some((wait) => movesByItself(known, wait))) return null;
  const letter = waitingFor.find((wait) => wait.kind === "person" && isOpenLetter(known, wait.deadLetter));
  if (letter !== undefined) return stuck("dead_letter", letter.since);
  if (waits.refused_event !== null) return stuck("event_refused", new Date(waits.refused_ms!));
  const result = waitingFor.find((wait) => wait.kind === "result" && !wait.reachable);
  return result === undefined ? null : stuck("result_unmatched", result.since);
}

/** After how long a task that is ready is stuck, and why, by what keeps workers from claiming it. */
export function stuckWhenReady(
  { reason }: NotClaimed,
  { noWorkerMs, readyMs }: StuckAfter,
): { readonly reason: StuckReason; readonly afterMs: number } {
  const isUnserved = reason === "no_worker" || reason === "worker_outdated";
  return isUnserved ? { reason, afterMs: noWorkerMs } : { reason: "ready_too_long", afterMs: readyMs };
}

interface Found {
  readonly reason: StuckReason;
  readonly since?: Date;
}

function ofTask(known: KnownInstance, wait: WaitingFor): Found | undefined {
  if (wait.kind !== "step" && wait.kind !== "recovery" && wait.kind !== "effect") return undefined;
  const { stuckAfter } = known.kernel;
  const forMs = known.waits.now_ms - wait.since.getTime();
  if (isOverdue(known, wait)) return { reason: "overdue", since: wait.until! };
  if (wait.status === "running" && forMs > stuckAfter.runningMs) return { reason: "running_too_long" };
  if (wait.status !== "ready") return undefined;
  const { reason, afterMs } = stuckWhenReady(wait.notClaimed, stuckAfter);
  return forMs > afterMs ? { reason } : undefined;
}

function isOverdue(known: KnownInstance, wait: WaitingFor): boolean {
  // When a lane may be claimed from again is a guess.
  if (wait.until === null || ("status" in wait && wait.status === "ready")) return false;
  return isLate(known, wait.until.getTime());
}

function isLate({ waits, kernel }: KnownInstance, dueMs: number): boolean {
  return dueMs < waits.now_ms - kernel.stuckAfter.overdueMs;
}

function ofOther(known: KnownInstance, wait: WaitingFor): Found | undefined {
  const reason = reasonOf(known, wait);
  return reason === undefined ? undefined : { reason };
}

function reasonOf(known: KnownInstance, wait: WaitingFor): StuckReason | undefined {
  switch (wait.kind) {
    case "definition_fault":
      return "definition_fault";
    case "undeclared_state":
      return known.isAbandoned === true ? "state_undeclared" : undefined;
    case "release":
      return wait.lastFailure?.what === "refused" && wait.failures >= maxRefusals ? "release_refused" : undefined;
    case "people": {
      const { state, active, has_open_slot: hasOpenSlot } = known.sample!;
      if (state === "unassignable") return "unassignable";
      return state === "open" && !active && hasOpenSlot ? "queue_inactive" : undefined;
    }
    case "person":
      return known.row.outcome === null && isInstanceLetter(known, wait.deadLetter) ? "dead_letter" : undefined;
    default:
      return undefined;
  }
}

/** Whether the awaited thing may move it without a decision by a person and without an event from outside. */
function movesByItself({ sample, waits }: KnownInstance, wait: WaitingFor): boolean {
  switch (wait.kind) {
    case "step":
    case "recovery":
    case "question":
      return true;
    case "effect":
      return false;
    case "children":
      return wait.by !== "person";
    case "people":
      return sample!.state === "open" || waits.question?.outcome === null || wait.until !== null;
    case "crowd_job":
      return waits.question?.outcome === null || wait.until !== null;
    default:
      return wait.until !== null;
  }
}

function isOpenLetter({ waits }: KnownInstance, id: string | null): boolean {
  return waits.letters.some((one) => one.id === id && one.status === "open");
}

/** A letter about the instance itself: the instance waits for the decision, whatever else failed. */
function isInstanceLetter({ waits }: KnownInstance, id: string | null): boolean {
  return waits.letters.some((one) => one.id === id && one.status === "open" && one.kind === "instance");
}

const causes: Record<StuckReason, string> = {
  no_worker: "No live worker serves its lane.",
  worker_outdated: "All live workers have an older version of its definition.",
  state_undeclared: "No live process has a definition with its state.",
  ready_too_long: "Its task has been ready for too long.",
  running_too_long: "Its task has been running for too long.",
  overdue: "Due work has not run.",
  dead_letter: "A person must decide about its dead letter.",
  release_refused: "Its release is repeatedly refused.",
  event_refused: "It refused the event that would have ended its wait.",
  result_unmatched: "No reachable state accepts its result.",
  unassignable: "No eligible labeler is left for its sample.",
  queue_inactive: "The queue of its sample is not active.",
  definition_fault: "Its step and its definition contradict each other.",
};

const remedies: Record<StuckReason, string> = {
  no_worker: "Start a worker that serves this lane.",
  worker_outdated: "Deploy workers with the newer definition.",
  state_undeclared: "Deploy a definition that declares this state in `states` or `renamed`.",
  ready_too_long: "Resume the lane, close its breaker, raise its limit, or add workers.",
  running_too_long:
    "Check whether the step hangs. Restart its worker, or send an event that leaves the state and aborts the step.",
  overdue: "Start a process that runs maintenance for this definition (`pawl.work()` or `pawl.maintain()`).",
  dead_letter: "Requeue or discard the dead letter.",
  release_refused: "Change what its guard checks, or send another event.",
  event_refused: "Send an event that its state accepts, or change its guard.",
  result_unmatched: "Accept the result, or send another event.",
  unassignable: "Add an eligible labeler and reopen the sample, or close the sample.",
  queue_inactive: "Activate the queue, or close the sample.",
  definition_fault: "Deploy a definition that allows what the step does.",
};

/** What an operator can do about it. */
export function remedyFor(reason: StuckReason): string {
  return remedies[reason];
}

function stuck(reason: StuckReason, since: Date): Stuck {
  return { reason, since, sentence: causes[reason], remedy: remedies[reason] };
}
