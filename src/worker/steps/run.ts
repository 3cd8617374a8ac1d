import { durationMs } from "../../base/duration.ts";
import { broken, isPawlError, PawlError } from "../../base/errors.ts";
import { CircuitOpenError } from "../../base/step-errors.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import { isRecovery, recoveryOf } from "../../kernel/recovery/recover.ts";
import type { Taken } from "../../kernel/types/claimed-task.ts";
import type { Outcome } from "../../kernel/types/outcome.ts";
import { makeStep, type Returned, Said, type Surroundings } from "./step.ts";

/** A handler, or what a test puts in its place. */
export type Handler = (step: never) => unknown;

export interface RunOptions extends Surroundings {
  /** Handlers that stand in for the real ones, by `lifecycle/state`. */
  readonly fakes?: ReadonlyMap<string, Handler>;
}

const laterMs = 10_000;
const pastDeadline: Outcome = { kind: "gave_up", reason: "deadline" };

/** Runs one task outside any transaction and says what became of it. Never throws: a throw is an attempt that failed. */
export async function run(kernel: Kernel, taken: Taken, options: RunOptions): Promise<Outcome> {
  if (taken.delivery !== undefined) return { kind: "deliver" };
  const said = new Said();
  try {
    kernel.breakers.begin(taken);
    const step = makeStep(kernel, taken, said, options);
    if (isRecovery(taken)) return await runRecovery(kernel, taken, said, step);
    const handler = handlerOf(taken, options.fakes);
    const returned = await handler(step as never);
    try {
      return outcomeOf(taken, said, returned);
    } catch (error) {
      // The handler has done its work, and says what nobody can understand.
      if (taken.kind === "step" && isPawlError(error)) return { kind: "faulty", error };
      throw error;
    }
  } catch (error) {
    // The breaker of something that it needs is open: it is put off, and its attempt does not count.
    if (error instanceof CircuitOpenError)
      return { kind: "retry_later", afterMs: error.retryAfterMs, reason: error.message };
    return { kind: "failed", error };
  } finally {
    said.progress?.stop();
  }
}

/** What has to be done before a failed instance is taken up again, if anything has. */
async function runRecovery(kernel: Kernel, taken: Taken, said: Said, step: unknown): Promise<Outcome> {
  const { cause, reset, isTooLate } = await recoveryOf(kernel, taken);
  if (isTooLate()) return pastDeadline;
  const returned = asReturned(await reset?.(step as never));
  if (isTooLate()) return pastDeadline;
  return (
    undoneOf(returned) ?? { kind: "recover", cause, messages: said.messages, starts: said.starts, sends: said.sends }
  );
}

function handlerOf(taken: Taken, fakes: RunOptions["fakes"]): Handler {
  const { lifecycle, row, work } = taken;
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

function outcomeOf(taken: Taken, said: Said, given: unknown): Outcome {
  const returned = asReturned(given);
  const undone = undoneOf(returned);
  if (undone !== undefined) return undone;
  if (taken.kind === "effect") return { kind: "done", starts: said.starts, sends: said.sends };
  const go = returned?.kind === "go" ? returned : undefined;
  const event = go?.event ?? onlyOutcome(taken);
  const { patch, messages, starts, sends } = said;
  return { kind: "event", event, payload: go?.payload, patch, messages, starts, sends };
}

/** It put itself off, or gave up. */
function undoneOf(returned: Returned | undefined): Outcome | undefined {
  if (returned?.kind === "retry_later") {
    const afterMs = returned.after === undefined ? laterMs : durationMs(returned.after, "retryLater({ after })");
    return { kind: "retry_later", afterMs, reason: returned.reason ?? null };
  }
  return returned?.kind === "give_up" ? { kind: "gave_up", reason: returned.reason } : undefined;
}

function asReturned(given: unknown): Returned | undefined {
  if (given === undefined || given === null) return undefined;
  const { kind } = given as { kind?: unknown };
  if (kind === "go" || kind === "retry_later" || kind === "give_up") return given as Returned;
  throw new PawlError("hook_failed", "A step returns step.go(…), step.retryLater(…), step.giveUp(…) or nothing.");
}

/** A step that returns nothing ends with the only event of its state. */
function onlyOutcome({ lifecycle, row }: Taken): string {
  const only = lifecycle.states.get(row.state)?.outcome;
  if (only !== undefined) return only;
  throw new PawlError(
    "hook_failed",
    `The step of \`${row.state}\` must say how it ended: return step.go(…) with one of its events.`,
  );
}
