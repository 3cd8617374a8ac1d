import type { Assignment } from "@aws-sdk/client-mturk";
import type { Json } from "../../../base/json.ts";
import type { MarketplaceContext, RemoteSubmission } from "../../marketplace.ts";
import { pages } from "./pages.ts";
import type { Requester } from "./requester.ts";

export const statuses = { Submitted: "submitted", Approved: "approved", Rejected: "rejected" } as const;

/**
 * All submissions, to the last page and in every state: a list of undecided ones would miss those that the service has
 * approved by itself.
 */
export async function readSubmissions(
  requester: Requester,
  job: string,
  read: (xml: string) => Json,
  call: MarketplaceContext,
): Promise<readonly RemoteSubmission[]> {
  const submissions = new Map<string, RemoteSubmission>();
  const all = pages((from) =>
    requester.ask(`list the submissions of ${job}`, call, (turk, how) =>
      turk.listAssignmentsForHIT(
        { HITId: job, AssignmentStatuses: ["Submitted", "Approved", "Rejected"], ...from },
        how,
      ),
    ),
  );
  for await (const { Assignments = [] } of all) {
    for (const one of Assignments) submissions.set(one.AssignmentId!, submissionOf(one, read));
  }
  return [...submissions.values()]; // Pages shift while they are read: one submission can be on two of them.
}

function submissionOf(assignment: Assignment, read: (xml: string) => Json): RemoteSubmission {
  return {
    id: assignment.AssignmentId!,
    job: assignment.HITId!,
    worker: assignment.WorkerId!,
    status: statuses[assignment.AssignmentStatus ?? "Submitted"],
    answer: read(assignment.Answer ?? ""),
    submittedAt: assignment.SubmitTime ?? assignment.AcceptTime ?? new Date(0),
  };
}
