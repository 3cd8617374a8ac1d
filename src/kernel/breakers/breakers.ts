import { afterProbes, type BreakerCause, type BreakerState, pauseOf, rampLimit, trips } from "../../policy/breaker.ts";
import {
  type BreakerRow,
  declareBreakers,
  extendBreaker,
  flipBreaker,
  pruneCalls,
  putCalls,
  readBreakers,
  readCalls,
} from "../../store/tasks/breakers.ts";
import type { ProbePlace } from "../../store/tasks/gates.ts";
import type { Kernel } from "../kernel.ts";
import { closedLanesTopic } from "../lanes/closed-lanes.ts";
import { outboxTopic } from "../signals/signals.ts";

/** The topic of the hint that calls were counted and must be written. */
export const callsTopic = "calls";

/** The interval at which counts are written while there are any. */
export const writeCallsEveryMs = 250;

/** Reads the states of the breakers of this process. */
export async function readBreakerStates(kernel: Kernel, names = kernel.breakers.names): Promise<void> {
  if (names.length === 0) return;
  const rows = await readBreakers(kernel.db, names);
  if (rows.length > 0) kernel.clock.observe(rows[0]!.now_ms);
  // Other processes are notified by the one that flipped it, or read it themselves.
  if (kernel.breakers.put(rows)) kernel.signals.receive(closedLanesTopic);
}

/** The same, and flips those whose time has come. Workers call this before they claim, twice a second. */
export async function advanceBreakers(kernel: Kernel): Promise<void> {
  await readBreakerStates(kernel);
  for (const name of kernel.breakers.names) await advanceBreaker(kernel, kernel.breakers.of(name));
}

/**
 * An open breaker whose pause has ended lets probes through, and probes that have ended open or close it: any process
 * that sees this flips it.
 */
export async function advanceBreaker(kernel: Kernel, row: BreakerRow, askedMs: number | null = null): Promise<void> {
  const policy = kernel.breakers.policyOf(row.name);
  if (row.until_ms !== null && row.until_ms <= row.now_ms) {
    await flip(kernel, row, { to: "half_open", cause: "rested" });
  }
  if (row.state !== "half_open") return;
  const probes = { done: row.probes_done, good: row.probes_good };
  const to = afterProbes(policy, probes);
  const calls = { good: probes.good, failed: probes.done - probes.good };
  if (to === "closed") await flip(kernel, row, { to, cause: "probes_passed", ...calls });
  if (to === "open") {
    const reason = `A probe failed, after ${probes.good} that went well.`;
    await flip(kernel, row, { to, cause: "probe_failed", ...calls, openForMs: pauseOf(policy, askedMs), reason });
  }
}

export interface FlipTo {
  readonly to: BreakerState;
  readonly cause: BreakerCause;
  readonly openForMs?: number;
  readonly forced?: BreakerRow["forced"];
  readonly good?: number;
  readonly failed?: number;
  readonly reason?: string | null;
  readonly actor?: string | null;
}

/** Flips a breaker if its state is unchanged; returns whether it was. */
export async function flip(kernel: Kernel, seen: BreakerRow, given: FlipTo): Promise<boolean> {
  const { to, cause, openForMs = null, forced = null, good = 0, failed = 0, reason = null, actor = null } = given;
  const message = { id: kernel.newId(), type: kernel.breakers.policyOf(seen.name).publish };
  const asked = {
    name: seen.name,
    after: seen.flip,
    to,
    cause,
    openForMs,
    forced,
    good,
    failed,
    reason,
    actor,
    message,
  };
  const row = await flipBreaker(kernel.db, asked);
  if (row === undefined) {
    await readBreakerStates(kernel, [seen.name]); // Another process was first.
    return false;
  }
  const { log, meters } = kernel.telemetry;
  meters.flipped(row.name, to);
  const fields = { breaker: row.name, from: seen.state, to, cause, good, failed, actor };
  log[to === "open" ? "warn" : "info"](fields, `The breaker ${row.name} is ${to.replace("_", "-")} now.`);
  kernel.breakers.put([row]);
  kernel.signals.hint(closedLanesTopic);
  if (message.type !== null) kernel.signals.hint(outboxTopic);
  return true;
}

/**
 * Writes the counts of this process, and opens breakers whose calls failed too often over all processes. Returns
 * whether it must be called again soon, even without new calls.
 */
export async function writeCalls(kernel: Kernel): Promise<boolean> {
  const { breakers, clock } = kernel;
  const counts = breakers.toWrite(clock.nowMs());
  try {
    await put(kernel, counts);
    await open(kernel);
    await extend(kernel);
  } catch (error) {
    breakers.markUnwritten(counts);
    throw error;
  }
  return breakers.suspects(clock.nowMs()).length > 0;
}

async function put(kernel: Kernel, counts: ReturnType<Kernel["breakers"]["toWrite"]>): Promise<void> {
  if (counts.length === 0) return;
  const { declared } = kernel.breakers;
  const fresh = [...new Set(counts.map((one) => one.breaker))].filter((name) => !declared.has(name));
  if (fresh.length > 0) {
    await declareBreakers(kernel.db, fresh);
    for (const name of fresh) declared.add(name);
  }
  await putCalls(kernel.db, kernel.process, counts);
}

async function open(kernel: Kernel): Promise<void> {
  const { breakers, clock } = kernel;
  const suspects = breakers.suspects(clock.nowMs());
  if (suspects.length === 0) return;
  const counted = new Map(suspects.map((one) => [one.name, one.flip]));
  for (const { name, good, failed, retry_ms } of await readCalls(kernel.db, suspects)) {
    const policy = breakers.policyOf(name);
    // It may have been flipped while the calls were read: they were counted before that.
    if (!trips(policy, { good, failed }) || breakers.of(name).flip !== counted.get(name)) continue;
    const reason = `${failed} of ${good + failed} calls failed.`;
    const openForMs = pauseOf(policy, retry_ms);
    await flip(kernel, breakers.of(name), { to: "open", cause: "failures", good, failed, reason, openForMs });
  }
}

/** A call that ran when a breaker opened may return with the request for a longer pause. */
async function extend(kernel: Kernel): Promise<void> {
  const { breakers } = kernel;
  for (const name of breakers.names) {
    const { until_ms, since_ms, flip } = breakers.of(name);
    const askedMs = breakers.askedUntil(name);
    if (until_ms === null || askedMs === null || askedMs <= until_ms) continue;
    const untilMs = since_ms + pauseOf(breakers.policyOf(name), askedMs - since_ms);
    if (untilMs <= until_ms) continue;
    await extendBreaker(kernel.db, { name, flip, untilMs });
    await readBreakerStates(kernel, [name]);
  }
}

/** Where the next probe of a breaker goes; undefined if it needs none: it is not half-open, or a probe is running. */
export function probePlace(kernel: Kernel, breaker: string): ProbePlace | undefined {
  const { state, flip, is_probing, probe_token } = kernel.breakers.of(breaker);
  const isWanted = state === "half_open" && !is_probing && !kernel.breakers.hasProbeClaim(breaker);
  return isWanted ? { breaker, flip, seenToken: probe_token } : undefined;
}

/** Deletes calls that no window includes any more. */
export async function tidyBreakers(kernel: Kernel): Promise<void> {
  const { breakers } = kernel;
  const windows = breakers.names.map((name) => ({ name, windowMs: breakers.policyOf(name).windowMs }));
  if (windows.length > 0) await pruneCalls(kernel.db, windows);
}

/** How many steps of one state may run at once while its breaker has just closed; undefined: any number. */
export function rampLimitOf(kernel: Kernel, name: string): number | undefined {
  const { breakers } = kernel;
  const { state, forced, flip, since_ms } = breakers.of(name);
  if (state !== "closed" || forced !== null || flip === 0) return undefined;
  const most = rampLimit(breakers.policyOf(name), kernel.clock.nowMs() - since_ms);
  return most === undefined ? undefined : Math.max(1, Math.floor(most / (breakers.users.get(name)?.length ?? 1)));
}
