import { cleanText } from "../../base/json.ts";
import { joinsAhead } from "../../definition/decide/joins-ahead.ts";
import { afterFailure, countedFailures } from "../../definition/decide/recover.ts";
import { failed, type LifecycleModel } from "../../definition/model.ts";
import { readWaitingParents } from "../../store/family/children.ts";
import { type FailureRow, readFailures } from "../../store/move/journal.ts";
import type { Executor } from "../../store/port/db.ts";
import { readSteps } from "../../views/tasks/tasks.ts";
import type { InstanceUpdate } from "../commit/instance-update.ts";
import { deadLetterOfMove, statedFailure } from "./dead-letter.ts";

/**
 * Decides for every update that ends in `failed` what follows: a recovery after a delay, or a dead letter. Part of the
 * single commit, so it applies to every cause of a failure: a worker's report, a lapsed lease, a timer, a call, a join.
 * The failures are counted from the journal up to the version that the commit expects, which cannot change meanwhile.
 * Only failures cost an additional statement.
 */
export async function scheduleRecoveryOrDeadLetter(
  db: Executor,
  updates: readonly InstanceUpdate[],
  newId: () => string,
): Promise<void> {
  const failing: InstanceUpdate[] = [];
  for (const update of updates) {
    if (update.failedMove === undefined) continue;
    const { decision, origin } = update.failedMove;
    // A final failure has no recovery.
    if (decision.instance.outcome === null) failing.push(update);
    else update.failures.giveUp("instance_failed", deadLetterOfMove(newId(), update.lifecycle, decision, origin));
  }
  if (failing.length > 0) {
    const asked = failing.map(({ row }) => ({ id: row.id, upToVersion: row.version }));
    const histories = new Map((await readFailures(db, asked)).map((one) => [one.id, one]));
    for (const update of failing) {
      const { failures, now_ms } = histories.get(update.row.id)!;
      decideAfterFailure(update, failures, now_ms, newId);
    }
  }
  for (const update of updates) if (update.lacksRecovery) await keepScheduledRecovery(db, update);
  await leaveToParents(db, updates);
}

/**
 * A child whose parent joins it fails for its parent, which fails with it or counts it, and alerts people if necessary.
 * The child itself raises no alert and leaves no dead letter.
 */
async function leaveToParents(db: Executor, updates: readonly InstanceUpdate[]): Promise<void> {
  const children = updates.filter(
    (update) => update.row.parent_id !== null && update.alerts.length > 0 && update.failures.isGivenUp,
  );
  if (children.length === 0) return;
  const ids = children.map(({ row }) => row.id);
  const parents = new Map((await readWaitingParents(db, ids)).map((one) => [one.child_id, one]));
  for (const update of children) {
    const parent = parents.get(update.row.id);
    if (parent?.shape != null && joinsAhead(parent.shape, parent.state)) update.failures.leaveToParent();
  }
}

function decideAfterFailure(
  update: InstanceUpdate,
  past: readonly FailureRow[],
  nowMs: number,
  newId: () => string,
): void {
  const { lifecycle, failedMove } = update;
  const { decision, origin } = failedMove!;
  const present = update.moves.filter((move) => move.to === failed || move.event === "restart");
  const history = [...past.map(pastFailure), ...present.map((move) => presentFailure(move, nowMs))];
  const failures = countedFailures(lifecycle, history, decision.from!);
  const { deadlineAtMs } = decision.instance;
  const next = afterFailure(lifecycle, { failures: failures.length, nowMs, deadlineAtMs });
  if (next.kind === "recover") {
    update.recoverLater({ afterMs: next.afterMs, atMs: null });
    return;
  }
  const reason = next.reason === "no_recovery" ? statedFailure(decision).reason : next.reason;
  const details = detailsOf(lifecycle, failures);
  update.failures.giveUp(
    "instance_failed",
    deadLetterOfMove(newId(), lifecycle, decision, origin, { reason, details }),
  );
}

/** A failure or a restart, with its data. */
export interface FailureEntry {
  readonly version: number;
  readonly event: string;
  readonly from: string | null;
  readonly to: string;
  readonly atMs: number;
  readonly reason: string | null;
  readonly error: { readonly name: string; readonly message: string } | null;
}

export function pastFailure(row: FailureRow): FailureEntry {
  const { version, event, from_state: from, to_state: to, at_ms: atMs, reason, error } = row;
  return { version, event, from, to, atMs, reason, error };
}

function presentFailure(move: InstanceUpdate["moves"][number], nowMs: number): FailureEntry {
  const { version, event, from, to, reason } = move;
  const payload = move.payloadText === null ? undefined : (JSON.parse(move.payloadText) as unknown);
  const failure = statedFailure({ event, payload, reason });
  return { version, event, from, to, atMs: nowMs, reason: failure.reason, error: failure.error };
}

const maxTold = 20;

/** The first questions about a dead letter: how often it failed, when, where and why. */
function detailsOf({ recovery }: LifecycleModel, failures: readonly FailureEntry[]): unknown {
  return {
    failures: failures.length,
    maxFailures: recovery?.maxFailures ?? null,
    history: failures.slice(-maxTold).map(({ version, atMs, from, reason, error }) => ({
      version,
      at: new Date(atMs).toISOString(),
      state: from,
      reason,
      error: error === null ? null : cleanText(`${error.name}: ${error.message}`, 300),
    })),
  };
}

/** A move that leaves an instance failed must not drop its scheduled recovery. */
async function keepScheduledRecovery(db: Executor, update: InstanceUpdate): Promise<void> {
  const [step] = await readSteps(db, [update.row.id]);
  if (step === undefined) return;
  update.recoverLater({ afterMs: null, atMs: step.due_ms });
}
