import type { ReadCallback } from "pawl/rabbitmq";
import { z } from "zod";
import type { SubmissionLifecycle } from "./submission.ts";

const about = { requestId: z.string(), submissionId: z.string() };

const Callback = z.discriminatedUnion("status", [
  z.object({ ...about, status: z.literal("completed"), score: z.unknown(), feedback: z.unknown() }),
  z.object({ ...about, status: z.literal("failed"), error: z.object({ message: z.string() }) }),
]);

/**
 * Reads a message of the grader: a grade, which Pawl validates by the schema of the event, or an error. A repeated one
 * is recognized by the request that it answers.
 */
export function callbackReader(lifecycle: SubmissionLifecycle): (json: unknown) => ReadCallback {
  return (json) => {
    const said = Callback.parse(json);
    const { requestId, submissionId, status } = said;
    const to = { lifecycle, instance: { id: submissionId }, event: "graded", actor: "grader" };
    const dedupeKey = `${requestId} ${status}`; // A grader that failed may be asked again by a restart.
    if (said.status === "failed") return { ...to, dedupeKey, error: said.error };
    return { ...to, dedupeKey, payload: { score: said.score, feedback: said.feedback } };
  };
}
