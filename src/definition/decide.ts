import { parseDuration } from "../base/duration.ts";
import { messageOf, PawlError } from "../base/errors.ts";
import type { InstanceModel } from "./instance.ts";
import {
  type Context,
  discarded,
  type EdgeModel,
  effectLaneOf,
  failed,
  type LifecycleModel,
  laneOf,
  type StateModel,
  type Timing,
} from "./model.ts";
import { type Validated, validate } from "./validate.ts";

/** Something that happens to an instance. */
export interface LifecycleEvent {
  readonly name: string;
  readonly payload: unknown;
  readonly actor: string | null;
  readonly reason: string | null;
  /** What a step set before its outcome. */
  readonly patch?: Readonly<Record<string, unknown>>;
  /** A deadline fails the instance itself: the state's own way out of a failed step is not asked. */
  readonly pastOwnFailEdge?: boolean;
  /** A step ends with this event: when the instance stays, the step is put into its lane again. */
  readonly endsStep?: boolean;
}

/** What stands in the way of an event. */
export interface Blocker {
  readonly kind: "closed" | "no_edge" | "guard" | "payload" | "unknown_event";
  readonly event: string;
  readonly from: string;
  readonly to?: string;
  readonly reason: string;
}

export interface Refusal {
  readonly kind: "refused";
  readonly blockers: readonly Blocker[];
}

/** A timer that comes with a move. */
export interface PlannedTimer {
  readonly kind: "timeout" | "deadline";
  readonly event: string;
  /** Counted from the moment at which the move is written. */
  readonly afterMs: number;
  readonly payload: unknown;
}

/** Work that a move leaves behind. */
export interface PlannedEffect {
  readonly lane: string;
  readonly event: string;
  readonly from: string;
  readonly to: string;
  readonly payload: unknown;
  readonly actor: string | null;
}

/** What an event does to an instance, as plain data (and the hook that has to hold before it is so). */
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
  /** Keys of the data that were set, and those that were removed; null when the data stayed as it was. */
  readonly patch: Readonly<Record<string, unknown>> | null;
  readonly cleared: readonly string[] | null;
  /** The visit ended: its task and its timers go. */
  readonly leaves: boolean;
  /** The run ended: delayed events and deadlines go as well. */
  readonly endsRun: boolean;
  readonly step: { readonly lane: string; readonly priority: number } | null;
  readonly timers: readonly PlannedTimer[];
  readonly effects: readonly PlannedEffect[];
  readonly before: EdgeModel["before"];
  /** What the hook is given. */
  readonly context: Context;
}

/** What starting an instance does. The same arguments give the same decision, for ever. */
export function decideStart(
  lifecycle: LifecycleModel,
  start: { id: string; key: string | null; data: unknown; actor: string | null; reason: string | null },
  nowMs: number,
): Decision {
  const data = validData(lifecycle, start.data);
  const born: InstanceModel = {
    id: start.id,
    lifecycle: lifecycle.name,
    definition: lifecycle.version,
    key: start.key,
    state: lifecycle.initial,
    version: 0,
    visit: 0,
    run: 1,
    data,
    deadlineAtMs: null,
    failedFrom: null,
    failedVisit: null,
    outcome: null,
    createdAtMs: nowMs,
  };
  const event = { name: "start", payload: undefined, actor: start.actor, reason: start.reason };
  const context = contextOf(born, event, nowMs);
  const deadline = deadlineOf(lifecycle, context);
  const starting = { ...born, deadlineAtMs: deadlineAt(deadline, nowMs) };
  const decision = enter(
    lifecycle,
    starting,
    event,
    lifecycle.initial,
    { data, patch: data, cleared: null },
    context,
    nowMs,
  );
  return { ...decision, from: null, timers: deadline === undefined ? decision.timers : [deadline, ...decision.timers] };
}

/** What `event` does to an instance. The same arguments give the same decision, for ever. */
export function decide(
  lifecycle: LifecycleModel,
  instance: InstanceModel,
  event: LifecycleEvent,
  nowMs: number,
): Decision | Refusal {
  const edges = lifecycle.edgesFrom(instance.state, event.name);
  const checked = payloadOf(lifecycle, event);
  if (edges.length === 0 || checked.faults !== undefined) {
    return refuse(lifecycle, instance, event, edges, checked.faults ?? []);
  }
  const known = { ...event, payload: checked.value };
  const change = applyPatch({ data: instance.data, patch: null, cleared: null }, event.patch);
  const context = contextOf({ ...instance, data: change.data }, known, nowMs);
  const blockers: Blocker[] = [];
  for (const edge of edges) {
    if (event.pastOwnFailEdge && !edge.builtIn) continue;
    if (event.name === "recover" && edge.to !== recoveryTarget(lifecycle, instance)) continue;
    const held = ask(edge, context);
    if (held === true) return take(lifecycle, instance, edge, known, change, context, nowMs);
    blockers.push({ kind: "guard", event: event.name, from: edge.from, to: edge.to ?? edge.from, reason: held });
  }
  return { kind: "refused", blockers };
}

/**
 * The move of an instance whose state has another name in a newer definition; undefined when nothing is to be done. The
 * visit goes on, its work moves to the new name's lane.
 */
export function decideRename(lifecycle: LifecycleModel, instance: InstanceModel, nowMs: number): Decision | undefined {
  const to = lifecycle.states.has(instance.state) ? undefined : lifecycle.renamed[instance.state];
  if (to === undefined) return undefined;
  const event = { name: "rename", payload: undefined, actor: null, reason: null };
  const change = { data: instance.data, patch: null, cleared: null };
  const decision = enter(lifecycle, instance, event, to, change, contextOf(instance, event, nowMs), nowMs);
  return { ...decision, instance: { ...decision.instance, visit: instance.visit } };
}

/** Whether an event may be sent now: yes, no with every reason, or it depends on a payload that is not known yet. */
export type Permission =
  | { readonly event: string; readonly permitted: "yes" }
  | { readonly event: string; readonly permitted: "depends" }
  | { readonly event: string; readonly permitted: "no"; readonly blockers: readonly Blocker[] };

export function permissions(
  lifecycle: LifecycleModel,
  instance: InstanceModel,
  actor: string | null,
  nowMs: number,
): Permission[] {
  return lifecycle.eventsFrom(instance.state).map((event): Permission => {
    const edges = lifecycle.edgesFrom(instance.state, event);
    if (edges.some((edge) => edge.guard === undefined)) return { event, permitted: "yes" };
    if (lifecycle.events.has(event)) return { event, permitted: "depends" };
    const decided = decide(lifecycle, instance, { name: event, payload: undefined, actor, reason: null }, nowMs);
    return decided.kind === "refused"
      ? { event, permitted: "no", blockers: decided.blockers }
      : { event, permitted: "yes" };
  });
}

/** Where a failed instance resumes: the checkpoint of the state that failed, else that state. */
export function recoveryTarget(lifecycle: LifecycleModel, instance: InstanceModel): string | undefined {
  if (instance.failedFrom === null) return undefined;
  const from = lifecycle.renamed[instance.failedFrom] ?? instance.failedFrom;
  return lifecycle.states.get(from)?.checkpoint ?? from;
}

function refuse(
  lifecycle: LifecycleModel,
  instance: InstanceModel,
  event: LifecycleEvent,
  edges: readonly EdgeModel[],
  faults: readonly string[],
): Refusal {
  const { name } = event;
  const from = instance.state;
  const blockers: Blocker[] = faults.map((reason) => ({ kind: "payload", event: name, from, reason }));
  if (edges.length === 0) {
    const openIn = [...lifecycle.states.keys()].filter((state) => lifecycle.edgesFrom(state, name).length > 0);
    if (openIn.length === 0) {
      blockers.push({
        kind: "unknown_event",
        event: name,
        from,
        reason: `\`${lifecycle.name}\` has no event \`${name}\``,
      });
    } else if (instance.outcome !== null) {
      blockers.push({ kind: "closed", event: name, from, reason: `it has ended in \`${from}\`` });
    } else {
      const where = openIn.map((state) => `\`${state}\``).join(", ");
      blockers.push({
        kind: "no_edge",
        event: name,
        from,
        reason: `\`${name}\` leads out of ${where}, not out of \`${from}\``,
      });
    }
  }
  return { kind: "refused", blockers };
}

/** The guard's answer: true, or the reason why not. */
function ask(edge: EdgeModel, context: Context): true | string {
  if (edge.guard === undefined) return true;
  let held: unknown;
  try {
    held = edge.guard(context);
  } catch (thrown) {
    throw new PawlError(
      "guard_failed",
      `The guard of \`${edge.event}\` in \`${edge.from}\` threw: ${messageOf(thrown)}. A guard answers true or the reason why not.`,
      { edge: { from: edge.from, event: edge.event, to: edge.to } },
      { cause: thrown },
    );
  }
  if (held === true) return true;
  return typeof held === "string" ? held : `the guard of \`${edge.event}\` in \`${edge.from}\` says no`;
}

function take(
  lifecycle: LifecycleModel,
  instance: InstanceModel,
  edge: EdgeModel,
  event: LifecycleEvent,
  before: Change,
  context: Context,
  nowMs: number,
): Decision {
  const change = edge.set === undefined ? before : applyPatch(before, setOf(edge, context));
  const decision =
    edge.to === null
      ? stay(lifecycle, instance, event, change, context)
      : enter(lifecycle, instance, event, edge.to, change, context, nowMs);
  const effects: PlannedEffect[] = [];
  if (edge.after !== undefined) {
    const { name, payload, actor } = event;
    effects.push({ lane: effectLaneOf(lifecycle), event: name, from: instance.state, to: decision.to, payload, actor });
  }
  return { ...decision, effects, before: edge.before };
}

function setOf(edge: EdgeModel, context: Context): Record<string, unknown> {
  try {
    const set = edge.set!(context);
    if (typeof set === "object" && set !== null && !Array.isArray(set)) return set;
  } catch (thrown) {
    throw new PawlError(
      "set_failed",
      `The \`set\` of \`${edge.event}\` in \`${edge.from}\` threw: ${messageOf(thrown)}.`,
      {},
      { cause: thrown },
    );
  }
  throw new PawlError(
    "set_failed",
    `The \`set\` of \`${edge.event}\` in \`${edge.from}\` must return the keys to change.`,
  );
}

/** What became of the data. */
interface Change {
  readonly data: Readonly<Record<string, unknown>>;
  readonly patch: Readonly<Record<string, unknown>> | null;
  readonly cleared: readonly string[] | null;
}

function stay(
  lifecycle: LifecycleModel,
  instance: InstanceModel,
  event: LifecycleEvent,
  change: Change,
  context: Context,
): Decision {
  const state = lifecycle.states.get(instance.state)!;
  return {
    ...moveOf(instance, event, instance.state, change, context),
    instance: { ...instance, data: change.data, definition: lifecycle.version, version: instance.version + 1 },
    leaves: false,
    endsRun: false,
    step: event.endsStep === true ? stepOf(lifecycle, state) : null,
    timers: [],
  };
}

function enter(
  lifecycle: LifecycleModel,
  instance: InstanceModel,
  event: LifecycleEvent,
  to: string,
  change: Change,
  context: Context,
  nowMs: number,
): Decision {
  const state = lifecycle.states.get(to)!;
  if (state.kind === "ask" || state.kind === "join" || state.kind === "park") {
    const key = { ask: "ask", join: "join", park: "release" }[state.kind];
    throw new PawlError(
      "not_available",
      `\`${lifecycle.name}\` cannot enter \`${to}\`: this version of Pawl checks and draws \`${key}\`, but does not run it yet.`,
      { lifecycle: lifecycle.name, state: to },
    );
  }
  const version = instance.version + 1;
  const restarts = event.name === "restart";
  const outcome = to === discarded && lifecycle.builtIns ? "discarded" : (state.final ?? null);
  const goesOn = event.name === "recover" && to === instance.failedFrom && instance.failedVisit !== null;
  const deadline = restarts ? deadlineOf(lifecycle, context) : undefined;
  const fails = to === failed && state.builtIn;
  const timers = outcome === null ? timeoutsOf(state, { ...context, data: change.data }) : [];
  return {
    ...moveOf(instance, event, to, change, context),
    instance: {
      ...instance,
      data: change.data,
      definition: lifecycle.version,
      state: to,
      version,
      // A recovery into the state that failed goes on with that visit, and so with its idempotency key.
      visit: goesOn ? instance.failedVisit! : version,
      run: restarts ? instance.run + 1 : instance.run,
      deadlineAtMs: restarts ? deadlineAt(deadline, nowMs) : instance.deadlineAtMs,
      failedFrom: fails ? instance.state : null,
      failedVisit: fails ? instance.visit : null,
      outcome,
    },
    leaves: true,
    endsRun: outcome !== null || restarts,
    step: stepOf(lifecycle, state),
    timers: deadline === undefined ? timers : [deadline, ...timers],
  };
}

function moveOf(instance: InstanceModel, event: LifecycleEvent, to: string, change: Change, context: Context) {
  return {
    kind: "decided" as const,
    event: event.name,
    from: instance.state,
    to,
    payload: event.payload,
    actor: event.actor,
    reason: event.reason,
    patch: change.patch,
    cleared: change.cleared,
    effects: [],
    before: undefined,
    context,
  };
}

function stepOf(lifecycle: LifecycleModel, state: StateModel): Decision["step"] {
  return state.kind === "work" ? { lane: laneOf(lifecycle, state.name), priority: state.priority } : null;
}

function timeoutsOf(state: StateModel, context: Context): PlannedTimer[] {
  const timers: PlannedTimer[] = [];
  for (const timeout of state.timeouts) {
    const ms = timingMs(timeout.after, context, `The timeout of \`${state.name}\``);
    if (ms !== null) timers.push({ kind: "timeout", event: timeout.send, afterMs: ms, payload: undefined });
  }
  return timers;
}

function deadlineOf(lifecycle: LifecycleModel, context: Context): PlannedTimer | undefined {
  if (lifecycle.deadline === undefined) return undefined;
  const ms = timingMs(lifecycle.deadline.within, context, `The deadline of \`${lifecycle.name}\``);
  if (ms === null) return undefined;
  return { kind: "deadline", event: "fail", afterMs: ms, payload: { reason: "timeout" } };
}

function deadlineAt(deadline: PlannedTimer | undefined, nowMs: number): number | null {
  return deadline === undefined ? null : nowMs + deadline.afterMs;
}

function timingMs(timing: Timing, context: Context, what: string): number | null {
  const given = typeof timing === "function" ? timing(context) : timing;
  if (given === null) return null;
  const ms = parseDuration(given);
  if (typeof ms === "string") throw new PawlError("set_failed", `${what}: ${ms}`);
  return ms;
}

/** The data with a patch over it. A key set to undefined is removed, since JSON cannot carry undefined. */
function applyPatch(change: Change, patch: Readonly<Record<string, unknown>> | undefined): Change {
  const keys = patch === undefined ? [] : Object.keys(patch);
  if (patch === undefined || keys.length === 0) return change;
  const data: Record<string, unknown> = { ...change.data };
  const set: Record<string, unknown> = { ...change.patch };
  const cleared = new Set(change.cleared);
  for (const key of keys) {
    const value = patch[key];
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

/** The payload held against its schema. What `fail` is told is free: a reason, an error, whatever was known. */
function payloadOf(lifecycle: LifecycleModel, event: LifecycleEvent): Validated {
  const schema = lifecycle.events.get(event.name);
  if (schema === undefined && event.name === "fail") return { value: event.payload ?? undefined, faults: undefined };
  return validate(schema, event.payload, `The payload of \`${event.name}\``);
}

function contextOf(instance: InstanceModel, event: LifecycleEvent, nowMs: number): Context {
  return {
    data: instance.data,
    payload: event.payload,
    actor: event.actor,
    id: instance.id,
    key: instance.key,
    now: new Date(nowMs).toISOString(),
  };
}

function validData(lifecycle: LifecycleModel, given: unknown): Record<string, unknown> {
  const checked = validate(lifecycle.data, given, `The data of \`${lifecycle.name}\``);
  const faults = [...(checked.faults ?? [])];
  const data = checked.value ?? {};
  if (faults.length === 0 && (typeof data !== "object" || Array.isArray(data))) faults.push("must be an object");
  if (faults.length > 0) {
    throw new PawlError("data_invalid", `\`${lifecycle.name}\` was not started: its data ${faults.join("; ")}.`, {
      lifecycle: lifecycle.name,
      faults,
    });
  }
  return data as Record<string, unknown>;
}
