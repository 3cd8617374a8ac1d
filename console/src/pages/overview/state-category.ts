import type { StateAnswer } from "../../../../src/http/contract.ts";

/** What standing in a state comes to. An instance in `failed` has not ended, and is not under way either. */
export function standingOf({
  name,
  final,
}: Pick<StateAnswer, "name" | "final">): "inFlight" | "done" | "failed" | "discarded" {
  if (final === "success") return "done";
  if (final === "failure" || name === "failed") return "failed";
  return final === "discarded" ? "discarded" : "inFlight";
}
