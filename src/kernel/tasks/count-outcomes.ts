import { errorFields } from "../../telemetry/log.ts";
import type { LaneMeters } from "../../telemetry/meters.ts";
import type { Kernel } from "../kernel.ts";
import type { Taken } from "../types/claimed-task.ts";
import type { Outcome } from "../types/outcome.ts";
import type { Filing } from "./pending-report.ts";

/** Counts what became of reported tasks, and tells of those that went wrong. */
export function tally(kernel: Kernel, filings: readonly Filing[]): void {
  if (filings.length === 0) return;
  kernel.telemetry.meters.batch("report", filings.length);
  for (const filing of filings) count(kernel, filing);
}

function count(kernel: Kernel, filing: Filing): void {
  const { result, move, setback, delivered } = filing;
  const { taken, outcome } = filing.report;
  const lane = kernel.telemetry.meters.lane(taken.lane);
  if (result === "lease_lost") {
    // A lapse that was not written has met a worker that renewed: nobody lost anything.
    if (outcome.kind !== "lapsed") lane.leasesLost += 1;
  } else if (setback !== undefined) {
    countSetback(kernel, lane, taken, outcome, setback);
  } else if (hasSucceeded(filing)) {
    lane.done += 1;
  } else {
    const reason =
      move?.kind === "failing" ? move.payload.reason : (delivered?.undelivered[0]?.error.code ?? outcome.kind);
    countGivenUp(kernel, lane, { ...fieldsOf(taken, outcome), reason }, filing);
  }
}

function hasSucceeded({ report: { outcome }, move, delivered }: Filing): boolean {
  if (outcome.kind === "deliver") return delivered?.undelivered.length === 0;
  return move?.kind === "event" || move?.kind === "recover" || outcome.kind === "done";
}

/** The last attempt: it left a dead letter, or its instance will be recovered, or has a way out of its own. */
function countGivenUp(
  { telemetry: { log } }: Kernel,
  lane: LaneMeters,
  fields: ReturnType<typeof fieldsOf> & { readonly reason: string },
  { report: { taken }, isBuried, recovers }: Filing,
): void {
  lane.failed += 1;
  if (taken.kind === "step" && !isBuried) {
    const next = recovers ? "its instance is recovered later" : "its instance follows its `fail` edge, or its parent";
    log.warn(fields, `${fields.lane} failed; ${next}.`);
    return;
  }
  lane.deadLetters += 1;
  log.error(fields, `${fields.lane} failed and left a dead letter.`);
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
  const said = what === "failed" ? "failed and is retried" : "lost its lease: its worker fell silent";
  log.warn({ ...fieldsOf(taken, outcome), retryAfterMs }, `${taken.lane} ${said}.`);
}

/** Which task it is, and what was thrown. What the instance holds is not for a log. */
function fieldsOf({ row, lane, attempt }: Taken, outcome: Outcome) {
  const fields = { lifecycle: row.lifecycle, state: row.state, lane, instance: row.id, attempt };
  return outcome.kind === "failed" ? { ...fields, ...errorFields(outcome.error) } : fields;
}
