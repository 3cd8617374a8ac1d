import type { StateResponse } from "../../../../src/http/contract.ts";

/** The category of a state. An instance in `failed` has not ended, and is not in flight either. */
export function categoryOf({
  name,
  final,
}: Pick<StateResponse, "name" | "final">): "inFlight" | "done" | "failed" | "discarded" {
  if (final === "success") return "done";
  if (final === "failure" || name === "failed") return "failed";
  return final === "discarded" ? "discarded" : "inFlight";
}
