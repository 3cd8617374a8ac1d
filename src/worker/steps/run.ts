import { durationMs } from "../../base/duration.ts";
import { broken, isPawlError, PawlError } from "../../base/errors.ts";
import { CircuitOpenError } from "../../base/step-errors.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import { isRecovery, recoveryOf } from "../../kernel/recovery/recover.ts";
import type { ClaimedTask } from "../../kernel/types/claimed-task.ts";
import type { Outcome } from "../../kernel/types/outcome.ts";
import { type HandlerResult, makeStep, OutputCollector, type StepEnvironment } from "./step.ts";

/** A handler, or its fake in a test. */
export type Handler = (step: never) => unknown;

export interface RunOptions extends StepEnvironment {
  /** Fakes for handlers, by `lifecycle/state`. */
  readonly fakes?: ReadonlyMap<string, Handler>;
}

const laterMs = 10_000;
const pastDeadline: Outcome = { kind: "gave_up", reason: "deadline" };

/** Runs one task outside any transaction and returns its outcome. Never throws: a throw is a failed attempt. */
export async function run(kernel: Kernel, task: ClaimedTask, options: RunOptions): Promise<Outcome> {
  if (task.delivery !== undefined) return { kind: "deliver" };
  const output = new OutputCollector();
  try {
    kernel.breakers.begin(task);
    const step = makeStep(kernel, task, output, options);
    if (isRecovery(task)) return await runRecovery(kernel, task, output, step);
    const handler = handlerOf(task, options.fakes);
    const returned = await handler(step as never);
    try {
      return outcomeOf(task, output, returned);
    } catch (error) {
      // The handler has run, and returned an invalid value.
      if (task.kind === "step" && isPawlError(error)) return { kind: "faulty", error };
      throw error;
    }
  } catch (error) {
    // The breaker of something that it needs is open: it is put off, and its attempt does not count.
    if (error instanceof CircuitOpenError)
      return { kind: "retry_later", afterMs: error.retryAfterMs, reason: error.message };
    return { kind: "failed", error };
  } finally {
    output.progress?.stop();
  }
}

/** The function to run before a failed instance recovers, if any. */
async function runRecovery(
  kernel: Kernel,
  task: ClaimedTask,
  output: OutputCollector,
  step: unknown,
): Promise<Outcome> {
  const { cause, reset, isTooLate } = await recoveryOf(kernel, task);
  if (isTooLate()) return pastDeadline;
  const returned = checkedResult(await reset?.(step as never));
  if (isTooLate()) return pastDeadline;
  return (
    unfinishedOutcome(returned) ?? {
      kind: "recover",
      cause,
      messages: output.messages,
      starts: output.starts,
      sends: output.sends,
    }
  );
}

function handlerOf(task: ClaimedTask, fakes: RunOptions["fakes"]): Handler {
  const { lifecycle, row, work } = task;
  if (work !== null) {
    const [from, to] = [work.from, work.to].map((state) => lifecycle.renamed[state] ?? state);
    const edges = lifecycle.edgesFrom(from!, work.event);
    const edge = edges.find((one) => (one.to ?? one.from) === to && one.after !== undefined);
    if (edge?.after === undefined)
      throw new PawlError(
        "definition_changed",
        `\`${lifecycle.name}\` no longer has an \`after\` on \`${work.event}\` from \`${work.from}\`.`,
      );
    return edge.after;
  }
  const handler = fakes?.get(`${lifecycle.name}/${row.state}`) ?? lifecycle.states.get(row.state)?.run;
  if (handler === undefined) throw broken(`\`${row.state}\` of \`${lifecycle.name}\` has a task and no \`run\`.`);
  return handler;
}

function outcomeOf(task: ClaimedTask, output: OutputCollector, given: unknown): Outcome {
  const returned = checkedResult(given);
  const undone = unfinishedOutcome(returned);
  if (undone !== undefined) return undone;
  if (task.kind === "effect") return { kind: "done", starts: output.starts, sends: output.sends };
  const go = returned?.kind === "go" ? returned : undefined;
  const event = go?.event ?? onlyOutcome(task);
  const { patch, messages, starts, sends } = output;
  return { kind: "event", event, payload: go?.payload, patch, messages, starts, sends };
}

/** The step returned `retryLater` or `giveUp`. */
function unfinishedOutcome(returned: HandlerResult | undefined): Outcome | undefined {
  if (returned?.kind === "retry_later") {
    const afterMs = returned.after === undefined ? laterMs : durationMs(returned.after, "retryLater({ after })");
    return { kind: "retry_later", afterMs, reason: returned.reason ?? null };
  }
  return returned?.kind === "give_up" ? { kind: "gave_up", reason: returned.reason } : undefined;
}

function checkedResult(given: unknown): HandlerResult | undefined {
  if (given === undefined || given === null) return undefined;
  const { kind } = given as { kind?: unknown };
  if (kind === "go" || kind === "retry_later" || kind === "give_up") return given as HandlerResult;
  throw new PawlError("hook_failed", "A step returns step.go(…), step.retryLater(…), step.giveUp(…) or nothing.");
}

/** A step that returns nothing ends with the only event of its state. */
function onlyOutcome({ lifecycle, row }: ClaimedTask): string {
  const only = lifecycle.states.get(row.state)?.outcome;
  if (only !== undefined) return only;
  throw new PawlError(
    "hook_failed",
    `The step of \`${row.state}\` must return its outcome: return step.go(…) with one of its events.`,
  );
}
