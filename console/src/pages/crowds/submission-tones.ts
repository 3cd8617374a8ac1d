import type { SubmissionResponse } from "../../../../src/http/contract.ts";
import type { Tone } from "../../parts/state-pill.tsx";

export const submissionTones: Readonly<Record<SubmissionResponse["state"], Tone>> = {
  submitted: "info",
  pending_approval: "warn",
  errored: "bad",
  approving: "info",
  rejecting: "info",
  approved: "good",
  rejected: "bad",
  failed: "bad",
  discarded: "plain",
};
