import { parseDuration } from "../base/duration.ts";
import { messageOf, PawlError } from "../base/errors.ts";
import { cleanText } from "../base/json.ts";
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
  readonly kind: "closed" | "no_edge" | "guard" | "payload" | "unknown_event" | "no_target";
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
  /** The visit ended: its timers go. */
  readonly leaves: boolean;
  /** The task so far goes; where there is work to do, a new one comes with `step`. */
  readonly endsTask: boolean;
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
  const ways = waysOf(lifecycle, instance, event, edges);
  if (ways.length === 0) return { kind: "refused", blockers: [noTarget(lifecycle, instance, event.name)] };
  const blockers: Blocker[] = [];
  for (const edge of ways) {
    const held = ask(edge, context);
    if (held === true) return take(lifecycle, instance, edge, known, change, context, nowMs);
    blockers.push({ kind: "guard", event: event.name, from: edge.from, to: edge.to ?? edge.from, reason: held });
  }
  return { kind: "refused", blockers };
}

/** Those of an event's edges that are open to this instance: a recovery has one target, a deadline fails it for good. */
function waysOf(
  lifecycle: LifecycleModel,
  instance: InstanceModel,
  event: Pick<LifecycleEvent, "name" | "pastOwnFailEdge">,
  edges: readonly EdgeModel[],
): readonly EdgeModel[] {
  if (event.pastOwnFailEdge) return edges.filter((edge) => edge.builtIn);
  if (event.name !== "recover" || !lifecycle.builtIns) return edges;
  const target = recoveryTarget(lifecycle, instance);
  return edges.filter((edge) => edge.to === target);
}

function noTarget(lifecycle: LifecycleModel, instance: InstanceModel, event: string): Blocker {
  const target = recoveryTarget(lifecycle, instance);
  const reason = `it failed in \`${target}\`, which \`${lifecycle.name}\` no longer has`;
  return { kind: "no_target", event, from: instance.state, reason };
}

/**
 * The move of an instance whose state has another name in a newer definition; undefined when nothing is to be done. The
 * visit goes on with its timers, its work moves to the new name's lane, and what has ended stays ended as it did.
 */
export function decideRename(lifecycle: LifecycleModel, instance: InstanceModel, nowMs: number): Decision | undefined {
  const to = lifecycle.states.has(instance.state) ? undefined : lifecycle.renamed[instance.state];
  const state = to === undefined ? undefined : lifecycle.states.get(to);
  if (state === undefined || (instance.outcome !== null && state.final === undefined)) return undefined;
  const event = { name: "rename", payload: undefined, actor: null, reason: null };
  const change = { data: instance.data, patch: null, cleared: null };
  const entered = enter(lifecycle, instance, event, state.name, change, contextOf(instance, event, nowMs), nowMs);
  const outcome = instance.outcome ?? entered.instance.outcome;
  return { ...entered, instance: { ...entered.instance, visit: instance.visit, outcome }, leaves: false, timers: [] };
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
    const edges = waysOf(lifecycle, instance, { name: event }, lifecycle.edgesFrom(instance.state, event));
    if (edges.some((edge) => edge.guard === undefined)) return { event, permitted: "yes" };
    if (edges.length > 0 && takesPayload(lifecycle, event)) return { event, permitted: "depends" };
    const decided = decide(lifecycle, instance, { name: event, payload: undefined, actor, reason: null }, nowMs);
    return decided.kind === "refused"
      ? { event, permitted: "no", blockers: decided.blockers }
      : { event, permitted: "yes" };
  });
}

/** Whether an event can be sent with something. */
export function takesPayload(lifecycle: LifecycleModel, event: string): boolean {
  return lifecycle.events.has(event) || event === "fail";
}

/** Where a failed instance resumes: the checkpoint of the state that failed, else that state. */
export function recoveryTarget(lifecycle: LifecycleModel, instance: InstanceModel): string | undefined {
  const from = failedFromOf(lifecycle, instance);
  return from === null ? undefined : (lifecycle.states.get(from)?.checkpoint ?? from);
}

/** The state in which an instance failed, by the name that it has today. */
function failedFromOf(lifecycle: LifecycleModel, { failedFrom }: InstanceModel): string | null {
  return failedFrom === null ? null : (lifecycle.renamed[failedFrom] ?? failedFrom);
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
  refusePromise("guard_failed", held, `The guard of \`${edge.event}\` in \`${edge.from}\``);
  return typeof held === "string" && held !== ""
    ? cleanText(held, 500)
    : `the guard of \`${edge.event}\` in \`${edge.from}\` says no`;
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
  const what = `The \`set\` of \`${edge.event}\` in \`${edge.from}\``;
  let set: unknown;
  try {
    set = edge.set!(context);
  } catch (thrown) {
    throw new PawlError("set_failed", `${what} threw: ${messageOf(thrown)}.`, {}, { cause: thrown });
  }
  refusePromise("set_failed", set, what);
  if (isPlainObject(set)) return set;
  throw new PawlError("set_failed", `${what} must return the keys to change, as a plain object.`);
}

/** Decisions are made in one breath: what an async function answers would come too late to count. */
function refusePromise(code: "guard_failed" | "set_failed", given: unknown, what: string): void {
  if (!(given instanceof Promise)) return;
  given.catch(() => {}); // Nobody waits for it.
  throw new PawlError(
    code,
    `${what} returned a promise. It decides at once: let it be a plain function of its argument.`,
  );
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
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
  // Taken over from an older definition, whose workers may not touch it any more: so is its task.
  const endsTask = event.endsStep === true || instance.definition !== lifecycle.version;
  return {
    ...moveOf(instance, event, instance.state, change, context),
    instance: { ...instance, data: change.data, definition: lifecycle.version, version: instance.version + 1 },
    leaves: false,
    endsTask,
    endsRun: false,
    step: endsTask ? stepOf(lifecycle, state) : null,
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
  const goesOn = event.name === "recover" && to === failedFromOf(lifecycle, instance) && instance.failedVisit !== null;
  const changed = { ...context, data: change.data };
  const deadline = restarts ? deadlineOf(lifecycle, changed) : undefined;
  const timers = outcome === null ? timeoutsOf(state, changed) : [];
  return {
    ...moveOf(instance, event, to, change, context),
    instance: {
      ...instance,
      data: change.data,
      definition: lifecycle.version,
      state: to,
      version,
      // A recovery into the state that failed goes on with that visit, and so with its idempotency key.
      visit: goesOn ? instance.failedVisit : version,
      run: restarts ? instance.run + 1 : instance.run,
      deadlineAtMs: restarts ? deadlineAt(deadline, nowMs) : instance.deadlineAtMs,
      ...failureOf(instance, state),
      outcome,
    },
    leaves: true,
    endsTask: true,
    endsRun: outcome !== null || restarts,
    step: stepOf(lifecycle, state),
    timers: deadline === undefined ? timers : [deadline, ...timers],
  };
}

/** What a recovery has to know: where it failed. Going from `failed` to `failed` does not make it forget. */
function failureOf(instance: InstanceModel, to: StateModel): Pick<InstanceModel, "failedFrom" | "failedVisit"> {
  if (to.name !== failed || !to.builtIn) return { failedFrom: null, failedVisit: null };
  const { failedFrom, failedVisit } = instance;
  return instance.state === failed
    ? { failedFrom, failedVisit }
    : { failedFrom: instance.state, failedVisit: instance.visit };
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
  let given: unknown = timing;
  try {
    if (typeof timing === "function") given = timing(context);
  } catch (thrown) {
    throw new PawlError("set_failed", `${what} threw: ${messageOf(thrown)}.`, {}, { cause: thrown });
  }
  refusePromise("set_failed", given, what);
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
    // Assigned, it would not be a key of the data but change what the data inherits from.
    if (key === "__proto__") throw new PawlError("value_unstorable", "`__proto__` cannot be a key of the data.");
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

/** The payload held against its schema. */
function payloadOf(lifecycle: LifecycleModel, event: LifecycleEvent): Validated {
  if (event.name === "fail") return failurePayload(event);
  return validate(lifecycle.events.get(event.name), event.payload, `The payload of \`${event.name}\``);
}

/** What `fail` tells is filled up, so that an edge of it gets the same whether a step, a timer or a person failed it. */
function failurePayload(event: LifecycleEvent): Validated {
  const given = event.payload ?? {};
  if (!isPlainObject(given)) return { value: undefined, faults: ["must be an object such as { reason }"] };
  const { reason = event.reason ?? "failed", error = null, attempts = 0 } = given;
  const faults: string[] = [];
  if (typeof reason !== "string") faults.push("reason: must be a text");
  if (!isError(error)) faults.push("error: must be null or { name, message }");
  if (!Number.isInteger(attempts) || (attempts as number) < 0) faults.push("attempts: must be a whole number");
  if (faults.length > 0) return { value: undefined, faults };
  return { value: { ...given, reason, error, attempts }, faults: undefined };
}

function isError(error: unknown): boolean {
  return (
    error === null || (isPlainObject(error) && typeof error.name === "string" && typeof error.message === "string")
  );
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
