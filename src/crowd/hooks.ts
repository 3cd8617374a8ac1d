import type { AnyCrowd, HookWork, SubmissionWork } from "../definition/crowd.ts";
import type { Effect } from "../definition/language/step.ts";
import type { JobData, SubmissionData } from "./data.ts";

/** What a crowd's hooks are given of a submission. */
export function submissionWork(work: Effect<SubmissionData>): SubmissionWork {
  const { label, content, worker, submission, job, submittedAt } = work.data;
  return { ...basicsOf(work), label, content, worker, submission, job, submittedAt, jobId: work.parent!.id };
}

/** The crowd is told what was decided; a task of its own, so that it can fail and be repeated alone. */
export function tellDecided(crowd: AnyCrowd, hook: "onApproved" | "onRejected") {
  return async (work: Effect<SubmissionData>): Promise<void> => {
    const { auto, feedback } = work.data;
    await crowd[hook]?.({ ...submissionWork(work), auto, feedback });
  };
}

export async function tellFinished(crowd: AnyCrowd, work: Effect<JobData>): Promise<void> {
  const { content, labels, consensus, agreement, approved, rejected, reason } = work.data;
  const told = { content, labels, consensus, agreement, approved, rejected, reason };
  await crowd.onJobFinished?.({ ...basicsOf(work), key: work.key, ...told });
}

/** What a hook can do as any after-effect can. Its data, and what leads to other instances, is the crowd's own business. */
function basicsOf(work: Effect<unknown>): HookWork {
  return { ...work, ...hidden };
}

const hidden = { data: undefined, payload: undefined, start: undefined, send: undefined, children: undefined };
