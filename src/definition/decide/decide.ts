import { messageOf, PawlError } from "../../base/errors.ts";
import { refusePromise } from "../../base/guard.ts";
import { cleanText } from "../../base/json.ts";
import { acceptLate, type Context, type EdgeModel, failed, type LifecycleModel, type StateModel } from "../model.ts";
import type { InstanceModel } from "./instance.ts";
import {
  applyPatch,
  contextOf,
  type Decision,
  deadlineAt,
  deadlineOf,
  enter,
  failedFromOf,
  followEdge,
  isPlainObject,
  type LifecycleEvent,
} from "./move.ts";
import { type Validated, validate } from "./validate.ts";

/** Why an event is refused. */
export interface Blocker {
  readonly kind: "closed" | "no_edge" | "guard" | "payload" | "unknown_event" | "no_target" | "no_way";
  readonly event: string;
  readonly from: string;
  readonly to?: string;
  readonly reason: string;
}

export interface Refusal {
  readonly kind: "refused";
  readonly blockers: readonly Blocker[];
}

/** The result of starting an instance. Pure: the same arguments give the same decision. */
export function decideStart(
  lifecycle: LifecycleModel,
  start: {
    id: string;
    key: string | null;
    parent?: InstanceModel["parent"];
    data: unknown;
    actor: string | null;
    reason: string | null;
  },
  nowMs: number,
): Decision {
  const data = validData(lifecycle, start.data);
  const born: InstanceModel = {
    id: start.id,
    lifecycle: lifecycle.name,
    definition: lifecycle.version,
    key: start.key,
    parent: start.parent ?? null,
    state: lifecycle.initial,
    version: 0,
    visit: 0,
    run: 1,
    data,
    deadlineAtMs: null,
    failedFrom: null,
    failedVisit: null,
    timedOutAtMs: null,
    outcome: null,
    createdAtMs: nowMs,
  };
  const event = { name: "start", payload: undefined, actor: start.actor, reason: start.reason };
  const context = contextOf(born, data, event, nowMs);
  const deadline = deadlineOf(lifecycle, context);
  const starting = deadline === undefined ? born : { ...born, deadlineAtMs: deadlineAt(deadline, nowMs) };
  const occasion = { event, change: { data, patch: data, cleared: null }, context, nowMs };
  const decision = enter(lifecycle, starting, lifecycle.initial, occasion);
  return { ...decision, from: null, timers: deadline === undefined ? decision.timers : [deadline, ...decision.timers] };
}

/** The effect of `event` on an instance. Pure: the same arguments give the same decision. */
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
  const known = checked.value === event.payload ? event : { ...event, payload: checked.value };
  const change = applyPatch({ data: instance.data, patch: null, cleared: null }, event.patch);
  const context = contextOf(instance, change.data, known, nowMs);
  const ways = openEdges(lifecycle, instance, event, edges);
  if (ways.length === 0) return { kind: "refused", blockers: [noTarget(lifecycle, instance, event)] };
  const blockers: Blocker[] = [];
  for (const edge of ways) {
    const held = checkGuard(edge, context);
    if (held === true) return followEdge(lifecycle, instance, edge, { event: known, change, context, nowMs });
    blockers.push({ kind: "guard", event: event.name, from: edge.from, to: edge.to ?? edge.from, reason: held });
  }
  return { kind: "refused", blockers };
}

/**
 * The edges of an event that this instance may take: a recovery has one target, a deadline fails it permanently, a late
 * result takes the edge that it had where the instance failed, and a result that came early the edge that it has in the
 * state that accepts it.
 */
export function openEdges(
  lifecycle: LifecycleModel,
  instance: InstanceModel,
  event: Pick<LifecycleEvent, "name" | "pastOwnFailEdge" | "accepts">,
  edges: readonly EdgeModel[],
): readonly EdgeModel[] {
  if (event.pastOwnFailEdge) return edges.filter((edge) => edge.builtIn);
  if (event.name === acceptLate && lifecycle.builtIns) {
    const from = failedFromOf(lifecycle, instance);
    const taking = edges.filter(({ accepts }) => accepts?.event === event.accepts);
    const there = taking.filter(({ accepts }) => accepts?.state === from);
    return there.length > 0 ? there : taking;
  }
  if (event.name !== "recover" || !lifecycle.builtIns) return edges;
  const target = recoveryTarget(lifecycle, instance);
  return edges.filter((edge) => edge.to === target);
}

function noTarget(
  lifecycle: LifecycleModel,
  instance: InstanceModel,
  { name: event, accepts }: LifecycleEvent,
): Blocker {
  if (event === acceptLate) {
    const where = failedFromOf(lifecycle, instance);
    const reason =
      accepts === undefined
        ? "a late result is accepted by its callback's id: pawl.acceptLate(id)"
        : `neither \`${where}\`, where it failed, nor any other state takes \`${accepts}\``;
    return { kind: "no_target", event, from: failed, reason };
  }
  const target = recoveryTarget(lifecycle, instance);
  const reason = `it failed in \`${target}\`, which \`${lifecycle.name}\` no longer has`;
  return { kind: "no_target", event, from: instance.state, reason };
}

/**
 * The move of an instance whose state has another name in a newer definition; undefined if it does not. The visit
 * continues with its timers, its work moves to the new name's lane, and an ended instance stays ended with the same
 * outcome.
 */
export function decideRename(lifecycle: LifecycleModel, instance: InstanceModel, nowMs: number): Decision | undefined {
  const to = lifecycle.states.has(instance.state) ? undefined : lifecycle.renamed[instance.state];
  const state = to === undefined ? undefined : lifecycle.states.get(to);
  if (state === undefined || (instance.outcome !== null && state.final === undefined)) return undefined;
  const event = { name: "rename", payload: undefined, actor: null, reason: null };
  const change = { data: instance.data, patch: null, cleared: null };
  const context = contextOf(instance, instance.data, event, nowMs);
  const entered = enter(lifecycle, instance, state.name, { event, change, context, nowMs });
  const outcome = instance.outcome ?? entered.instance.outcome;
  return { ...entered, instance: { ...entered.instance, visit: instance.visit, outcome }, leaves: false, timers: [] };
}

/** Whether an event can be sent with something. */
export function takesPayload(lifecycle: LifecycleModel, event: string): boolean {
  return lifecycle.events.has(event) || event === "fail" || isSentByPawl(lifecycle, event);
}

const kindsByEvent: Readonly<Record<string, StateModel["kind"]>> = {
  joined: "join",
  answered: "ask",
  unanswered: "ask",
};

/** The events of Pawl itself to a lifecycle that joins or asks: with the counts, or with the answer. */
function isSentByPawl(lifecycle: LifecycleModel, event: string): boolean {
  const kind = Object.hasOwn(kindsByEvent, event) ? kindsByEvent[event] : undefined;
  return kind !== undefined && [...lifecycle.states.values()].some((state) => state.kind === kind);
}

/** Where a failed instance resumes: the checkpoint of the state that failed, else that state. */
export function recoveryTarget(lifecycle: LifecycleModel, instance: InstanceModel): string | undefined {
  const from = failedFromOf(lifecycle, instance);
  return from === null ? undefined : (lifecycle.states.get(from)?.checkpoint ?? from);
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
        reason: `\`${name}\` is not allowed in \`${from}\`; it is allowed in ${where}`,
      });
    }
  }
  return { kind: "refused", blockers };
}

/** The guard's answer: true, or the reason why not. */
function checkGuard(edge: EdgeModel, context: Context): true | string {
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
    : `the guard of \`${edge.event}\` in \`${edge.from}\` refuses`;
}

/** Validates the payload against its schema. */
export function payloadOf(lifecycle: LifecycleModel, event: LifecycleEvent): Validated {
  if (event.name === "fail") return failurePayload(event);
  if (event.accepts !== undefined) return payloadOf(lifecycle, { ...event, name: event.accepts, accepts: undefined });
  if (!lifecycle.events.has(event.name) && isSentByPawl(lifecycle, event.name)) return payloadByPawl(event);
  return validate(lifecycle.events.get(event.name), event.payload, `The payload of \`${event.name}\``);
}

/**
 * Completes the payload of `fail`, so that its edges get the same fields whether a step, a timer or a person failed it.
 */
function failurePayload(event: LifecycleEvent): Validated {
  const given = event.payload ?? {};
  if (!isPlainObject(given)) return { value: undefined, faults: ["must be an object such as { reason }"] };
  const { reason = event.reason ?? "failed", error = null, attempts = 0 } = given;
  const { type = isError(error) ? ((error as { name?: unknown } | null)?.name ?? null) : null } = given;
  const faults: string[] = [];
  if (typeof reason !== "string") faults.push("reason: must be a text");
  if (!isError(error)) faults.push("error: must be null or { name, message }");
  if (type !== null && typeof type !== "string") faults.push("type: must be a text");
  if (!Number.isInteger(attempts) || (attempts as number) < 0) faults.push("attempts: must be a whole number");
  if (faults.length > 0) return { value: undefined, faults };
  return { value: { ...given, reason, error, type, attempts }, faults: undefined };
}

function payloadByPawl(event: LifecycleEvent): Validated {
  return event.name === "joined" ? joinedPayload(event) : answerPayload(event);
}

function answerPayload({ name, payload }: LifecycleEvent): Validated {
  if (!isPlainObject(payload)) return { value: undefined, faults: ["must be an object"] };
  const { consensus, labels, agreement, reason } = payload;
  const faults: string[] = [];
  if (!Array.isArray(labels)) faults.push("labels: must be a list");
  if (name === "answered" && consensus === undefined) faults.push("consensus: is missing");
  if (name === "answered" && agreement !== null && typeof agreement !== "number") {
    faults.push("agreement: must be a number or null");
  }
  if (name === "unanswered" && typeof reason !== "string") faults.push("reason: must be a text");
  return faults.length === 0 ? { value: payload, faults: undefined } : { value: undefined, faults };
}

function joinedPayload({ payload }: LifecycleEvent): Validated {
  const counts = ["total", "succeeded", "failed", "discarded"];
  const isCount = (name: string) => isPlainObject(payload) && Number.isInteger(payload[name]);
  const faults = counts.filter((name) => !isCount(name)).map((name) => `${name}: must be a whole number`);
  return faults.length === 0 ? { value: payload, faults: undefined } : { value: undefined, faults };
}

function isError(error: unknown): boolean {
  return (
    error === null || (isPlainObject(error) && typeof error.name === "string" && typeof error.message === "string")
  );
}

function validData(lifecycle: LifecycleModel, given: unknown): Record<string, unknown> {
  const what = `The data of \`${lifecycle.name}\``;
  const asGiven = validate(lifecycle.data, given, what);
  // An omitted payload means an empty object, unless the schema has a default for undefined.
  const isLeftOut = given === undefined && asGiven.faults !== undefined;
  const checked = isLeftOut ? validate(lifecycle.data, {}, what) : asGiven;
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
