import { errorFields } from "../telemetry/log.ts";
import type { LaneMeters } from "../telemetry/meters.ts";
import type { Filing, Outcome } from "./filing.ts";
import type { Kernel } from "./kernel.ts";
import type { Taken } from "./take.ts";

/** Counts what became of reported tasks, and tells of those that went wrong. */
export function tally(kernel: Kernel, filings: readonly Filing[]): void {
  if (filings.length === 0) return;
  kernel.telemetry.meters.batch("report", filings.length);
  for (const filing of filings) count(kernel, filing);
}

function count(kernel: Kernel, { report: { taken, outcome }, result, move, setback }: Filing): void {
  const lane = kernel.telemetry.meters.lane(taken.lane);
  if (result === "lease_lost") {
    // A lapse that was not written has met a worker that renewed: nobody lost anything.
    if (outcome.kind !== "lapsed") lane.leasesLost += 1;
  } else if (setback !== undefined) {
    countSetback(kernel, lane, taken, outcome, setback);
  } else if (move?.kind === "event" || outcome.kind === "done") {
    lane.done += 1;
  } else {
    lane.failed += 1;
    lane.deadLetters += 1;
    const reason = move?.kind === "failing" ? move.payload.reason : outcome.kind;
    const fields = { ...fieldsOf(taken, outcome), reason };
    kernel.telemetry.log.error(fields, `${taken.lane} was given up: it left a dead letter.`);
  }
}

function countSetback(
  { telemetry: { log } }: Kernel,
  lane: LaneMeters,
  taken: Taken,
  outcome: Outcome,
  { what, retryAfterMs }: NonNullable<Filing["setback"]>,
): void {
  if (what === "deferred") lane.deferred += 1;
  if (what === "released") lane.released += 1;
  if (what !== "failed" && what !== "lapsed") return;
  lane.retried += 1;
  lane[what] += 1;
  const said = what === "failed" ? "failed and will be tried again" : "was held by a worker that fell silent";
  log.warn({ ...fieldsOf(taken, outcome), retryAfterMs }, `${taken.lane} ${said}.`);
}

/** Which task it is, and what was thrown. What the instance holds is not for a log. */
function fieldsOf({ lifecycle, row, lane, attempt }: Taken, outcome: Outcome): object {
  const fields = { lifecycle: lifecycle.name, state: row.state, lane, instance: row.id, attempt };
  return outcome.kind === "failed" ? { ...fields, ...errorFields(outcome.error) } : fields;
}
