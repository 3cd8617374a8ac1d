import { PawlError } from "../../base/errors.ts";
import { CircuitOpenError, TransientError } from "../../base/step-errors.ts";
import { checkedBreaker, type Verdict, verdictOn } from "../../policy/breaker.ts";
import { readLeavings } from "../../store/move/journal.ts";
import { type BreakerRow, markProbe, settleProbe } from "../../store/tasks/breakers.ts";
import { logFailure } from "../../telemetry/log.ts";
import type { Kernel } from "../kernel.ts";
import { closedLanesTopic } from "../lanes/closed-lanes.ts";
import { retryThroughOutage } from "../retry-through-outage.ts";
import type { PendingReport } from "../tasks/pending-report.ts";
import type { ClaimedTask } from "../types/claimed-task.ts";
import type { Outcome } from "../types/outcome.ts";
import { usesOf } from "./breaker-states.ts";
import { advanceBreaker, advanceBreakers, callsTopic, readBreakerStates } from "./breakers.ts";

/** A call that was let through, and the state of its breaker. */
interface Pass {
  readonly name: string;
  readonly flip: number;
  /** It is the probe of a half-open breaker; `step`: as the step that was claimed to be. */
  readonly probe: "call" | "step" | null;
}

/** More names than a program has dependencies: the names probably contain ids. */
const maxNames = 1_000;
const longestMs = 1e12;

/**
 * Calls a dependency inside a step, under its breaker. While that is closed the call is counted, in memory; while it is
 * open the call is refused at once; and while it is half-open the call is let through alone, as a probe.
 */
export async function call(
  kernel: Kernel,
  task: ClaimedTask,
  signal: AbortSignal,
  dependency: unknown,
  work: unknown,
): Promise<unknown> {
  const name = checkedBreaker(dependency);
  if (typeof work !== "function")
    throw new PawlError("option_invalid", '`step.call` takes a function: step.call("llm", (signal) => …).');
  const pass = await retryThroughOutage(kernel, signal, () => enter(kernel, task, name));
  try {
    const result: unknown = await work(signal);
    await leave(kernel, task, pass, "good", null);
    return result;
  } catch (error) {
    if (signal.aborted) kernel.breakers.cut(task, pass.name, pass.flip);
    await leave(kernel, task, pass, signal.aborted ? null : verdictOn(error), askedMsOf(error));
    throw error;
  }
}

async function enter(kernel: Kernel, task: ClaimedTask, name: string): Promise<Pass> {
  const { breakers, clock } = kernel;
  if (!breakers.isKnown(name)) {
    if (breakers.names.length >= maxNames)
      throw new PawlError("option_invalid", `\`step.call\` was given ${maxNames} names; name services, not requests.`);
    breakers.add(name);
    await readBreakerStates(kernel, [name]);
  }
  const { until_ms } = breakers.of(name);
  if (until_ms !== null && until_ms <= clock.nowMs()) await advanceBreakers(kernel);
  const row = breakers.of(name);
  if (row.state === "closed") return { name, flip: row.flip, probe: null };
  if (row.state === "half_open") {
    if (task.probe?.breaker === name && task.probe.flip === row.flip) return { name, flip: row.flip, probe: "step" };
    if (await becomeProbe(kernel, task, row)) return { name, flip: row.flip, probe: "call" };
  }
  throw refused(kernel, breakers.of(name));
}

async function becomeProbe(kernel: Kernel, { lease }: ClaimedTask, seen: BreakerRow): Promise<boolean> {
  if (seen.is_probing) return false;
  kernel.breakers.markProbing(seen.name);
  return markProbe(kernel.db, { name: seen.name, flip: seen.flip, ...lease }, seen.probe_token);
}

function refused(kernel: Kernel, row: BreakerRow): CircuitOpenError {
  const { openForMs } = kernel.breakers.policyOf(row.name);
  if (row.state === "half_open") {
    const message = `The breaker \`${row.name}\` is half-open, and its probe is under way.`;
    return new CircuitOpenError(row.name, message, Math.max(1_000, openForMs / 10));
  }
  // A breaker that an operator has opened is closed by an operator, at an unknown time.
  const afterMs = row.until_ms === null ? openForMs : Math.max(0, row.until_ms - kernel.clock.nowMs());
  const message = `The breaker \`${row.name}\` is open. ${row.reason ?? ""}`.trimEnd();
  return new CircuitOpenError(row.name, message, afterMs);
}

async function leave(
  kernel: Kernel,
  task: ClaimedTask,
  pass: Pass,
  verdict: Verdict,
  askedMs: number | null,
): Promise<void> {
  const step = pass.name === usesOf(task) ? kernel.breakers.stepOf(task) : undefined;
  if (step !== undefined && verdict !== null) step[verdict] += 1;
  if (pass.probe === null) count(kernel, pass.name, pass.flip, verdict, askedMs);
  if (pass.probe === "call") await settle(kernel, task, pass, verdict, askedMs);
}

function count(kernel: Kernel, name: string, flip: number, verdict: Verdict, askedMs: number | null): void {
  const atMs = kernel.clock.nowMs();
  const retryAtMs = askedMs === null ? null : atMs + askedMs;
  if (kernel.breakers.count(name, { flip, verdict, atMs, retryAtMs })) kernel.signals.receive(callsTopic);
}

/** A probe has ended. One without an outcome does not count, and the next one may follow. */
async function settle(
  kernel: Kernel,
  { lease }: ClaimedTask,
  { name, flip }: Pick<Pass, "name" | "flip">,
  verdict: Verdict,
  askedMs: number | null,
): Promise<void> {
  const told = { done: verdict !== null, good: verdict === "good" };
  try {
    const row = await settleProbe(kernel.db, { name, flip, ...lease }, told);
    if (row === undefined) return;
    kernel.breakers.put([row]);
    kernel.signals.hint(closedLanesTopic);
    await advanceBreaker(kernel, row, askedMs);
  } catch (error) {
    // The step's work counts all the same; its probe ends when its task no longer runs.
    logFailure(kernel.telemetry.log, error);
  }
}

/** How long a dependency requested a pause. It may be any number; the policy limits it. */
function askedMsOf(error: unknown): number | null {
  const askedMs = error instanceof TransientError ? Number(error.retryAfterMs) : 0;
  return askedMs > 0 ? Math.min(askedMs, longestMs) : null;
}

/**
 * The outcomes of reported steps, for the dependencies of their states. A step that made calls itself has reported them
 * already.
 */
export async function countReports(kernel: Kernel, batch: readonly PendingReport[]): Promise<void> {
  const { breakers } = kernel;
  await countTimeouts(kernel, batch);
  if (breakers.users.size === 0) return;
  for (const { report, result } of batch) {
    const { task, outcome } = report;
    const name = usesOf(task);
    if (name === undefined || result !== "written") continue;
    const step = breakers.stepOf(task);
    const calls = (step?.good ?? 0) + (step?.failed ?? 0);
    const verdict = calls === 0 ? verdictOf(outcome) : step!.failed > 0 ? "failed" : "good";
    const askedMs = outcome.kind === "failed" ? askedMsOf(outcome.error) : null;
    if (task.probe !== undefined) await settle(kernel, task, { name, flip: task.probe.flip }, verdict, askedMs);
    else if (calls === 0) count(kernel, name, step?.flip ?? breakers.of(name).flip, verdict, askedMs);
  }
}

function verdictOf(outcome: Outcome): Verdict {
  if (outcome.kind === "event" || outcome.kind === "done") return "good";
  return outcome.kind === "failed" ? verdictOn(outcome.error) : null;
}

/** A step that lost its lease does not count, unless its state's own timeout ended it: its call took too long. */
async function countTimeouts(kernel: Kernel, batch: readonly PendingReport[]): Promise<void> {
  const { breakers, db } = kernel;
  const lost = batch
    .filter(({ result, report }) => result === "lease_lost" && report.outcome.kind !== "lapsed")
    .map(({ report }) => report.task)
    .filter((task) => usesOf(task) !== undefined || breakers.cutsOf(task).size > 0);
  if (lost.length === 0) return;
  try {
    const stays = lost.map(({ row, visit }) => ({ id: row.id, visit }));
    const leavings = new Map((await readLeavings(db, stays)).map((one) => [one.id, one]));
    for (const task of lost) {
      const { source, reason } = leavings.get(task.row.id) ?? {};
      if (source !== "timer" || reason !== "timeout") continue;
      const flips = new Map(breakers.cutsOf(task));
      const name = usesOf(task);
      if (task.probe !== undefined) await settle(kernel, task, { name: name!, flip: task.probe.flip }, "failed", null);
      else if (name !== undefined) flips.set(name, breakers.stepOf(task)?.flip ?? breakers.of(name).flip);
      for (const [each, flip] of flips) count(kernel, each, flip, "failed", null);
    }
  } catch (error) {
    logFailure(kernel.telemetry.log, error); // The reports were written all the same.
  }
}
