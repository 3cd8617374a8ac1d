import { isPawlError, PawlError } from "../../base/errors.ts";
import { endDeliveries } from "../../store/family/deliveries.ts";
import type { Executor } from "../../store/port/db.ts";
import { readSetbacks } from "../../store/tasks/attempts.ts";
import { endEffects, putBackTasks } from "../../store/tasks/tasks.ts";
import { endSaying } from "../commit/commit-families.ts";
import { endOf, refusedLetters, undeliveredLetter } from "../family/deliver.ts";
import type { Kernel } from "../kernel.ts";
import { letterOfTask } from "../recovery/dead-letter.ts";
import { untilAnswered } from "../retry-unknown-outcome.ts";
import { checksTopic } from "../signals/signals.ts";
import type { Said } from "../types/move-origin.ts";
import { failingOf } from "./attempt-failure.ts";
import { type Filing, heldOf, leaseBusy } from "./pending-report.ts";

export async function setBack(kernel: Kernel, filings: readonly Filing[]): Promise<void> {
  const lanes = new Map<string, string>();
  await writeHeld(kernel, filings, {
    async write(open) {
      const setbacks = open.map((filing) => filing.setback!);
      const written = await putBackTasks(kernel.db, setbacks);
      for (const { task_id, lane } of written) lanes.set(task_id, lane);
      return written;
    },
    isTrace: (filing, what) => what === filing.setback!.what,
  });
  for (const filing of filings) {
    const lane = lanes.get(filing.lease.taskId);
    if (lane !== undefined && filing.setback!.retryAfterMs === null) kernel.signals.hint(lane);
  }
}

/** Effects that were carried out, or given up after their last attempt. */
export async function end(kernel: Kernel, given: readonly Filing[]): Promise<void> {
  for (const filing of given) if (filing.report.taken.kind !== "effect") filing.obstacle = notAnEffect();
  const filings = given.filter((filing) => filing.obstacle === undefined);
  const made = filings.filter((filing) => filing.delivered !== undefined && filing.report.outcome.kind === "deliver");
  await endAll(kernel, made);
  const saying = filings.filter(({ report: { outcome } }) => outcome.kind === "done" && saysMore(outcome));
  await writeHeld(kernel, saying, {
    write: (open) => endSaying(kernel, open),
    isTrace: (_filing, what) => what === undefined,
  });
  const others = filings.filter((filing) => filing.result === undefined);
  await writeHeld(kernel, others, {
    write: (open) =>
      endEffects(
        kernel.db,
        open.map(({ lease, report: { taken, outcome } }) => {
          const given = outcome.kind === "done" ? null : failingOf(taken, outcome as { kind: "lapsed" });
          const failure = given === null ? null : JSON.stringify(given.payload);
          return { ...lease, failure, lapsed: outcome.kind === "lapsed" };
        }),
        open.flatMap(({ report: { taken, outcome } }) =>
          outcome.kind === "done"
            ? []
            : [letterOfTask(kernel.newId(), taken, failingOf(taken, outcome as { kind: "lapsed" }))],
        ),
      ),
    // An effect that is done leaves nothing; its row goes in no other way without a word.
    isTrace: ({ report }, what) => what === (report.outcome.kind === "done" ? undefined : "failed"),
  });
}

function notAnEffect(): PawlError {
  return new PawlError(
    "option_invalid",
    "A step ends with an event of its state; only an after-effect is simply done.",
  );
}

function saysMore({ starts = [], sends = [] }: Said): boolean {
  return starts.length > 0 || sends.length > 0;
}

/** Deliveries that have been made, with what was refused and what can never arrive. */
async function endAll(kernel: Kernel, filings: readonly Filing[]): Promise<void> {
  await writeHeld(kernel, filings, {
    write: (open) =>
      endDeliveries(
        kernel.db,
        open.map(({ lease, delivered }) => ({ ...lease, what: null, detailText: null, ...endOf(delivered!) })),
        open.flatMap((filing) => refusedLetters(filing)),
        open.flatMap((filing) => undeliveredLetter(kernel, filing)),
      ),
    isTrace: ({ delivered }, what) => what === endOf(delivered!)?.what,
  });
  // A join waits for what its parent has sent.
  if (filings.length > 0) kernel.signals.hint(checksTopic);
}

interface HeldWriting {
  /** Writes those whose row is free and whose lease holds. */
  readonly write: (open: readonly Filing[]) => Promise<readonly { task_id: string }[]>;
  /** Whether this is what the writing leaves behind: how the lease ended by the record, undefined without one. */
  readonly isTrace: (filing: Filing, what: string | undefined) => boolean;
}

/**
 * Writes what moves no instance. A row that somebody has in hand is passed over, so a lease that still holds is tried
 * again; one that is gone may have been ended by an earlier try of ours that lost its reply, and its trace tells.
 */
async function writeHeld(kernel: Kernel, filings: readonly Filing[], { write, isTrace }: HeldWriting): Promise<void> {
  if (filings.length === 0) return;
  const open = () => filings.filter((filing) => filing.result === undefined);
  let unsure = filings.some((filing) => filing.unsure);
  await untilAnswered(async () => {
    const written = await write(open()).catch((error: unknown) => {
      unsure ||= isPawlError(error, "outcome_unknown");
      throw error;
    });
    const done = new Set(written.map((one) => one.task_id));
    for (const filing of open()) if (done.has(filing.lease.taskId)) filing.result = "written";
    if (open().length === 0) return;
    const held = await heldOf(kernel.db, open());
    const traces = unsure ? await tracesOf(kernel.db, open()) : undefined;
    for (const filing of open()) {
      const { taskId } = filing.lease;
      // A lapse that was not written has met a worker that renewed.
      if (held.has(taskId) && filing.report.outcome.kind !== "lapsed") continue;
      filing.result = traces !== undefined && isTrace(filing, traces.get(taskId)) ? "written" : "lease_lost";
    }
    if (open().length > 0) throw leaseBusy();
  }, unsure);
}

async function tracesOf(db: Executor, filings: readonly Filing[]): Promise<Map<string, string>> {
  const leases = filings.map(({ report, lease }) => ({ id: report.taken.row.id, ...lease }));
  return new Map((await readSetbacks(db, leases)).map((one) => [one.task_id, one.what]));
}
