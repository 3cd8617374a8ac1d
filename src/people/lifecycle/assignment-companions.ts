import type { Decision } from "../../definition/decide/move.ts";
import type { CompanionTable } from "../../kernel/types/companion-table.ts";
import {
  type AssignmentMove,
  type AssignmentStatus,
  insertAssignments,
  moveAssignments,
} from "../store/assignments.ts";
import { onlyReserved, type Reservation, reserveSlots } from "../store/slots.ts";
import type { AssignmentData, Submission } from "./assignment.ts";

/** Updates slots, samples, labels and assignment rows with every move of an assignment. */
export const assignmentCompanions: CompanionTable = {
  starting: (decisions) => ({
    first: reserveSlots(decisions.map(reservationOf)),
    gate: onlyReserved,
    rest: insertAssignments,
  }),
  moving: (updates) => moveAssignments(updates.map(moveOf)),
};

function reservationOf({ instance }: Decision): Reservation {
  const data = instance.data as AssignmentData;
  return {
    id: instance.id,
    queue: data.queue,
    sampleId: data.sampleId,
    slot: data.slot,
    labeler: data.labelerId,
    place: data.place,
    try: data.try,
    attempts: data.attempts,
    revisionOf: data.revisionOf,
    takesOver: data.takesOver,
    startWithinMs: data.terms.startWithinMs,
  };
}

function moveOf(decisions: readonly Decision[]): AssignmentMove {
  const last = decisions.at(-1)!;
  const data = last.instance.data as AssignmentData;
  const { terms } = data;
  const to = last.to as AssignmentStatus;
  const ends = last.instance.outcome !== null;
  const started = decisions.some((one) => one.to === "in_progress");
  const released = last.event === "release";
  const submitted = to === "completed" ? (last.payload as Submission) : undefined;
  const reassigns = to === "expired" ? terms.reassignExpired || released : to === "skipped" && terms.reassignSkipped;
  return {
    id: last.instance.id,
    to,
    attempts: data.attempts,
    started,
    finishWithinMs: started ? terms.finishWithinMs : null,
    graceMs: started ? terms.graceMs : null,
    ends,
    labelId: data.labelId,
    labelText: submitted === undefined ? null : JSON.stringify(submitted.label),
    isRight: submitted?.isRight ?? null,
    workedMs: submitted?.workedMs ?? null,
    skipReason: data.skipReason,
    released,
    // A labeler whose assignment expired may try again a few times; a labeler who skipped or labeled it is done with
    // it.
    bars: to !== "expired" || (!released && data.try >= terms.maxAttemptsPerLabeler),
    reopens: ends && reassigns,
    // Assignments that were never started, or that a lead released, cost the sample nothing.
    costs: ends && last.from === "in_progress" && !released,
    restricted: terms.restricted,
  };
}
