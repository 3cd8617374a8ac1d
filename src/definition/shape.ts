import { createHash } from "node:crypto";
import type { LifecycleModel, StateKind, StateModel } from "./model.ts";

/** An edge that the database allows. A start comes from "". */
export interface EdgeRow {
  readonly from: string;
  readonly event: string;
  readonly to: string;
}

/** What of a definition must not shrink under the same version: its states and its edges, as plain sorted JSON. */
export interface Shape {
  readonly states: readonly {
    readonly name: string;
    readonly kind: StateKind;
    readonly final: string | null;
    /** How a failed child affects a state that joins. */
    readonly join?: string;
  }[];
  readonly edges: readonly EdgeRow[];
  /** Its failed instances recover by themselves, so there is a lane for recoveries. */
  readonly recovers?: true;
}

/** The same definition gives the same shape, in whichever order it was written. */
export function shapeOf(model: LifecycleModel): Shape {
  const states = [...model.states.values()].map(({ name, kind, final = null, join }) => ({
    name,
    kind,
    final,
    ...(join === undefined ? {} : { join: join.failed }),
  }));
  return {
    states: states.sort((one, other) => compare(one.name, other.name)),
    edges: statesAndEdges(model),
    ...(model.recovery === undefined ? {} : { recovers: true }),
  };
}

/**
 * The waiting states in which an instance always has a timer. No part of the shape, since timeouts may change from day
 * to day; used to verify the stored data.
 */
export function timedStates({ states }: LifecycleModel): string[] {
  const isTimed = ({ kind, builtIn, timeouts }: StateModel) =>
    kind === "wait" && !builtIn && timeouts.some(({ after }) => typeof after !== "function");
  return [...states.values()]
    .filter(isTimed)
    .map(({ name }) => name)
    .sort(compare);
}

/** Sixteen characters that identify a shape. */
export function hashOf(shape: Shape): string {
  return createHash("sha256").update(JSON.stringify(shape)).digest("hex").slice(0, 16);
}

/** Every row that the journal may hold: the moves, the start, and a `rename` for each state that has a new name. */
export function statesAndEdges(model: LifecycleModel): EdgeRow[] {
  const rows = [
    { from: "", event: "start", to: model.initial },
    ...model.edges.map(({ from, event, to }) => ({ from, event, to: to ?? from })),
    ...Object.entries(model.renamed).map(([from, to]) => ({ from, event: "rename", to })),
  ];
  const distinct = new Map(rows.map((row) => [`${row.from} ${row.event} ${row.to}`, row]));
  return [...distinct].sort(([one], [other]) => compare(one, other)).map(([, row]) => row);
}

/** By code units: the same on every machine. */
function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
