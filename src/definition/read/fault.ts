import { PawlError } from "../../base/errors.ts";
import { nearest } from "../../base/nearest.ts";

/** What can be wrong with a definition. Stable, so that tools can explain each in their own words. */
export type FaultCode =
  | "shape_invalid"
  | "key_unknown"
  | "key_idle"
  | "name_invalid"
  | "states_too_many"
  | "version_invalid"
  | "number_invalid"
  | "duration_invalid"
  | "schema_invalid"
  | "initial_invalid"
  | "kind_missing"
  | "kinds_mixed"
  | "state_unknown"
  | "state_unreachable"
  | "end_unreachable"
  | "wait_endless"
  | "final_exit"
  | "edge_shadowed"
  | "edge_missing"
  | "event_unknown"
  | "payload_needed"
  | "payload_unused"
  | "checkpoint_invalid"
  | "recovery_missing"
  | "recovery_ambiguous"
  | "recovery_cyclic"
  | "recovery_unreachable"
  | "join_skipped"
  | "built_in_changed"
  | "built_in_missing"
  | "renamed_invalid";

/** A fault of a definition: what, where, and how to fix it. */
export interface Fault {
  /** Such as `states.grading.on.graded.to`. */
  readonly place: string;
  readonly problem: string;
  readonly remedy: string;
  readonly code: FaultCode;
}

/** Collects faults, so that an author sees all of them at once. */
export class Faults {
  readonly list: Fault[] = [];

  add(code: FaultCode, place: string, problem: string, remedy: string): void {
    this.list.push({ place, problem, remedy, code });
  }

  /** Throws `definition_invalid` if there are faults, or collects them; `what` is such as `lifecycle "essay"`. */
  throwIfAny(what: string, placeOf: (place: string) => string = (place) => place): void {
    if (this.list.length === 0) return;
    const faults = this.list.map((fault) => ({ ...fault, place: placeOf(fault.place) }));
    const count = faults.length === 1 ? "1 fault" : `${faults.length} faults`;
    const lines = faults.map((fault) => `  - ${fault.place}: ${fault.problem} ${fault.remedy}`);
    const invalid = new PawlError("definition_invalid", `The ${what} has ${count}:\n${lines.join("\n")}`, { faults });
    const gathered = place[gathering];
    if (gathered === undefined) throw invalid;
    gathered.push(invalid);
  }
}

/** Under a name that every copy of Pawl in the process knows: a project's own is often another than that of the command. */
const gathering = Symbol.for("pawl.gathering");
const place = globalThis as { [gathering]?: Error[] };

/**
 * Runs `work`, which imports definitions, and returns the invalid ones: none of them throws, so that the caller gets
 * all faults of a file and not just the first.
 */
export async function collectInvalid(work: () => Promise<unknown>): Promise<readonly Error[]> {
  const broken: Error[] = [];
  place[gathering] = broken;
  try {
    await work();
  } catch (error) {
    if (broken.length === 0) throw error; // Otherwise it is a consequence of an invalid definition.
  } finally {
    delete place[gathering];
  }
  return broken;
}

/** `Did you mean "grading"?` where a name is close, else the names there are. */
export function suggest(name: string, names: Iterable<string>): string {
  const all = [...names];
  const close = nearest(name, all);
  if (close !== undefined) return `Did you mean ${quotedValue(close)}?`;
  return all.length === 0 ? "There is none to choose from." : `Choose one of ${list(all)}.`;
}

export function list(names: readonly string[]): string {
  const most = 12;
  const head = names.slice(0, most).map(quotedValue).join(", ");
  return names.length > most ? `${head} and ${names.length - most} more` : head;
}

/** Anything an author may have written, in a few characters. */
export function quotedValue(value: unknown): string {
  if (typeof value === "function") return "a function";
  if (typeof value === "bigint" || typeof value === "symbol" || value === undefined) return String(value);
  const text = jsonOf(value) ?? "an object";
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

/** Undefined for what JSON cannot carry: a cycle, a bigint within. */
function jsonOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}
