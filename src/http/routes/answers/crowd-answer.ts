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
import type { AstrayAnswer, CrowdAnswer, CrowdJobAnswer, SubmissionAnswer } from "../../contract.ts";

const verdict = oneOf("approved", "rejected");
export const jobState = oneOf(
  "publishing",
  "running",
  "looking",
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
  shape<CrowdAnswer>({
    name: text,
    marketplace: about(text, "As the config names it."),
    title: about(text, "What the marketplace calls itself."),
    paysBonuses: flag,
    sandbox: about(flag, "The marketplace is for trying things out."),
    jobs: about(mapOf(whole), "How many stand in which state; one in which none does is left out."),
    submissions: mapOf(whole),
  }),
);

export const job = named(
  "CrowdJob",
  shape<CrowdJobAnswer>({
    id,
    key: orNull(text),
    crowd: text,
    state: jobState,
    content: about(anything, "What workers are shown."),
    postings: listOf(shape<CrowdJobAnswer["postings"][number]>({ id: text, places: whole })),
    approved: whole,
    rejected: whole,
    labels: listOf(anything),
    consensus: anything,
    agreement: orNull(number),
    reason: about(orNull(text), "Why it ended with less than it wanted."),
    movedAt: moment,
    closedAt: orNull(moment),
  }),
);

export const submission = named(
  "Submission",
  shape<SubmissionAnswer>({
    id,
    crowd: text,
    jobId: id,
    submission: about(text, "Its id at the marketplace."),
    posting: text,
    worker: text,
    state: submissionState,
    label: anything,
    answer: about(anything, "What was filled in, as it came."),
    feedback: orNull(text),
    auto: about(flag, "The marketplace decided before Pawl did."),
    conflict: orNull(shape<NonNullable<SubmissionAnswer["conflict"]>>({ wanted: verdict, found: verdict })),
    problem: about(orNull(text), "Why a person has to decide."),
    submittedAt: moment,
    movedAt: moment,
  }),
);

export const astray = shape<AstrayAnswer>({
  kind: oneOf("posting", "job"),
  marketplace: text,
  posting: text,
  jobId: orNull(id),
  message: text,
  mended: flag,
});
