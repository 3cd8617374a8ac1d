import { parseDuration } from "../../base/duration.ts";
import { PawlError } from "../../base/errors.ts";
import { compute } from "../../base/guard.ts";
import {
  type Context,
  discarded,
  type EdgeModel,
  effectLaneOf,
  failed,
  type LifecycleModel,
  laneOf,
  type Move,
  type StateModel,
  type Timing,
} from "../model.ts";
import type { InstanceModel } from "./instance.ts";
import { type LaneKey, laneKeyOf } from "./lane-key.ts";

/** Something that happens to an instance. */
export interface LifecycleEvent {
  readonly name: string;
  readonly payload: unknown;
  readonly actor: string | null;
  readonly reason: string | null;
  /** A change of the data before the edge's own: set by a step, or by a person with a requeue. */
  readonly patch?: Readonly<Record<string, unknown>> | undefined;
  /** A deadline fails the instance itself: the `fail` edges of the state are not used. */
  readonly pastOwnFailEdge?: boolean;
  /** The event of a late result, which is accepted with this one. */
  readonly accepts?: string | undefined;
  /** Its deadline starts over. */
  readonly renewsDeadline?: boolean | undefined;
  /** A step ends with this event: when the instance stays, the step is put into its lane again. */
  readonly endsStep?: boolean;
}

/** A timer of a move. */
export interface PlannedTimer {
  readonly kind: "timeout" | "deadline";
  readonly event: string;
  /** Counted from the moment at which the move is written. */
  readonly afterMs: number;
  readonly payload: unknown;
}

/** The work of the state that a move enters. */
interface PlannedStep {
  readonly lane: string;
  readonly priority: number;
  /** Undefined where the state has no keys. */
  readonly key: LaneKey | undefined;
}

/** Work that a move leaves behind. */
interface PlannedEffect {
  readonly lane: string;
  readonly event: string;
  readonly from: string;
  readonly to: string;
  readonly payload: unknown;
  readonly actor: string | null;
}

/** The effect of an event on an instance, as plain data (and the hook that must succeed first). */
export interface Decision {
  readonly kind: "decided";
  readonly event: string;
  readonly from: string | null;
  readonly to: string;
  readonly payload: unknown;
  readonly actor: string | null;
  readonly reason: string | null;
  /** The instance after the move. */
  readonly instance: InstanceModel;
  /** The keys of the data that were set, and those that were removed; null if the data did not change. */
  readonly patch: Readonly<Record<string, unknown>> | null;
  readonly cleared: readonly string[] | null;
  /** The visit ended: its timers go. */
  readonly leaves: boolean;
  /** The current task ends; if the new state has work, `step` is its task. */
  readonly endsTask: boolean;
  /** The run ended: delayed events and deadlines go as well. */
  readonly endsRun: boolean;
  readonly step: PlannedStep | null;
  readonly timers: readonly PlannedTimer[];
  readonly effects: readonly PlannedEffect[];
  /** It also leaves a dead letter for a person to decide. */
  readonly deadLetter: boolean;
  readonly before: EdgeModel["before"];
  /** The context of the hook. */
  readonly context: Context;
}

/** The change of the data. */
export interface Change {
  readonly data: Readonly<Record<string, unknown>>;
  readonly patch: Readonly<Record<string, unknown>> | null;
  readonly cleared: readonly string[] | null;
}

/** The time and the actor of a move. Objects are written out in full: this runs for every move. */
export interface Occasion {
  readonly event: LifecycleEvent;
  readonly change: Change;
  readonly context: Context;
  readonly nowMs: number;
}

/** The result of a move over an edge. */
export function followEdge(
  lifecycle: LifecycleModel,
  instance: InstanceModel,
  edge: EdgeModel,
  occasion: Occasion,
): Decision {
  const { context } = occasion;
  const change = edge.set === undefined ? occasion.change : applyPatch(occasion.change, setOf(edge, context));
  const taken: Occasion = { event: occasion.event, change, context, nowMs: occasion.nowMs };
  return edge.to === null ? stay(lifecycle, instance, taken, edge) : enter(lifecycle, instance, edge.to, taken, edge);
}

function stay(lifecycle: LifecycleModel, instance: InstanceModel, occasion: Occasion, edge: EdgeModel): Decision {
  const { event, change, context } = occasion;
  const { state } = instance;
  // Taken over from an older definition, whose workers may not touch it any more: so is its task.
  const endsTask = event.endsStep === true || instance.definition !== lifecycle.version;
  return {
    kind: "decided",
    event: event.name,
    from: state,
    to: state,
    payload: event.payload,
    actor: event.actor,
    reason: event.reason,
    instance: { ...instance, data: change.data, definition: lifecycle.version, version: instance.version + 1 },
    patch: change.patch,
    cleared: change.cleared,
    leaves: false,
    endsTask,
    endsRun: false,
    step: endsTask ? stepOf(lifecycle, lifecycle.states.get(state)!, context, change.data) : null,
    timers: none,
    effects: effectsOf(lifecycle, edge, event, state, state),
    deadLetter: edge.deadLetter,
    before: edge.before,
    context,
  };
}

/** The result of entering a state, by an edge or without one. */
export function enter(
  lifecycle: LifecycleModel,
  instance: InstanceModel,
  to: string,
  occasion: Occasion,
  edge?: EdgeModel,
): Decision {
  const { event, change, context, nowMs } = occasion;
  const state = lifecycle.states.get(to)!;
  const version = instance.version + 1;
  const restarts = event.name === "restart";
  const staysFailed = state.name === failed && state.builtIn;
  const renews = restarts || event.renewsDeadline === true || (!staysFailed && isFailedPastDeadline(instance, nowMs));
  const outcome = to === discarded && lifecycle.builtIns ? "discarded" : (state.final ?? null);
  const deadline = renews && outcome === null ? deadlineOf(lifecycle, contextWith(context, change.data)) : undefined;
  const timers = outcome === null ? timeoutsOf(state, context, change.data) : none;
  const failure = failureOf(instance, state);
  // A recovery into the state that failed continues that visit, and so keeps its idempotency key.
  const goesOn = event.name === "recover" && canGoOn(lifecycle, instance, state);
  return {
    kind: "decided",
    event: event.name,
    from: instance.state,
    to,
    payload: event.payload,
    actor: event.actor,
    reason: event.reason,
    instance: {
      id: instance.id,
      lifecycle: instance.lifecycle,
      definition: lifecycle.version,
      key: instance.key,
      parent: instance.parent,
      state: to,
      version,
      visit: goesOn ? instance.failedVisit! : version,
      run: restarts ? instance.run + 1 : instance.run,
      data: change.data,
      deadlineAtMs: restarts || deadline !== undefined ? deadlineAt(deadline, nowMs) : instance.deadlineAtMs,
      failedFrom: failure.failedFrom,
      failedVisit: failure.failedVisit,
      timedOutAtMs: timedOutAt(instance, state, occasion),
      outcome,
      createdAtMs: instance.createdAtMs,
    },
    patch: change.patch,
    cleared: change.cleared,
    leaves: true,
    endsTask: true,
    endsRun: outcome !== null || restarts,
    step: stepOf(lifecycle, state, context, change.data),
    timers: deadline === undefined ? timers : [deadline, ...timers],
    effects: edge === undefined ? none : effectsOf(lifecycle, edge, event, instance.state, to),
    deadLetter: edge?.deadLetter === true,
    before: edge?.before,
    context,
  };
}

const none: readonly never[] = [];

function effectsOf(
  lifecycle: LifecycleModel,
  edge: EdgeModel,
  event: LifecycleEvent,
  from: string,
  to: string,
): readonly PlannedEffect[] {
  if (edge.after === undefined) return none;
  const about = { event: event.name, from };
  // What follows on a late result is what would have followed on it in time.
  if (edge.accepts !== undefined) Object.assign(about, { event: edge.accepts.event, from: edge.accepts.state });
  return [{ lane: effectLaneOf(lifecycle), ...about, to, payload: event.payload, actor: event.actor }];
}

/** Whether a recovery continues the visit that failed. */
function canGoOn(lifecycle: LifecycleModel, instance: InstanceModel, to: StateModel): boolean {
  // A state that asks asks again: the question of the visit that failed was withdrawn.
  return to.kind !== "ask" && instance.failedVisit !== null && to.name === failedFromOf(lifecycle, instance);
}

/** What a recovery has to know: where it failed. A move from `failed` to `failed` keeps it. */
function failureOf(instance: InstanceModel, to: StateModel): Pick<InstanceModel, "failedFrom" | "failedVisit"> {
  if (to.name !== failed || !to.builtIn) return { failedFrom: null, failedVisit: null };
  const { failedFrom, failedVisit } = instance;
  return instance.state === failed
    ? { failedFrom, failedVisit }
    : { failedFrom: instance.state, failedVisit: instance.visit };
}

/**
 * Whether its deadline passed while it was failed, for any reason. When it continues it gets a new deadline: the old
 * timer is gone, so it would wait without an end, and no retry would be in time.
 */
function isFailedPastDeadline({ failedFrom, timedOutAtMs, deadlineAtMs }: InstanceModel, nowMs: number): boolean {
  return timedOutAtMs !== null || (failedFrom !== null && deadlineAtMs !== null && deadlineAtMs <= nowMs);
}

/** When its deadline struck: now, or, while it stays failed, as before. */
function timedOutAt(instance: InstanceModel, to: StateModel, { event, nowMs }: Occasion): number | null {
  if (to.name !== failed || !to.builtIn) return null;
  return event.pastOwnFailEdge === true ? nowMs : instance.timedOutAtMs;
}

/** The state in which an instance failed, by the name that it has today. */
export function failedFromOf(lifecycle: LifecycleModel, { failedFrom }: InstanceModel): string | null {
  return failedFrom === null ? null : (lifecycle.renamed[failedFrom] ?? failedFrom);
}

function setOf(edge: EdgeModel, context: Context): Record<string, unknown> {
  const what = `The \`set\` of \`${edge.event}\` in \`${edge.from}\``;
  const set: unknown = compute("set_failed", what, () => edge.set!(context));
  if (isPlainObject(set)) return set;
  throw new PawlError("set_failed", `${what} must return the keys to change, as a plain object.`);
}

export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function stepOf(
  lifecycle: LifecycleModel,
  state: StateModel,
  context: Context,
  data: InstanceModel["data"],
): PlannedStep | null {
  if (state.kind !== "work") return null;
  const lane = laneOf(lifecycle, state.name);
  if (state.keyed === undefined) return { lane, priority: state.priority, key: undefined };
  return { lane, priority: state.priority, key: laneKeyOf(state, { ...context, data, state: state.name }) };
}

function timeoutsOf(state: StateModel, context: Context, data: InstanceModel["data"]): readonly PlannedTimer[] {
  if (state.timeouts.length === 0) return none;
  const changed: Context = { ...context, data, state: state.name };
  const timers: PlannedTimer[] = [];
  for (const timeout of state.timeouts) {
    const ms = timingMs(timeout.after, changed, `The timeout of \`${state.name}\``);
    if (ms !== null) timers.push({ kind: "timeout", event: timeout.send, afterMs: ms, payload: undefined });
  }
  return timers;
}

function contextWith(context: Context, data: InstanceModel["data"]): Context {
  return context.data === data ? context : { ...context, data };
}

export function deadlineOf(lifecycle: LifecycleModel, context: Context): PlannedTimer | undefined {
  if (lifecycle.deadline === undefined) return undefined;
  const ms = timingMs(lifecycle.deadline.within, context, `The deadline of \`${lifecycle.name}\``);
  if (ms === null) return undefined;
  return { kind: "deadline", event: "fail", afterMs: ms, payload: { reason: "deadline" } };
}

export function deadlineAt(deadline: PlannedTimer | undefined, nowMs: number): number | null {
  return deadline === undefined ? null : nowMs + deadline.afterMs;
}

function timingMs(timing: Timing, context: Context, what: string): number | null {
  const given: unknown = typeof timing === "function" ? compute("set_failed", what, () => timing(context)) : timing;
  if (given === null) return null;
  const ms = parseDuration(given);
  if (typeof ms === "string") throw new PawlError("set_failed", `${what}: ${ms}`);
  return ms;
}

/** Whether a decision gives the state of an instance its new name, and changes nothing else. */
export function isRename({ from, to, leaves }: Pick<Decision, "from" | "to" | "leaves">): boolean {
  return !leaves && from !== to;
}

/** A decision as `onMove` gets it. */
export function moveOf({ from, to, event, payload, actor, reason, instance, context }: Decision): Move {
  const { data, outcome, id, key, version } = instance;
  const named = event as Move["event"];
  return { from, to, event: named, payload, data, outcome, actor, reason, id, key, version, now: context.now };
}

/** The data with a patch over it. A key set to undefined is removed, since JSON cannot carry undefined. */
export function applyPatch(change: Change, patch: Readonly<Record<string, unknown>> | undefined): Change {
  const keys = patch === undefined ? [] : Object.keys(patch);
  if (patch === undefined || keys.length === 0) return change;
  const data: Record<string, unknown> = { ...change.data };
  const set: Record<string, unknown> = { ...change.patch };
  const cleared = new Set(change.cleared);
  for (const key of keys) {
    const value = patch[key];
    // An assignment would not create a key of the data but change its prototype.
    if (key === "__proto__") throw new PawlError("value_not_serializable", "`__proto__` cannot be a key of the data.");
    if (value === undefined) {
      delete data[key];
      delete set[key];
      cleared.add(key);
    } else {
      data[key] = value;
      set[key] = value;
      cleared.delete(key);
    }
  }
  return {
    data,
    patch: Object.keys(set).length === 0 ? null : set,
    cleared: cleared.size === 0 ? null : [...cleared],
  };
}

/** The context of the functions of a definition. */
export function contextOf(
  instance: InstanceModel,
  data: InstanceModel["data"],
  event: LifecycleEvent,
  nowMs: number,
): Context {
  return {
    data,
    payload: event.payload,
    actor: event.actor,
    id: instance.id,
    key: instance.key,
    state: instance.state,
    now: isoOf(nowMs),
  };
}

let lastIso = { ms: 0, text: new Date(0).toISOString() };

/** A batch is decided at one moment: its text is made once. */
function isoOf(ms: number): string {
  if (lastIso.ms !== ms) lastIso = { ms, text: new Date(ms).toISOString() };
  return lastIso.text;
}
