import type { QueueSettings } from "../../definition/queue-settings.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import type { Snapshot } from "../../kernel/types/snapshot.ts";
import type { Start } from "../../kernel/types/start.ts";
import type { FoundSlot } from "../assigning/queue-scan.ts";
import type { Assignment } from "../results.ts";
import type { AssignmentRow } from "../store/assignments.ts";
import { type AssignmentData, assignment, termsOf } from "./assignment.ts";

/** An assignment to start. */
export function startOf(
  kernel: Kernel,
  asking: { readonly queue: string; readonly labeler: string },
  settings: QueueSettings,
  found: FoundSlot & { readonly place: number },
): Start {
  const data: AssignmentData = {
    queue: asking.queue,
    sampleId: found.slot.sampleId,
    slot: found.slot.no,
    labelerId: asking.labeler,
    place: found.place,
    try: found.tries + 1,
    attempts: found.attempts,
    revisionOf: null,
    takesOver: null,
    labelId: null,
    skipReason: null,
    terms: termsOf(settings),
  };
  const requestId = kernel.newId();
  return { lifecycle: assignment, key: null, data, actor: asking.labeler, reason: null, requestId };
}

/** An assignment that corrects another one, or represents a late label. No other labeler can get its slot. */
export function revisionOf(
  kernel: Kernel,
  earlier: AssignmentRow,
  settings: QueueSettings,
  given: {
    readonly slot: number;
    readonly takesOver: string | null;
    readonly attempts: number;
    readonly actor: string;
  },
): Start {
  const terms = termsOf(settings);
  const data: AssignmentData = {
    queue: earlier.queue,
    sampleId: earlier.sample_id,
    slot: given.slot,
    labelerId: earlier.labeler,
    place: null,
    try: earlier.try,
    attempts: given.attempts,
    revisionOf: earlier.id,
    takesOver: given.takesOver,
    labelId: null,
    skipReason: null,
    // Its labeler may be away: there is as much time to start it as to do it.
    terms: { ...terms, startWithinMs: Math.max(terms.startWithinMs ?? 0, terms.finishWithinMs) },
  };
  const requestId = kernel.newId();
  return { lifecycle: assignment, key: null, data, actor: given.actor, reason: null, requestId };
}

/** An assignment right after its start. */
export function startedAssignment(snapshot: Snapshot): Assignment {
  const { terms } = snapshot.model.data as AssignmentData;
  const { movedAtMs } = snapshot;
  return {
    ...assignmentOfInstance(snapshot),
    status: "in_progress",
    startedAt: new Date(movedAtMs),
    deadlineAt: new Date(movedAtMs + terms.finishWithinMs),
  };
}

/** The assignment of a started instance. */
export function assignmentOfInstance({ model }: Snapshot): Assignment {
  const data = model.data as AssignmentData;
  const { startWithinMs } = data.terms;
  return {
    id: model.id,
    sampleId: data.sampleId,
    labelerId: data.labelerId,
    queue: data.queue,
    status: "pending",
    deadlineAt: null,
    attempts: data.attempts,
    labelId: null,
    skipReason: null,
    createdAt: new Date(model.createdAtMs),
    startedAt: null,
    completedAt: null,
    expiredAt: null,
    skippedAt: null,
    startBy: startWithinMs === null ? null : new Date(model.createdAtMs + startWithinMs),
    try: data.try,
    revisionOf: data.revisionOf,
  };
}
