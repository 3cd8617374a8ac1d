import { nearest } from "../../base/nearest.ts";
import { acceptLate, builtInEvents, discarded, failed } from "../model.ts";
import { type Faults, quotedValue, suggest } from "./fault.ts";
import { acceptsNothing } from "./read.ts";
import { type Draft, isBuiltInEvent, isBuiltInState } from "./read-definition.ts";
import type { EdgeDraft } from "./read-edges.ts";
import { placeOf, type StateDraft } from "./read-state.ts";

/**
 * Resolves every name in a definition. In the returned draft, misspelt targets are replaced where the intended name is
 * clear, so that one typo is not also reported as an unreachable state.
 */
export function checkNames(draft: Draft, faults: Faults): Draft {
  const resolved = resolveTargets(draft, faults);
  checkInitial(resolved, faults);
  for (const state of resolved.states.values()) {
    checkOwnEvents(state, resolved, faults);
    checkSent(state, resolved, faults);
    checkCheckpoint(state, resolved, faults);
    checkRecoverWith(state, resolved, faults);
  }
  checkRecovery(resolved, faults);
  checkEvents(resolved, faults);
  checkRenamed(resolved, faults);
  return resolved;
}

function resolveTargets(draft: Draft, faults: Faults): Draft {
  const targets = new Set(draft.states.keys());
  if (draft.builtIns) targets.add(failed).add(discarded);
  const resolve = (edge: EdgeDraft): EdgeDraft => {
    if (edge.to === null || targets.has(edge.to)) return edge;
    const place = edge.isShort ? edge.place : `${edge.place}.to`;
    faults.add(
      "state_unknown",
      place,
      `There is no state ${quotedValue(edge.to)}.`,
      suggest(edge.to, draft.states.keys()),
    );
    return { ...edge, to: nearest(edge.to, targets) ?? null };
  };
  const states = [...draft.states].map(
    ([name, state]) => [name, { ...state, edges: state.edges.map(resolve) }] as const,
  );
  return { ...draft, states: new Map(states), common: draft.common.map(resolve) };
}

function checkInitial(draft: Draft, faults: Faults): void {
  if (draft.initial === "" || draft.states.size === 0) return; // reported when it was read
  const state = draft.states.get(draft.initial);
  const others = [...draft.states.keys()].filter((name) => !isBuiltInState(name, draft));
  if (state === undefined) {
    const problem = `There is no state ${quotedValue(draft.initial)}.`;
    faults.add("initial_invalid", "initial", problem, suggest(draft.initial, others));
  } else if (state.kind === "end" || isBuiltInState(state.name, draft)) {
    const problem = `An instance cannot start in ${quotedValue(draft.initial)}, where it has ended or failed.`;
    faults.add("initial_invalid", "initial", problem, suggest("", others));
  }
}

function checkOwnEvents(state: StateDraft, draft: Draft, faults: Faults): void {
  const place = `${placeOf(state.name)}.on`;
  for (const event of new Set(state.edges.map((edge) => edge.event))) {
    const ownFail = event === "fail" && !isBuiltInState(state.name, draft);
    if (ownFail || !isBuiltInEvent(event, draft)) continue;
    const remedy = `Remove it. Hooks of "${event}" belong in the common \`on\`, next to \`states\`.`;
    faults.add("built_in_changed", `${place}.${event}`, `"${event}" is built in and has its own targets.`, remedy);
  }
  const needed = { ask: "answered", join: "joined" }[state.kind as string];
  if (needed !== undefined && !hasEdge(state, needed, draft)) {
    const problem = `No edge declares where "${needed}" leads.`;
    faults.add("edge_missing", `${place}.${needed}`, problem, `Add \`on: { ${needed}: "state" }\`.`);
  }
  const outcomes = state.edges.filter((edge) => edge.event !== "fail");
  if (state.kind === "work" && outcomes.length === 0 && draft.common.length === 0) {
    const remedy = "Add the event that its `run` ends with, and where it leads.";
    faults.add("edge_missing", place, "No event leads out of this state.", remedy);
  }
}

/** Whether an event leads anywhere from a state. */
function hasEdge(state: StateDraft, event: string, draft: Draft): boolean {
  if (event === "fail" && draft.builtIns && !isBuiltInState(state.name, draft)) return true;
  return [...state.edges, ...draft.common].some((edge) => edge.event === event);
}

function eventsOf(state: StateDraft | undefined, draft: Draft): string[] {
  return [...new Set([...(state?.edges ?? []), ...draft.common].map((edge) => edge.event))];
}

/** The events that Pawl itself sends from a state. */
function checkSent(state: StateDraft, draft: Draft, faults: Faults): void {
  const sent = state.timeouts.map(({ send, place }) => ({ send, place: `${place}.send` }));
  if (state.release !== undefined && state.release.send !== "") {
    sent.push({ send: state.release.send, place: `${placeOf(state.name)}.release.send` });
  }
  for (const { send, place } of sent) {
    if (hasEdge(state, send, draft)) checkPayload(send, place, draft, faults);
    else {
      const choices = [...eventsOf(state, draft), ...(draft.builtIns ? ["fail"] : [])];
      const problem = `No event ${quotedValue(send)} leads out of ${quotedValue(state.name)}.`;
      faults.add("event_unknown", place, problem, suggest(send, choices));
    }
  }
}

const withPayload = ["answered", "unanswered", "joined"];

/** The events that Pawl itself sends have no payload. */
function checkPayload(event: string, place: string, draft: Draft, faults: Faults): void {
  const schema = draft.events.get(event);
  if (schema === undefined ? !withPayload.includes(event) : acceptsNothing(schema)) return;
  const remedy = "Name an event that needs no payload, or make its schema optional.";
  faults.add("payload_needed", place, `${quotedValue(event)} needs a payload, and here there is none.`, remedy);
}

function checkCheckpoint(state: StateDraft, draft: Draft, faults: Faults): void {
  if (state.checkpoint === undefined) return;
  const place = `${placeOf(state.name)}.checkpoint`;
  const target = draft.states.get(state.checkpoint);
  const name = quotedValue(state.checkpoint);
  const fit = (other: StateDraft) =>
    other.rank < state.rank &&
    other.kind !== "end" &&
    other.checkpoint === undefined &&
    !isBuiltInState(other.name, draft);
  const earlier = [...draft.states.values()].filter(fit).map((other) => other.name);
  const remedy = suggest(state.checkpoint, earlier);
  const add = (problem: string) => faults.add("checkpoint_invalid", place, problem, remedy);
  if (!draft.builtIns) {
    faults.add("built_in_missing", place, "Without built-ins there is no recovery.", "Take it out.");
  } else if (target === undefined) add(`There is no state ${name}.`);
  else if (target.kind === "end" || isBuiltInState(target.name, draft)) add(`Nothing can resume from ${name}.`);
  else if (target.rank >= state.rank) add(`${name} is not declared before ${quotedValue(state.name)}.`);
  else if (target.checkpoint !== undefined) add(`${name} has a checkpoint itself, and a failure falls back only once.`);
}

function checkRecoverWith(state: StateDraft, draft: Draft, faults: Faults): void {
  if (state.recoverWith === undefined) return;
  const place = `${placeOf(state.name)}.recoverWith`;
  const known = new Set([...eventsOf(state, draft), ...eventsOf(draft.states.get(failed), draft)]);
  for (const event of builtInEvents) known.delete(event);
  if (!draft.builtIns) {
    faults.add("built_in_missing", place, "Without built-ins there is no recovery.", "Take it out.");
  } else if (known.has(state.recoverWith)) {
    checkPayload(state.recoverWith, place, draft, faults);
    checkMeaning(state, state.recoverWith, draft, faults);
  } else {
    const problem = `Neither ${quotedValue(state.name)} nor "failed" has an event ${quotedValue(state.recoverWith)}.`;
    faults.add("event_unknown", place, problem, suggest(state.recoverWith, known));
  }
}

/** An event that leads out of both the state and "failed" would be ambiguous. */
function checkMeaning(state: StateDraft, event: string, draft: Draft, faults: Faults): void {
  const isOf = (one: StateDraft | undefined) => one?.edges.some((edge) => edge.event === event) === true;
  if (!isOf(state) || !isOf(draft.states.get(failed))) return;
  const problem = `Both ${quotedValue(state.name)} and "failed" have an event ${quotedValue(event)}.`;
  const place = `${placeOf(state.name)}.recoverWith`;
  faults.add("recovery_ambiguous", place, problem, "Give one of the two another name.");
}

function checkRecovery(draft: Draft, faults: Faults): void {
  if (!draft.builtIns) {
    for (const key of ["recovery", "deadline"] as const) {
      if (draft[key] === undefined) continue;
      const problem = "Without built-ins there is no state to fail into.";
      faults.add("built_in_missing", key, problem, `Take out "${key}" or \`builtIns: false\`.`);
    }
    return;
  }
  const { fallback, reset } = draft.recovery ?? {};
  if (fallback !== undefined) {
    const known = eventsOf(draft.states.get(failed), draft);
    if (known.includes(fallback)) checkPayload(fallback, "recovery.fallback", draft, faults);
    else {
      const problem = `No event ${quotedValue(fallback)} leads out of "failed".`;
      const remedy = known.length === 0 ? "Add it: `failed: { on: { … } }`." : suggest(fallback, known);
      faults.add("event_unknown", "recovery.fallback", problem, remedy);
    }
  }
  if (reset !== undefined && !draft.states.has(reset.before)) {
    const problem = `There is no state ${quotedValue(reset.before)}.`;
    faults.add("state_unknown", "recovery.reset.before", problem, suggest(reset.before, draft.states.keys()));
  }
}

function checkEvents(draft: Draft, faults: Faults): void {
  const states = [...draft.states.values()];
  const edges = [...states.flatMap((state) => state.edges), ...draft.common];
  const used = new Set(edges.map((edge) => edge.event));
  for (const { event, place } of draft.deadline === undefined ? [] : edges) {
    if (event !== acceptLate) continue;
    const problem = `"${event}" is built in where there is a deadline: so a late result is accepted.`;
    faults.add("built_in_changed", place, problem, "Give it another name.");
  }
  for (const event of draft.events.keys()) {
    const kind = { answered: "ask", unanswered: "ask", joined: "join" }[event];
    if (kind !== undefined && states.some((state) => state.kind === kind)) {
      const problem = `"${event}" comes from Pawl, with a payload of its own.`;
      faults.add("built_in_changed", `events.${event}`, problem, "Take it out.");
    } else if (!used.has(event) && !isBuiltInEvent(event, draft)) {
      const problem = `No state has an edge for ${quotedValue(event)}.`;
      faults.add("payload_unused", `events.${event}`, problem, suggest(event, used));
    }
  }
  const { onParentEnd } = draft;
  if (onParentEnd === undefined) return;
  if (used.has(onParentEnd) || isBuiltInEvent(onParentEnd, draft)) {
    checkPayload(onParentEnd, "onParentEnd", draft, faults);
  } else {
    const problem = `There is no event ${quotedValue(onParentEnd)}.`;
    faults.add("event_unknown", "onParentEnd", problem, suggest(onParentEnd, used));
  }
}

function checkRenamed(draft: Draft, faults: Faults): void {
  for (const [old, now] of Object.entries(draft.renamed)) {
    const place = `renamed.${old}`;
    if (draft.states.has(old) || isBuiltInState(old, draft)) {
      const problem = `${quotedValue(old)} is still a state.`;
      faults.add("renamed_invalid", place, problem, "Take out the state or this line.");
    }
    const target = draft.states.get(now);
    if (target === undefined || isBuiltInState(now, draft)) {
      const states = [...draft.states.keys()].filter((name) => !isBuiltInState(name, draft));
      faults.add("renamed_invalid", place, `There is no state ${quotedValue(now)}.`, suggest(now, states));
    }
  }
}
