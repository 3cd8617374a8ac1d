import type { Refusal } from "../../definition/decide/decide.ts";
import { planRecovery, type RecoveryCause, type RecoveryPlan } from "../../definition/decide/recover.ts";
import { failed, type LifecycleModel } from "../../definition/model.ts";
import { readRequestedRecovery } from "../../store/tasks/attempts.ts";
import type { InstanceUpdate } from "../commit/instance-update.ts";
import { modelOf } from "../commit/rows.ts";
import type { Kernel } from "../kernel.ts";
import type { ClaimedTask } from "../types/claimed-task.ts";
import type { GrantDecider, MoveOrigin, StepOutput } from "../types/move-origin.ts";

/** The request of a person to recover an instance whose recovery needs a worker, as stored in a note. */
interface RecoveryRequest {
  readonly event: "recover";
  readonly actor: string | null;
  readonly reason: string | null;
  readonly patch: Readonly<Record<string, unknown>> | null;
  readonly renewsDeadline: boolean;
  readonly version: number;
}

const byPawl: MoveOrigin = { source: "pawl", requestId: null, lease: null };

/** Whether an event is the built-in one that takes a failed instance up again, in whichever of the ways there are. */
export function isRecover(lifecycle: LifecycleModel, event: string): boolean {
  return event === "recover" && lifecycle.builtIns;
}

/** Whether a task is the step of the state `failed`. */
export function isRecovery({ kind, row, lifecycle }: Pick<ClaimedTask, "kind" | "row" | "lifecycle">): boolean {
  return kind === "step" && row.state === failed && lifecycle.builtIns;
}

/**
 * Recovers a failed instance now, at a person's request, whatever is left of its budget: the same as a scheduled
 * recovery. If a `reset` has to run first, which no transaction may wait for, its task becomes due instead.
 */
export function recoverNow(update: InstanceUpdate, cause: RecoveryCause, origin: MoveOrigin): Refusal | undefined {
  const plan = planRecovery(update.lifecycle, update.instance, cause, update.row.now_ms);
  if (plan.kind === "refused") return plan;
  if (plan.resets) {
    const { actor, reason, patch = null, renewsDeadline = false } = cause;
    const { version } = update.instance;
    const asked: RecoveryRequest = { event: "recover", actor, reason, patch, renewsDeadline, version };
    update.note("asked", asked, origin.requestId!);
    update.recoverLater({ afterMs: null, atMs: null });
    update.failures.decideLetters("requeued", actor, reason);
  } else follow(update, plan, origin);
  return undefined;
}

/** The step before a recovery is done: makes the moves of the recovery. */
export function recoverAsTask(
  update: InstanceUpdate,
  done: { readonly cause: RecoveryCause } & StepOutput,
  origin: MoveOrigin,
  grant: GrantDecider | undefined,
): Refusal | undefined {
  const plan = planRecovery(update.lifecycle, update.instance, done.cause, update.row.now_ms);
  if (plan.kind === "refused") return plan;
  follow(update, plan, origin, done, grant);
  return undefined;
}

/** The first move has the actor of the request; those that follow are Pawl's own. */
function follow(
  update: InstanceUpdate,
  { decisions }: RecoveryPlan,
  origin: MoveOrigin,
  output?: StepOutput,
  grant?: GrantDecider,
): void {
  const [first, next] = decisions;
  update.add(first!, origin, output, grant);
  if (next !== undefined) update.add(next, byPawl, {}, grant);
}

/** The plan of a recovery task. */
export interface RecoveryTask {
  readonly cause: RecoveryCause;
  /** The function that has to run before it, outside any transaction. */
  readonly reset: ((work: never) => unknown) | undefined;
  /** Whether it is too late: it was not requested by a person, and the deadline has passed since it was scheduled. */
  readonly isTooLate: () => boolean;
}

/** The plan of a recovery task: its actor, and whether it may still run. */
export async function recoveryOf(kernel: Kernel, { lifecycle, row }: ClaimedTask): Promise<RecoveryTask> {
  const asked = (await readRequestedRecovery(kernel.db, row.id)) as Partial<RecoveryRequest> | undefined;
  const { actor = null, reason = null, patch, renewsDeadline } = asked ?? {};
  const cause: RecoveryCause = { actor, reason, patch: patch ?? undefined, renewsDeadline };
  const { deadline_ms: deadlineMs } = row;
  const isTooLate = () => asked === undefined && deadlineMs !== null && kernel.clock.nowMs() >= deadlineMs;
  const plan = planRecovery(lifecycle, modelOf(row), cause, row.now_ms);
  // A refusal of the recovery is found again when it is reported.
  const isReset = plan.kind === "planned" && plan.resets;
  return { cause, reset: isReset ? lifecycle.recovery?.reset?.run : undefined, isTooLate };
}
