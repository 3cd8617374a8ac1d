import {
  about,
  anything,
  flag,
  id,
  listOf,
  mapOf,
  moment,
  named,
  number,
  oneOf,
  orNull,
  shape,
  text,
  whole,
} from "../../api/schema.ts";
import type { CrowdJobResponse, CrowdResponse, ReconcileIssueResponse, SubmissionResponse } from "../../contract.ts";

const verdict = oneOf("approved", "rejected");
export const jobState = oneOf(
  "publishing",
  "running",
  "syncing",
  "extending",
  "closing",
  "finished",
  "incomplete",
  "closed",
  "failed",
  "discarded",
);
export const submissionState = oneOf(
  "submitted",
  "pending_approval",
  "errored",
  "approving",
  "rejecting",
  "approved",
  "rejected",
  "failed",
  "discarded",
);

export const crowd = named(
  "Crowd",
  shape<CrowdResponse>({
    name: text,
    marketplace: about(text, "Its name in the config."),
    title: about(text, "The name that the marketplace reports."),
    paysBonuses: flag,
    sandbox: about(flag, "The marketplace is a sandbox."),
    jobs: about(mapOf(whole), "Counts by state; states without items are omitted."),
    submissions: mapOf(whole),
  }),
);

export const job = named(
  "CrowdJob",
  shape<CrowdJobResponse>({
    id,
    key: orNull(text),
    crowd: text,
    state: jobState,
    content: about(anything, "What workers see."),
    postings: listOf(shape<CrowdJobResponse["postings"][number]>({ id: text, places: whole })),
    approved: whole,
    rejected: whole,
    labels: listOf(anything),
    consensus: anything,
    agreement: orNull(number),
    reason: about(orNull(text), "Why it ended with fewer submissions than requested."),
    movedAt: moment,
    closedAt: orNull(moment),
  }),
);

export const submission = named(
  "Submission",
  shape<SubmissionResponse>({
    id,
    crowd: text,
    jobId: id,
    submission: about(text, "Its id on the marketplace."),
    posting: text,
    worker: text,
    state: submissionState,
    label: anything,
    answer: about(anything, "The submitted answer, unchanged."),
    feedback: orNull(text),
    auto: about(flag, "The marketplace decided before Pawl."),
    conflict: orNull(shape<NonNullable<SubmissionResponse["conflict"]>>({ wanted: verdict, found: verdict })),
    problem: about(orNull(text), "Why a person must decide."),
    submittedAt: moment,
    movedAt: moment,
  }),
);

export const reconcileIssue = shape<ReconcileIssueResponse>({
  kind: oneOf("posting", "job"),
  marketplace: text,
  posting: text,
  jobId: orNull(id),
  message: text,
  repaired: flag,
});
