import { acceptLate, discarded, type EdgeModel, failed, type LifecycleModel, type StateModel } from "../model.ts";
import { checkGraph } from "./check-graph.ts";
import { checkNames } from "./check-names.ts";
import { Faults, quotedValue } from "./fault.ts";
import { acceptsNothing } from "./read.ts";
import { type Draft, readDefinition } from "./read-definition.ts";
import type { EdgeDraft } from "./read-edges.ts";
import type { StateDraft } from "./read-state.ts";

/** The model of a definition, complete and checked; throws `definition_invalid` with every fault. */
export function buildLifecycle(name: unknown, definition: unknown, traits = { job: false }): LifecycleModel {
  const faults = new Faults();
  const draft = checkNames(readDefinition(name, definition, faults), faults);
  const model = assemble(draft, traits);
  checkGraph(model, faults);
  faults.throwIfAny(`${traits.job ? "job" : "lifecycle"} ${quotedValue(name)}`, traits.job ? jobPlace : undefined);
  return model;
}

function assemble(draft: Draft, traits: { readonly job: boolean }): LifecycleModel {
  const states = new Map<string, StateModel>();
  for (const state of draft.states.values()) states.set(state.name, stateModel(state, draft));
  if (draft.builtIns) {
    for (const name of [failed, discarded] as const)
      if (!states.has(name)) states.set(name, builtInState(name, states.size, draft));
  }
  const declared = [...states.values()].flatMap((state) => [
    ...ownEdges(state, draft),
    ...commonEdges(state, draft),
    ...(draft.builtIns ? builtInEdges(state, states, draft) : []),
    ...(traits.job && state.final === "failure" ? [restartOfJob(state, draft)] : []),
  ]);
  const edges = draft.deadline === undefined || !draft.builtIns ? declared : [...declared, ...lateEdges(declared)];
  const index = indexEdges(states.keys(), edges);
  return {
    kind: "lifecycle",
    name: draft.name,
    version: draft.version,
    initial: draft.initial,
    states,
    edges,
    edgesFrom: (state, event) => index.get(state)?.get(event) ?? none,
    hasDeadLetterEdges: edges.some(({ deadLetter }) => deadLetter),
    retriable: new Set(
      edges.flatMap(({ deadLetter, to }) => {
        const isWaiting = to !== null && states.get(to)?.kind === "wait" && !states.get(to)?.builtIn;
        return deadLetter && isWaiting && index.get(to)?.has("retry") ? [to] : [];
      }),
    ),
    eventsFrom: (state) => index.get(state)?.names ?? none,
    data: draft.data,
    events: draft.events,
    deadline: draft.deadline,
    recovery: draft.recovery,
    builtIns: draft.builtIns,
    renamed: draft.renamed,
    onMove: draft.onMove,
    onParentEnd: draft.onParentEnd,
    job: traits.job,
    retentionMs: draft.retentionMs,
  };
}

const none: readonly never[] = [];

function stateModel(state: StateDraft, draft: Draft): StateModel {
  if (draft.builtIns && (state.name === failed || state.name === discarded)) {
    return builtInState(state.name, state.rank, draft);
  }
  const { edges, timeouts, ...written } = state;
  const own = new Set(edges.map((edge) => edge.event).filter((event) => event !== "fail"));
  const [only] = own;
  const silent = written.kind === "work" && own.size === 1 && only !== undefined;
  return {
    ...written,
    builtIn: false,
    outcome: silent && acceptsNothing(draft.events.get(only)) ? only : undefined,
    timeouts: timeouts.map(({ after, send }) => ({ after, send })),
  };
}

/** `failed` waits for a recovery or a person, `discarded` is an end. */
function builtInState(
  name: typeof failed | typeof discarded,
  rank: number,
  { recovery }: Pick<Draft, "recovery">,
): StateModel {
  return {
    name,
    rank,
    kind: name === failed ? "wait" : "end",
    final: name === failed ? undefined : "failure",
    forever: name === failed,
    builtIn: true,
    run: undefined,
    outcome: undefined,
    timeouts: [],
    checkpoint: undefined,
    recoverWith: undefined,
    retry: name === failed ? recovery?.reset?.retry : undefined,
    uses: undefined,
    limit: undefined,
    rate: undefined,
    keyed: undefined,
    priority: 0,
    release: undefined,
    join: undefined,
    ask: undefined,
  };
}

function ownEdges(state: StateModel, draft: Draft): EdgeModel[] {
  return (draft.states.get(state.name)?.edges ?? []).map((edge) => edgeModel(edge, state, edge.to, false));
}

/** An event that a state declares itself is decided by that state alone: a guard there that refuses is the last word. */
function commonEdges(state: StateModel, draft: Draft): EdgeModel[] {
  if (state.final !== undefined) return [];
  const own = new Set(draft.states.get(state.name)?.edges.map((edge) => edge.event));
  const common = draft.common.filter((edge) => !own.has(edge.event));
  return common.map((edge) => edgeModel(edge, state, edge.to, false));
}

/** `fail`, `recover`, `restart` and `discard` of one state, with the hooks that the definition gives them. */
function builtInEdges(state: StateModel, states: ReadonlyMap<string, StateModel>, draft: Draft): EdgeModel[] {
  const edges: EdgeModel[] = [];
  const add = (event: string, to: string) => {
    edges.push(edgeModel(draft.hooks.get(event) ?? { ...plainEdge, event }, state, to, true));
  };
  if (state.final === undefined && !state.builtIn) add("fail", failed);
  if (state.name === failed) {
    for (const target of states.values())
      if (target.final === undefined && !target.builtIn) add("recover", target.name);
  }
  if (state.name !== draft.initial && state.name !== discarded) add("restart", draft.initial);
  if (state.name !== discarded) add("discard", discarded);
  return edges;
}

/** Out of `failed`, by the way that a result had in the state where the deadline struck. */
function lateEdges(declared: readonly EdgeModel[]): EdgeModel[] {
  const open = declared.filter((edge) => !edge.builtIn && edge.event !== "fail" && edge.from !== failed);
  return open.map((edge) => ({
    ...edge,
    from: failed,
    event: acceptLate,
    to: edge.to ?? edge.from,
    builtIn: true,
    accepts: { state: edge.from, event: edge.event },
  }));
}

/** A job that failed runs again only on request. */
function restartOfJob(state: StateModel, draft: Draft): EdgeModel {
  return edgeModel({ ...plainEdge, event: "restart" }, state, draft.initial, true);
}

/** The place in the job's definition for the `place` in its lifecycle. */
function jobPlace(place: string): string {
  return place === "data" ? "payload" : place.replace("states.pending.", "");
}

const plainEdge = { guard: undefined, set: undefined, before: undefined, after: undefined, deadLetter: false };

type Written = Omit<EdgeDraft, "place" | "isShort" | "to">;

function edgeModel(written: Written, from: StateModel, to: string | null, builtIn: boolean): EdgeModel {
  const { event, guard, set, before, after, deadLetter } = written;
  return { from: from.name, event, to, guard, set, before, after, deadLetter, builtIn };
}

class EdgesOfState extends Map<string, EdgeModel[]> {
  names: readonly string[] = none;
}

/** Computed once, since it is used for every event of every instance. */
function indexEdges(states: Iterable<string>, edges: readonly EdgeModel[]): Map<string, EdgesOfState> {
  const index = new Map<string, EdgesOfState>();
  for (const state of states) index.set(state, new EdgesOfState());
  for (const edge of edges) {
    const events = index.get(edge.from)!;
    const alternatives = events.get(edge.event);
    if (alternatives === undefined) events.set(edge.event, [edge]);
    else alternatives.push(edge);
  }
  for (const events of index.values()) events.names = [...events.keys()];
  return index;
}
