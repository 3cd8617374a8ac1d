import { messageOf } from "../../base/errors.ts";
import { dateOf } from "../../base/moment.ts";
import { decide, decideRename, type Refusal } from "../../definition/decide/decide.ts";
import {
  type ExplainedRetry,
  type NextRecoveryStep,
  type RecoveryExplanation,
  sentencesOf,
} from "../../definition/decide/explain.ts";
import type { InstanceModel } from "../../definition/decide/instance.ts";
import { afterFailure, countedFailures, isFailure, planRecovery } from "../../definition/decide/recover.ts";
import { failed, type LifecycleModel } from "../../definition/model.ts";
import { modelOf } from "../../kernel/commit/rows.ts";
import { type Kernel, lifecycleOf } from "../../kernel/kernel.ts";
import { type FailureEntry, pastFailure } from "../../kernel/recovery/after-failure.ts";
import type { InstanceRow } from "../../store/move/instances.ts";
import { readFailures } from "../../store/move/journal.ts";
import type { Executor } from "../../store/port/db.ts";
import { readLetterAbout } from "../../views/dead-letters.ts";
import { readSteps } from "../../views/tasks/tasks.ts";

const noActor = { actor: null, reason: null };

/** Explains the recovery of an instance by the functions that decide about it. Reads only: three statements at most. */
export async function explainRecovery(kernel: Kernel, db: Executor, row: InstanceRow): Promise<RecoveryExplanation> {
  const lifecycle = lifecycleOf(kernel, row);
  const instance = decideRename(lifecycle, modelOf(row), row.now_ms)?.instance ?? modelOf(row);
  const history = await historyOf(db, row);
  const hasFailed = lifecycle.builtIns && instance.state === failed;
  const last = hasFailed ? history.findLast((move) => isFailure(lifecycle, move)) : undefined;
  const counted = countedFailures(lifecycle, history, last?.from ?? instance.state);
  const known = {
    failure: last === undefined ? null : failureOf(last),
    failures: counted.length,
    maxFailures: lifecycle.recovery?.maxFailures ?? null,
    scope: lifecycle.recovery?.scope ?? "restart",
    ...(hasFailed
      ? { next: await nextOf(db, row), retry: retryOf(lifecycle, instance, row.now_ms) }
      : ifItFailed(lifecycle, instance, row.now_ms, counted.length)),
  } as const;
  return { ...known, sentences: row.outcome === null ? sentencesOf(known) : [] };
}

async function historyOf(db: Executor, row: InstanceRow): Promise<FailureEntry[]> {
  const [history] = await readFailures(db, [{ id: row.id, upToVersion: row.version }]);
  return history!.failures.map(pastFailure);
}

function failureOf({ from, atMs, event, reason, error }: FailureEntry): RecoveryExplanation["failure"] {
  const at = new Date(atMs);
  return { state: from!, at, event, reason, error: error === null ? null : `${error.name}: ${error.message}` };
}

async function nextOf(db: Executor, row: InstanceRow): Promise<NextRecoveryStep> {
  const [step] = await readSteps(db, [row.id]);
  if (step !== undefined) return { kind: "recovery", at: dateOf(step.due_ms) };
  const letter = await readLetterAbout(db, row.id);
  return { kind: "person", reason: letter?.reason ?? null, deadLetter: letter?.id ?? null };
}

function retryOf(lifecycle: LifecycleModel, instance: InstanceModel, nowMs: number): ExplainedRetry {
  const plan = guarded(instance, () => planRecovery(lifecycle, instance, noActor, nowMs));
  if (plan.kind === "refused") return plan;
  const { target, way, resets, decisions } = plan;
  const moves = decisions.map(({ event, from, to }) => ({ event, from: from!, to }));
  return { kind: "planned", target, targetKind: lifecycle.states.get(target)!.kind, way, resets, moves };
}

/** A guard that throws refuses, as far as an explanation goes. */
function guarded<Decided>({ state }: InstanceModel, decides: () => Decided): Decided | Refusal {
  try {
    return decides();
  } catch (thrown) {
    const reason = `its definition threw: ${messageOf(thrown)}`;
    return { kind: "refused", blockers: [{ kind: "guard", event: "recover", from: state, reason }] };
  }
}

/** What would follow if an instance failed in its state. */
function ifItFailed(
  lifecycle: LifecycleModel,
  instance: InstanceModel,
  nowMs: number,
  failures: number,
): { next: NextRecoveryStep; retry: ExplainedRetry | null } {
  const fails =
    instance.outcome === null
      ? guarded(instance, () => decide(lifecycle, instance, { name: "fail", payload: undefined, ...noActor }, nowMs))
      : undefined;
  if (fails?.kind !== "decided") return { next: { kind: "none" }, retry: null };
  if (!isFailure(lifecycle, fails)) return { next: { kind: "none" }, retry: { kind: "caught", to: fails.to } };
  const { deadlineAtMs } = instance;
  const next = afterFailure(lifecycle, { failures: failures + 1, nowMs, deadlineAtMs });
  const recovers = next.kind === "recover";
  return {
    next: {
      kind: "if_failed",
      recoversAfterMs: recovers ? next.afterMs : null,
      reason: recovers ? null : next.reason,
    },
    retry: recovers ? retryOf(lifecycle, fails.instance, nowMs) : null,
  };
}
