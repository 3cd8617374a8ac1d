import type { SampleResponse } from "../../../../src/http/contract.ts";
import type { Tone } from "../../parts/state-pill.tsx";

export const sampleTones: Readonly<Record<SampleResponse["state"], Tone>> = {
  open: "info",
  agreed: "good",
  exhausted: "bad",
  unassignable: "bad",
  withdrawn: "plain",
  closed: "plain",
};
