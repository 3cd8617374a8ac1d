import { PawlError } from "../base/errors.ts";
import type { Blocker } from "../definition/decide/decide.ts";
import { noMoreExtensions, onlyTheAssignee, reasonMissing } from "./lifecycle/assignment.ts";
import type { AssignmentStatus } from "./store/assignments.ts";

export function queueUnknown(name: string): PawlError {
  return new PawlError(
    "queue_unknown",
    `Queue \`${name}\` does not exist. Pass it to createPawl({ queues: […] }), or create it with pawl.people.createQueue().`,
    { queue: name },
  );
}

export function assignmentUnknown(id: string): PawlError {
  return new PawlError("assignment_unknown", `There is no assignment ${id}.`, { assignment: id });
}

export function sampleUnknown(id: string): PawlError {
  return new PawlError("sample_unknown", `Sample ${id} does not exist.`, { sample: id });
}

export function labelUnknown(id: string): PawlError {
  return new PawlError("label_unknown", `Label ${id} does not exist.`, { label: id });
}

/** A lead can decide on a sample only in certain states. */
export function sampleRefuses(id: string, state: string, what: string): PawlError {
  const remedy = state === "exhausted" || state === "unassignable" ? " Reopen it first." : "";
  return new PawlError("invalid_transition", `Sample ${id} is ${state}: ${what}.${remedy}`, {
    sample: id,
    from: state,
  });
}

export function notTheAssignee(id: string, labeler: string): PawlError {
  return new PawlError("not_the_assignee", `Assignment ${id} is not assigned to \`${labeler}\`.`, {
    assignment: id,
    labeler,
  });
}

/** The assignment does not allow this call in its state. */
function invalidTransition(id: string, from: string, to: AssignmentStatus): PawlError {
  return new PawlError("invalid_transition", `Assignment ${id} is ${shown(from)} and cannot become ${shown(to)}.`, {
    assignment: id,
    from,
    to,
  });
}

/** Translates refusals of the kernel to the terms of labeling. */
export function refusalOf(error: PawlError, id: string, labeler: string | null, to: AssignmentStatus): PawlError {
  if (error.code === "instance_unknown") return assignmentUnknown(id);
  if (error.code !== "transition_refused") return error;
  const { state, blockers } = error.details as { state: string; blockers: readonly Blocker[] };
  const reasons = blockers.map((blocker) => blocker.reason);
  if (reasons.includes(onlyTheAssignee)) return notTheAssignee(id, labeler ?? "no labeler");
  if (reasons.includes(reasonMissing)) {
    return new PawlError("option_invalid", `Give a reason to skip assignment ${id}: ${reasonMissing}.`, {
      assignment: id,
    });
  }
  if (reasons.includes(noMoreExtensions)) {
    const message = `Assignment ${id} cannot be extended: ${noMoreExtensions} (\`maxExtensions\`). Submit or skip it by its deadline.`;
    return new PawlError("not_allowed", message, { assignment: id });
  }
  return invalidTransition(id, state, to);
}

/** Returns the state in which an assignment refused the call; undefined if it was refused for another reason. */
export function refusedFrom(error: PawlError): string | undefined {
  return error.code === "invalid_transition" ? (error.details.from as string) : undefined;
}

function shown(status: string): string {
  return status.replace("_", " ");
}
