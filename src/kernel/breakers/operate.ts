import { PawlError } from "../../base/errors.ts";
import { dateOf } from "../../base/moment.ts";
import { suggest } from "../../definition/read/fault.ts";
import type { BreakerCause } from "../../policy/breaker.ts";
import { type BreakerRow, declareBreakers, readBreakers, readCalls } from "../../store/tasks/breakers.ts";
import { listBreakers, readFlips } from "../../views/tasks/breakers.ts";
import type { Kernel } from "../kernel.ts";
import { flip, readBreakerStates } from "./breakers.ts";

/** The shared circuit breaker of an external dependency, and its current state. */
export interface Breaker {
  readonly name: string;
  readonly state: "closed" | "open" | "half_open";
  /** Since when it is in that state; null if it has always been. */
  readonly since: Date | null;
  /** When it lets a first probe through; null unless it opened by itself. */
  readonly openUntil: Date | null;
  /** The state that an operator forced, until it is released. */
  readonly forced: "open" | "closed" | null;
  /** Why it changed its state, and by whom. */
  readonly reason: string | null;
  readonly actor: string | null;
  /** Its calls in this state, within its window, over all processes. */
  readonly calls: { readonly good: number; readonly failed: number };
  /** The probes since it became half-open, and how many are required. */
  readonly probes: {
    readonly done: number;
    readonly good: number;
    readonly needed: number;
    readonly underWay: boolean;
  };
  /** The states that use it, as `lifecycle/state`, of those that this process declares. */
  readonly usedBy: readonly string[];
}

/** One change of a breaker's state. */
export interface BreakerChange {
  /** The first one is 1. */
  readonly number: number;
  readonly from: Breaker["state"];
  readonly to: Breaker["state"];
  /**
   * `failures`: too many calls failed. `rested`: its pause has ended. `probe_failed`, `probes_passed`: the outcome of
   * probes. `forced`, `released`: by an operator.
   */
  readonly cause: BreakerCause;
  /** The calls, or the probes, that led to it. */
  readonly good: number;
  readonly failed: number;
  readonly openUntil: Date | null;
  readonly reason: string | null;
  readonly actor: string | null;
  readonly at: Date;
}

/** All breakers: those that this process knows, and those that the database does. */
export async function showBreakers(kernel: Kernel): Promise<Breaker[]> {
  const listed = (await listBreakers(kernel.db)).map(({ name }) => name);
  const names = [...new Set([...kernel.breakers.names, ...listed])].sort();
  return show(kernel, names);
}

async function show(kernel: Kernel, names: readonly string[]): Promise<Breaker[]> {
  const { breakers, db } = kernel;
  await readBreakerStates(kernel, names);
  const rows = names.map((name) => breakers.of(name));
  const asked = rows.map(({ name, flip }) => ({ name, flip, windowMs: breakers.policyOf(name).windowMs }));
  const calls = new Map((await readCalls(db, asked)).map((one) => [one.name, one]));
  return rows.map((row) => breakerOf(kernel, row, calls.get(row.name)!));
}

function breakerOf({ breakers }: Kernel, row: BreakerRow, { good, failed }: Breaker["calls"]): Breaker {
  const { name, state, forced, reason, actor } = row;
  return {
    name,
    state,
    since: row.flip === 0 ? null : new Date(row.since_ms),
    openUntil: dateOf(row.until_ms),
    forced,
    reason,
    actor,
    calls: { good, failed },
    probes: {
      done: row.probes_done,
      good: row.probes_good,
      needed: breakers.policyOf(name).probes,
      underWay: row.is_probing,
    },
    usedBy: breakers.users.get(name) ?? [],
  };
}

/** The newest changes of a breaker, newest first. */
export async function breakerHistory(kernel: Kernel, name: string, limit: number): Promise<BreakerChange[]> {
  await refuseUnknown(kernel, name);
  return (await readFlips(kernel.db, name, limit)).map((row) => ({
    number: row.flip,
    from: row.from_state,
    to: row.to_state,
    cause: row.cause as BreakerCause,
    good: row.good,
    failed: row.failed,
    openUntil: dateOf(row.until_ms),
    reason: row.reason,
    actor: row.actor,
    at: new Date(row.at_ms),
  }));
}

const tries = 5;

/** Forces a breaker open or closed, whatever the outcome of its calls; null releases it. */
export async function forceBreaker(
  kernel: Kernel,
  name: string,
  forced: "open" | "closed" | null,
  by: { reason: string | null; actor: string | null },
): Promise<Breaker> {
  await refuseUnknown(kernel, name);
  await declareBreakers(kernel.db, [name]);
  for (let turn = 0; turn < tries; turn++) {
    const [row] = await readBreakers(kernel.db, [name]);
    const isFree = forced === null && row!.forced === null;
    if (isFree || (await flip(kernel, row!, { ...flipForced(row!, forced), ...by })))
      return (await show(kernel, [name]))[0]!;
  }
  throw new PawlError("busy", `The breaker \`${name}\` is being moved by others all the time. Try again.`);
}

/** A breaker that was forced open probes before it closes. */
function flipForced(row: BreakerRow, forced: "open" | "closed" | null) {
  if (forced !== null) return { to: forced, cause: "forced", forced } as const;
  return { to: row.state === "open" ? "half_open" : "closed", cause: "released" } as const;
}

/** Only names that a process uses, or that the database knows: forcing a misspelt one would have no effect. */
async function refuseUnknown(kernel: Kernel, name: string): Promise<void> {
  if (kernel.breakers.isKnown(name)) return;
  const listed = (await listBreakers(kernel.db)).map((one) => one.name);
  if (listed.includes(name)) return;
  const known = [...new Set([...kernel.breakers.names, ...listed])].sort();
  const remedy = known.length === 0 ? "No state has a `uses`." : suggest(name, known);
  throw new PawlError("breaker_unknown", `There is no breaker \`${name}\`. ${remedy}`, { breaker: name });
}
