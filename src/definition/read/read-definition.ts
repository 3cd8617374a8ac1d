import type { StandardSchemaV1 } from "@standard-schema/spec";
import { durationMs } from "../../base/duration.ts";
import { builtInEvents, discarded, failed, type LifecycleModel, type RecoveryModel } from "../model.ts";
import { type Faults, quotedValue } from "./fault.ts";
import {
  type Fields,
  outerNamePattern,
  readBoolean,
  readDuration,
  readFields,
  readFunction,
  readInteger,
  readName,
  readObject,
  readOneOf,
  readRetry,
  readSchema,
  readText,
  readTiming,
  requireKeys,
  whole,
} from "./read.ts";
import { type EdgeDraft, readBuiltInHooks, readEdges } from "./read-edges.ts";
import { readState, type StateDraft } from "./read-state.ts";

/** `fail`, `recover`, `restart`, `discard`, where they are built in. */
export function isBuiltInEvent(event: string, { builtIns }: Pick<Draft, "builtIns">): boolean {
  return builtIns && (builtInEvents as readonly string[]).includes(event);
}

/** `failed` and `discarded`, where they are built in. */
export function isBuiltInState(state: string, { builtIns }: Pick<Draft, "builtIns">): boolean {
  return builtIns && (state === failed || state === discarded);
}

/** A definition as written, parsed, with names not yet resolved. */
export interface Draft
  extends Pick<
    LifecycleModel,
    | "name"
    | "version"
    | "initial"
    | "data"
    | "events"
    | "deadline"
    | "recovery"
    | "builtIns"
    | "renamed"
    | "onMove"
    | "onParentEnd"
    | "retentionMs"
  > {
  readonly states: ReadonlyMap<string, StateDraft>;
  /** The edges of the common `on`. */
  readonly common: readonly EdgeDraft[];
  /** Hooks of built-in events, given there too. */
  readonly hooks: ReadonlyMap<string, EdgeDraft>;
}

const definitionKeys = [
  "data",
  "events",
  "initial",
  "version",
  "builtIns",
  "deadline",
  "recovery",
  "on",
  "states",
  "renamed",
  "onMove",
  "onParentEnd",
  "retention",
];
const maxStates = 200;

export function readDefinition(name: unknown, definition: unknown, faults: Faults): Draft {
  const fields = readFields(definition, definitionKeys, whole, faults) ?? {};
  const builtIns = readBoolean(fields.builtIns, true, "builtIns", faults);
  return {
    name: readName(name, "name", faults, outerNamePattern) ?? "",
    version: readVersion(fields.version, faults),
    initial: readInitial(fields.initial, faults),
    data: readSchema(fields.data, "data", faults),
    events: readEvents(fields.events, builtIns, faults),
    states: readStates(fields.states, builtIns, faults),
    deadline: readDeadline(fields.deadline, faults),
    recovery: readRecovery(fields.recovery, faults),
    builtIns,
    ...readCommon(fields.on, builtIns, faults),
    renamed: readRenamed(fields.renamed, faults),
    onMove: readFunction(fields.onMove, "onMove", faults),
    onParentEnd: readText(fields.onParentEnd, "onParentEnd", faults),
    retentionMs: readRetention(fields, faults),
  };
}

function readVersion(value: unknown, faults: Faults): number {
  if (value === undefined) return 1;
  if (typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= 2_147_483_647) return value;
  faults.add(
    "version_invalid",
    "version",
    `It is ${quotedValue(value)}.`,
    "Write a whole number from 1 on, higher than before.",
  );
  return 1;
}

function readInitial(value: unknown, faults: Faults): string {
  if (typeof value === "string") return value;
  const problem = value === undefined ? "It is missing." : `It is ${quotedValue(value)}.`;
  faults.add("initial_invalid", "initial", problem, "Write the name of the state in which an instance starts.");
  return "";
}

function readEvents(value: unknown, builtIns: boolean, faults: Faults): Map<string, StandardSchemaV1> {
  const events = new Map<string, StandardSchemaV1>();
  const fields = value === undefined ? {} : (readObject(value, "events", faults) ?? {});
  for (const [event, written] of Object.entries(fields)) {
    const place = `events.${event}`;
    readName(event, place, faults);
    if (event === "fail" || isBuiltInEvent(event, { builtIns })) {
      const problem = `"${event}" is built in and has a payload of its own.`;
      faults.add("built_in_changed", place, problem, "Take it out.");
    }
    const schema = readSchema(written, place, faults);
    if (schema !== undefined) events.set(event, schema);
    else if (written === undefined) faults.add("schema_invalid", place, "It is missing.", "Give a schema.");
  }
  return events;
}

function readStates(value: unknown, builtIns: boolean, faults: Faults): Map<string, StateDraft> {
  const states = new Map<string, StateDraft>();
  const fields = readObject(value, "states", faults);
  const entries = Object.entries(fields ?? {});
  if (fields !== undefined && entries.length === 0) {
    faults.add("shape_invalid", "states", "There is no state.", "Declare the states that the work goes through.");
  }
  if (entries.length > maxStates) {
    const remedy = "Split the lifecycle: start children in a state and join them.";
    faults.add("states_too_many", "states", `There are ${entries.length}, and ${maxStates} are the most.`, remedy);
  }
  for (const [name, written] of entries) {
    readName(name, `states.${name}`, faults);
    const given = isBuiltInState(name, { builtIns }) ? readBuiltInState(name, written, faults) : written;
    states.set(name, readState(name, states.size, given, faults));
  }
  return states;
}

/** What may be written under the name of a built-in state: edges that lead out of `failed`. */
function readBuiltInState(name: string, written: unknown, faults: Faults): Fields {
  const fields = readObject(written, `states.${name}`, faults) ?? {};
  for (const key of Object.keys(fields)) {
    if (name === failed && key === "on") continue;
    const remedy = 'Take it out; only edges can be added, and only to "failed": `failed: { on: { … } }`.';
    faults.add("built_in_changed", `states.${name}.${key}`, `"${name}" is built in.`, remedy);
  }
  return { forever: true, on: name === failed ? fields.on : undefined };
}

function readDeadline(value: unknown, faults: Faults): LifecycleModel["deadline"] {
  if (value === undefined) return undefined;
  const fields = readFields(value, ["within", "late"], "deadline", faults);
  if (fields === undefined) return undefined;
  const within = readTiming(fields.within, "deadline.within", faults);
  const late = readOneOf(fields.late, ["keep", "reject", "accept"], "keep", "deadline.late", faults);
  return within === undefined ? undefined : { within, late };
}

const recoveryKeys = ["maxFailures", "after", "scope", "fallback", "onlyPermitted", "reset"];

function readRecovery(value: unknown, faults: Faults): RecoveryModel | undefined {
  if (value === undefined) return undefined;
  const fields = readFields(value, recoveryKeys, "recovery", faults);
  if (fields === undefined) return undefined;
  return {
    maxFailures: readInteger(fields.maxFailures, [1, 1_000], 3, "recovery.maxFailures", faults),
    after: readDuration(fields.after, "10m", "recovery.after", faults),
    scope: readOneOf(fields.scope, ["restart", "state", "lifetime"], "restart", "recovery.scope", faults),
    fallback: readText(fields.fallback, "recovery.fallback", faults),
    onlyPermitted: readBoolean(fields.onlyPermitted, false, "recovery.onlyPermitted", faults),
    reset: readReset(fields.reset, faults),
  };
}

function readReset(value: unknown, faults: Faults): RecoveryModel["reset"] {
  if (value === undefined) return undefined;
  const fields = readFields(value, ["before", "run", "retry"], "recovery.reset", faults);
  if (fields === undefined) return undefined;
  const before = readText(fields.before, "recovery.reset.before", faults);
  const run = readFunction(fields.run, "recovery.reset.run", faults);
  const retry = readRetry(fields.retry, "recovery.reset.retry", faults);
  requireKeys(fields, ["before", "run"], "Write both of { before, run }.", "recovery.reset", faults);
  return before === undefined || run === undefined ? undefined : { before, run, retry };
}

function readCommon(on: unknown, builtIns: boolean, faults: Faults): Pick<Draft, "common" | "hooks"> {
  const hooks = new Map<string, EdgeDraft>();
  const fields = on === undefined ? {} : (readObject(on, "on", faults) ?? {});
  const others: [event: string, written: unknown][] = [];
  for (const [event, written] of Object.entries(fields)) {
    if (!isBuiltInEvent(event, { builtIns })) {
      others.push([event, written]);
      continue;
    }
    const edge = readBuiltInHooks(event, written, `on.${event}`, faults);
    if (edge !== undefined) hooks.set(event, edge);
  }
  return { common: readEdges(Object.fromEntries(others), "on", faults), hooks };
}

function readRenamed(value: unknown, faults: Faults): Record<string, string> {
  // Without a prototype, so that a state may be called `constructor`.
  const renamed: Record<string, string> = Object.create(null);
  const fields = value === undefined ? {} : (readObject(value, "renamed", faults) ?? {});
  for (const [old, now] of Object.entries(fields)) {
    if (readName(old, `renamed.${old}`, faults) === undefined) continue;
    if (typeof now === "string") renamed[old] = now;
    else
      faults.add(
        "renamed_invalid",
        `renamed.${old}`,
        `It is ${quotedValue(now)}.`,
        "Write the state that it is called now.",
      );
  }
  return renamed;
}

function readRetention(fields: Fields, faults: Faults): number | undefined {
  const keep = readDuration(fields.retention, undefined, "retention", faults);
  return keep === undefined ? undefined : durationMs(keep, "retention");
}
