import type { StateKind, StateModel } from "../model.ts";
import { type Faults, list, quotedValue } from "./fault.ts";
import {
  type Fields,
  readBoolean,
  readDuration,
  readFields,
  readFunction,
  readInteger,
  readOneOf,
  readRetry,
  readText,
  readTiming,
  requireKeys,
} from "./read.ts";
import { type EdgeDraft, readEdges } from "./read-edges.ts";
import { readLimits } from "./read-limits.ts";

/** A state as written; what follows from other parts of the definition is added by `build.ts`. */
export interface StateDraft extends Omit<StateModel, "outcome" | "builtIn" | "timeouts"> {
  readonly timeouts: readonly TimeoutDraft[];
  readonly edges: readonly EdgeDraft[];
}

/** Where a state is written. */
export function placeOf(state: string): string {
  return `states.${state}`;
}

type TimeoutDraft = StateModel["timeouts"][number] & { readonly place: string };

/** The keys that define the kind of a state; a state has at most one of them. */
const kindKeys = { run: "work", ask: "ask", release: "park", join: "join", final: "end" } as const;
const workKeys = ["retry", "uses", "limit", "rate", "share"] as const;
const leavingKeys = ["on", "timeout", "checkpoint", "recoverWith", "forever", "priority"] as const;
const stateKeys = [...Object.keys(kindKeys), ...workKeys, ...leavingKeys];

export function readState(name: string, rank: number, written: unknown, faults: Faults): StateDraft {
  const place = placeOf(name);
  const fields = readFields(written, stateKeys, place, faults) ?? {};
  const kind = written === fields ? readKind(fields, place, faults) : "wait";
  const at = (key: string) => `${place}.${key}`;
  return {
    name,
    rank,
    kind,
    run: readFunction(fields.run, at("run"), faults),
    edges: readEdges(fields.on, at("on"), faults),
    ask: readAsk(fields.ask, at("ask"), faults),
    release: readRelease(fields.release, at("release"), faults),
    join: readJoin(fields.join, at("join"), faults),
    final: readOneOf(fields.final, ["success", "failure"], undefined, at("final"), faults),
    forever: readBoolean(fields.forever, false, at("forever"), faults),
    timeouts: readTimeouts(fields.timeout, at("timeout"), faults),
    checkpoint: readText(fields.checkpoint, at("checkpoint"), faults),
    recoverWith: readText(fields.recoverWith, at("recoverWith"), faults),
    retry: readRetry(fields.retry, at("retry"), faults),
    uses: readText(fields.uses, at("uses"), faults),
    ...readLimits(fields, at, faults),
    priority: readInteger(fields.priority, [-32_768, 32_767], 0, at("priority"), faults),
  };
}

function readKind(fields: Fields, place: string, faults: Faults): StateKind {
  const given = Object.keys(fields).filter((key) => fields[key] !== undefined);
  const kinds = given.filter((key): key is keyof typeof kindKeys => Object.hasOwn(kindKeys, key));
  if (kinds.length > 1) {
    faults.add("kinds_mixed", place, `It has ${list(kinds)} at once.`, "Keep one of them; make a state of each other.");
  }
  const kind = kinds[0] === undefined ? "wait" : kindKeys[kinds[0]];
  if (kind === "wait" && !given.includes("on") && !given.includes("timeout") && !given.includes("forever")) {
    const remedy = "Give it one of run, ask, release, join, final, or an `on` for the events that it waits for.";
    faults.add("kind_missing", place, "The state has no key that defines what it does.", remedy);
  }
  if (kind === "end") {
    for (const key of leavingKeys.filter((one) => given.includes(one))) {
      const problem = `A state that ends has no use for "${key}".`;
      faults.add("final_exit", `${place}.${key}`, problem, 'Take it out, or take out "final".');
    }
  }
  const idle = kind === "work" ? [] : workKeys.filter((one) => given.includes(one));
  for (const key of idle) {
    const remedy = 'Take it out, or give the state a "run".';
    faults.add("key_idle", `${place}.${key}`, `Only a state that works has "${key}".`, remedy);
  }
  return kind;
}

function readAsk(value: unknown, place: string, faults: Faults): unknown {
  if (value === undefined) return undefined;
  const fields = readFields(value, ["queue", "crowd", "sample"], place, faults);
  if (fields === undefined) return undefined;
  const asked = (["queue", "crowd"] as const).filter((key) => fields[key] !== undefined);
  if (asked.length !== 1) {
    const problem = asked.length === 0 ? "It has neither a queue nor a crowd." : "It asks a queue and a crowd at once.";
    faults.add("shape_invalid", place, problem, "Write either { queue } or { crowd }.");
  }
  for (const key of asked) {
    const given = fields[key];
    if (typeof given === "object" && given !== null && (given as { kind?: unknown }).kind === key) continue;
    faults.add(
      "shape_invalid",
      `${place}.${key}`,
      `It is ${quotedValue(given)}.`,
      `Give the value that ${key}() made.`,
    );
  }
  requireKeys(fields, ["sample"], "Write a function of the data that gives what people are shown.", place, faults);
  readFunction(fields.sample, `${place}.sample`, faults);
  return value;
}

function readRelease(value: unknown, place: string, faults: Faults): StateModel["release"] {
  if (value === undefined) return undefined;
  const fields = readFields(value, ["interval", "limit", "send"], place, faults);
  if (fields === undefined) return undefined;
  const remedy = 'Write all of { interval: "1m", limit: 500, send: "event" }.';
  requireKeys(fields, ["interval", "limit", "send"], remedy, place, faults);
  return {
    interval: readDuration(fields.interval, "1m", `${place}.interval`, faults),
    limit: readInteger(fields.limit, [1, 100_000], 1, `${place}.limit`, faults),
    send: readText(fields.send, `${place}.send`, faults) ?? "",
  };
}

function readJoin(value: unknown, place: string, faults: Faults): StateModel["join"] {
  if (value === undefined) return undefined;
  const fields = readFields(value, ["failed"], place, faults) ?? {};
  return { failed: readOneOf(fields.failed, ["fail", "count", "wait"], "fail", `${place}.failed`, faults) };
}

function readTimeouts(value: unknown, place: string, faults: Faults): TimeoutDraft[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) return readTimeout(value, place, faults);
  return value.flatMap((one: unknown, index) => readTimeout(one, `${place}[${index}]`, faults));
}

function readTimeout(value: unknown, place: string, faults: Faults): TimeoutDraft[] {
  const fields = readFields(value, ["after", "send"], place, faults);
  if (fields === undefined) return [];
  const after = readTiming(fields.after, `${place}.after`, faults);
  const send = readText(fields.send, `${place}.send`, faults);
  requireKeys(fields, ["send"], "Write the event to send then.", place, faults);
  return after === undefined || send === undefined ? [] : [{ after, send, place }];
}
