import type { AnyCrowd, HookWork, SubmissionWork } from "../definition/crowd.ts";
import type { Effect } from "../definition/language/step.ts";
import type { JobData, SubmissionData } from "./data.ts";

/** The view of a submission that a crowd's hooks get. */
export function submissionWork(work: Effect<SubmissionData>): SubmissionWork {
  const { label, content, worker, submission, job, submittedAt } = work.data;
  return { ...basicsOf(work), label, content, worker, submission, job, submittedAt, jobId: work.parent!.id };
}

/** Calls the crowd's hook of a decision, in a task of its own, so that it can fail and retry alone. */
export function runDecisionHook(crowd: AnyCrowd, hook: "onApproved" | "onRejected") {
  return async (work: Effect<SubmissionData>): Promise<void> => {
    const { auto, feedback } = work.data;
    await crowd[hook]?.({ ...submissionWork(work), auto, feedback });
  };
}

export async function runFinishedHook(crowd: AnyCrowd, work: Effect<JobData>): Promise<void> {
  const { content, labels, consensus, agreement, approved, rejected, reason } = work.data;
  const results = { content, labels, consensus, agreement, approved, rejected, reason };
  await crowd.onJobFinished?.({ ...basicsOf(work), key: work.key, ...results });
}

/** The parts of an after-effect that hooks get. Its data, and events to other instances, are internal to the crowd. */
function basicsOf(work: Effect<unknown>): HookWork {
  return { ...work, ...hidden };
}

const hidden = { data: undefined, payload: undefined, start: undefined, send: undefined, children: undefined };
