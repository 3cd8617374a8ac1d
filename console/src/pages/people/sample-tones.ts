import type { SampleAnswer } from "../../../../src/http/contract.ts";
import type { Tone } from "../../parts/state-pill.tsx";

export const sampleTones: Readonly<Record<SampleAnswer["state"], Tone>> = {
  open: "info",
  agreed: "good",
  exhausted: "bad",
  unassignable: "bad",
  withdrawn: "plain",
  closed: "plain",
};
