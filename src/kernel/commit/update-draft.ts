import type { InstanceModel } from "../../definition/decide/instance.ts";
import { hasJoins, isJoinAhead } from "../../definition/decide/joins-ahead.ts";
import { failed, type LifecycleModel } from "../../definition/model.ts";
import type { CheckRow } from "../../store/family/checks.ts";
import type { InstanceRow } from "../../store/move/instances.ts";
import type { JournalRow } from "../../store/move/journal.ts";
import type { MovedInstance } from "../../store/move/move-instances.ts";
import type { TimerRow } from "../../store/move/timers.ts";
import type { NextStep } from "../../store/move/written.ts";
import { childOutcomeOf } from "../family/child-outcome.ts";
import { earliest, noMove, shelfOf } from "./rows.ts";

/** The sum of an update's decisions, besides the instance itself. */
export interface UpdateDraft {
  journal: readonly JournalRow[];
  timers: readonly TimerRow[];
  step: NextStep | null;
  /** The state that was read is left. */
  leaves: boolean;
  endsTask: boolean;
  endsRun: boolean;
  /** The data after the decisions so far; null if unchanged. */
  dataText: string | null;
  /** The token of the lease under which a worker reports. */
  token: number | null;
  isLapsed: boolean;
  /** Timers that were due at this time are applied. */
  settledMs: number | null;
  lockedMs: number | null;
  /** Rows besides the instance change: its counter `alarms` rises. */
  alarmed: boolean;
  deadlineAfterMs: number | null;
  hasChildren: boolean;
  /** Its recovery has failed permanently. */
  abandoned: boolean;
}

const none: readonly never[] = [];

export function newDraft(row: InstanceRow): UpdateDraft {
  return {
    journal: none,
    timers: none,
    step: null,
    leaves: false,
    endsTask: false,
    endsRun: false,
    dataText: null,
    token: null,
    isLapsed: false,
    settledMs: null,
    lockedMs: null,
    alarmed: false,
    deadlineAfterMs: null,
    hasChildren: row.has_children,
    abandoned: false,
  };
}

/** An instance as it was read and as the decisions change it, with their other effects. */
export interface Drafted {
  readonly lifecycle: LifecycleModel;
  readonly row: InstanceRow;
  readonly instance: InstanceModel;
  readonly draft: Readonly<UpdateDraft>;
  /** The event of the last decision. */
  readonly lastEvent: string | undefined;
  readonly settledCallbacks: number;
  /** Its failure, as JSON; null if unchanged. */
  readonly failureText: string | null;
}

/** The row of the statement that moves instances. */
export function movedInstance(of: Drafted): MovedInstance {
  const { lifecycle, row, instance, draft } = of;
  const { journal, step, timers } = draft;
  const last = journal.at(-1);
  return {
    id: instance.id,
    expectedVersion: row.version,
    expectedAlarms: row.alarms,
    token: draft.token,
    lapsed: draft.isLapsed,
    settledMs: draft.settledMs ?? draft.lockedMs,
    definition: instance.definition,
    state: instance.state,
    shelf: shelfOf(lifecycle, instance.state),
    version: instance.version,
    alarms: row.alarms + (draft.alarmed ? 1 : 0),
    visit: instance.visit,
    run: instance.run,
    dataText: draft.dataText,
    deadlineAfterMs: draft.deadlineAfterMs,
    failedFrom: instance.failedFrom,
    failedVisit: instance.failedVisit,
    failureText: of.failureText,
    timedOut: instance.timedOutAtMs !== null,
    settledCallbacks: of.settledCallbacks,
    outcome: instance.outcome,
    childOutcome: outcomeForParent(of),
    hasChildren: draft.hasChildren === row.has_children ? null : draft.hasChildren,
    keyHeld: !(lifecycle.job && instance.outcome !== null),
    leaves: draft.leaves,
    endsRun: draft.endsRun,
    dropsTask: draft.endsTask && step === null && hadTask(of),
    dueAfterMs: earliest(timers, "afterMs"),
    dueAtMs: earliest(timers, "atMs"),
    move: last ?? noMove,
    from: journal.length > 1 ? last!.from : null,
    reported: last?.token != null,
    step,
  };
}

/**
 * The instances to check for joins and questions: the parent, if its child has ended; the instance itself, if it has
 * entered a join, asks, no longer asks, or has continued without the join that was to handle failed children.
 */
export function checksOf(of: Drafted): readonly CheckRow[] {
  const { row, draft } = of;
  const { id, lifecycle, state, parent } = of.instance;
  const checks: CheckRow[] = [];
  const outcome = outcomeForParent(of);
  if (parent !== null && outcome !== null && outcome !== "open")
    checks.push({ instanceId: id, parentId: parent.id, lifecycle: parent.lifecycle });
  const { states } = of.lifecycle;
  const kind = states.get(state)?.kind;
  const isAsking = kind === "join" || kind === "ask" || states.get(row.state)?.kind === "ask";
  if (draft.leaves && (isAsking || passesJoin(of))) checks.push({ instanceId: id, parentId: id, lifecycle });
  return checks;
}

/** The outcome of a child for its parent; null if that does not change, and for instances without a parent. */
function outcomeForParent({ lifecycle, row, instance, draft }: Drafted): string | null {
  if (row.parent_id === null) return null;
  if (!draft.leaves && !draft.abandoned && instance.outcome === null) return null;
  return childOutcomeOf(lifecycle, instance, draft.step !== null) ?? "open";
}

/** It has children, and ends, is restarted, or continues to where no join is ahead, by another event than that of a join. */
function passesJoin({ lifecycle, row, instance, lastEvent }: Drafted): boolean {
  if (!row.has_children || !hasJoins(lifecycle) || lastEvent === "joined") return false;
  if (instance.outcome !== null || instance.run > row.run) return true;
  const isAhead = (state: string) => isJoinAhead(lifecycle, state);
  return isAhead(row.failed_from ?? row.state) && !isAhead(instance.failedFrom ?? instance.state);
}

/** Whether there can be a step's task: the state that was read works, recovers, or is of a definition not known here. */
function hadTask({ lifecycle, row }: Drafted): boolean {
  const state = lifecycle.states.get(row.state);
  return state === undefined || state.kind === "work" || (state.name === failed && state.builtIn);
}
