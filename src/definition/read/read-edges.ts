import type { EdgeModel } from "../model.ts";
import { type Faults, quotedValue } from "./fault.ts";
import { type Fields, readBoolean, readFields, readFunction, readName, readObject } from "./read.ts";

/** An edge as written, with its place but without its state. */
export interface EdgeDraft extends Omit<EdgeModel, "from" | "builtIn"> {
  readonly place: string;
  /** Only the target was written, so that `place` is the place of the target itself. */
  readonly isShort: boolean;
}

const hookKeys = ["guard", "set", "before", "after", "deadLetter"] as const;
const edgeKeys = ["to", ...hookKeys] as const;

/** The edges of an `on`, in the order in which they are tried. */
export function readEdges(on: unknown, place: string, faults: Faults): EdgeDraft[] {
  const events = on === undefined ? undefined : readObject(on, place, faults);
  if (events === undefined) return [];
  return Object.entries(events).flatMap(([event, written]) => {
    readName(event, `${place}.${event}`, faults);
    return readAlternatives(event, written, `${place}.${event}`, faults);
  });
}

function readAlternatives(event: string, written: unknown, place: string, faults: Faults): EdgeDraft[] {
  if (!Array.isArray(written)) return readEdge(event, written, place, faults);
  if (written.length === 0) {
    faults.add("shape_invalid", place, "The list of edges is empty.", "Give it an edge, or take the event out.");
  }
  const edges = written.map((one: unknown, index) => readEdge(event, one, `${place}[${index}]`, faults));
  const catchAll = edges.findIndex(([edge]) => edge !== undefined && edge.guard === undefined);
  for (const index of edges.keys()) {
    if (catchAll < 0 || index <= catchAll) continue;
    const problem = `It can never be taken, since the edge ${place}[${catchAll}] before it has no guard.`;
    faults.add("edge_shadowed", `${place}[${index}]`, problem, "Put the edge without a guard last.");
  }
  return edges.flat();
}

function readEdge(event: string, written: unknown, place: string, faults: Faults): EdgeDraft[] {
  if (typeof written === "string") {
    return [{ event, to: written, place, isShort: true, ...readHooks({}, place, faults) }];
  }
  if (typeof written !== "object" || written === null || Array.isArray(written)) {
    const remedy = "Write the name of a state, or an edge such as { to, guard, set, before, after }.";
    faults.add("shape_invalid", place, `It is ${quotedValue(written)}.`, remedy);
    return [];
  }
  const fields = readFields(written, edgeKeys, place, faults) ?? {};
  if (fields.to !== undefined && typeof fields.to !== "string") {
    faults.add("shape_invalid", `${place}.to`, `It is ${quotedValue(fields.to)}.`, "Write the name of a state.");
  }
  const to = typeof fields.to === "string" ? fields.to : null;
  return [{ event, to, place, isShort: false, ...readHooks(fields, place, faults) }];
}

/** The common `on` of a built-in event: hooks only, since its targets are fixed. */
export function readBuiltInHooks(
  event: string,
  written: unknown,
  place: string,
  faults: Faults,
): EdgeDraft | undefined {
  const remedy = `Give "${event}" hooks only, such as { after }; where it leads is built in.`;
  if (typeof written !== "object" || written === null || Array.isArray(written)) {
    faults.add("built_in_changed", place, `It is ${quotedValue(written)}.`, remedy);
    return undefined;
  }
  if ("to" in written) {
    faults.add("built_in_changed", `${place}.to`, `"${event}" is built in and cannot lead elsewhere.`, remedy);
  }
  const fields = readFields(written, edgeKeys, place, faults) ?? {};
  return { event, to: null, place, isShort: false, ...readHooks(fields, place, faults) };
}

function readHooks(fields: Fields, place: string, faults: Faults): Pick<EdgeModel, (typeof hookKeys)[number]> {
  return {
    guard: readFunction(fields.guard, `${place}.guard`, faults),
    set: readFunction(fields.set, `${place}.set`, faults),
    before: readFunction(fields.before, `${place}.before`, faults),
    after: readFunction(fields.after, `${place}.after`, faults),
    deadLetter: readBoolean(fields.deadLetter, false, `${place}.deadLetter`, faults),
  };
}
