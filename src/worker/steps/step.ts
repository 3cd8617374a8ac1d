import { type Duration, durationMs } from "../../base/duration.ts";
import { storableText } from "../../base/json.ts";
import { checkedText } from "../../base/text.ts";
import { call } from "../../kernel/breakers/calls.ts";
import { makeToken } from "../../kernel/callbacks/tokens.ts";
import { childrenOf, planChild } from "../../kernel/family/children.ts";
import { planSend } from "../../kernel/family/deliveries.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import { retryThroughOutage } from "../../kernel/retry-through-outage.ts";
import { runOf } from "../../kernel/tasks/claim.ts";
import { once } from "../../kernel/tasks/memos.ts";
import { checkedProgress, saveProgress } from "../../kernel/tasks/progress.ts";
import type { ClaimedTask } from "../../kernel/types/claimed-task.ts";
import type { PlannedSend } from "../../kernel/types/delivery.ts";
import type { OutgoingMessage } from "../../kernel/types/move-origin.ts";
import type { ChildStart } from "../../kernel/types/start.ts";
import { ProgressThrottle } from "./progress.ts";

const none: readonly never[] = [];
const noPatch: Readonly<Record<string, unknown>> = {};

/** The outputs of a step: they commit with the outcome and with nothing else. Most steps have none. */
export class OutputCollector {
  patch = noPatch;
  messages: readonly OutgoingMessage[] = none;
  starts: readonly ChildStart[] = none;
  sends: readonly PlannedSend[] = none;
  progress: ProgressThrottle | undefined;
}

function withOne<One>(list: readonly One[], one: One): readonly One[] {
  if (list === none) return [one];
  (list as One[]).push(one); // It is this step's own, and may become long.
  return list;
}

/** The return value of a handler, checked. */
export type HandlerResult =
  | { readonly kind: "go"; readonly event: string; readonly payload: unknown }
  | { readonly kind: "retry_later"; readonly after: Duration | undefined; readonly reason: string | undefined }
  | { readonly kind: "give_up"; readonly reason: string };

export type Log = (message: string, fields: Readonly<Record<string, unknown>>) => void;

/** The environment of a step. */
export interface StepEnvironment {
  readonly abort: { readonly signal: AbortSignal };
  readonly log: Log;
}

/**
 * The object that a state's `run`, or an edge's `after`, is called with: all of it its own, so that it can be taken apart,
 * as in `({ data, ...step }) => …`. It is made for every step, and what needs nothing of that step is made once.
 */
export function makeStep(kernel: Kernel, task: ClaimedTask, output: OutputCollector, environment: StepEnvironment) {
  const { row, work, lane, attempt, visit } = task;
  return {
    data: row.data,
    payload: work !== null ? work.payload : task.lifecycle.job ? row.data : task.payload,
    id: row.id,
    key: row.key,
    parent: row.parent_id === null ? null : { lifecycle: row.parent_lifecycle, id: row.parent_id },
    attempt,
    // An effect belongs to the move that caused it, a step to its visit: the same over all their attempts.
    idempotencyKey: work === null ? `${row.id}:${row.state}:${visit}` : `${row.id}:${work.event}:${work.version}`,
    keyFor: (name: unknown): string =>
      `${row.id}:${checkedText(name, "The name given to `keyFor`")}:run-${runOf(task)}`,
    get signal(): AbortSignal {
      return environment.abort.signal;
    },
    go,
    retryLater,
    giveUp,
    set: (patch: Record<string, unknown>): void => {
      storableText(patch, "What the step set");
      output.patch = { ...output.patch, ...patch };
    },
    publish: (type: string, payload: unknown): void => {
      storableText(payload, `The message \`${type}\``);
      output.messages = withOne(output.messages, { type, payload });
    },
    log: (message: string, fields: Record<string, unknown> = {}): void =>
      environment.log(message, { ...fields, instance: row.id, lane, attempt }),
    start: (lifecycle: unknown, options?: unknown): void => {
      output.starts = withOne(output.starts, planChild(kernel, task, lifecycle, options, output.starts.length));
    },
    children: (lifecycle?: unknown) =>
      retryThroughOutage(kernel, environment.abort.signal, () => childrenOf(kernel, task, lifecycle)),
    send: (lifecycle: unknown, to: unknown, event: unknown, ...rest: unknown[]): void => {
      output.sends = withOne(output.sends, planSend(kernel, row.lifecycle, lifecycle, to, event, rest));
    },
    once: (name: unknown, ...rest: unknown[]) => once(kernel, task, environment.abort.signal, name, ...rest),
    progress: (fraction: unknown, note?: unknown): void => {
      const report = checkedProgress(fraction, note);
      output.progress ??= new ProgressThrottle((newest) => saveProgress(kernel, task, newest));
      output.progress.report(report);
    },
    callbackToken: (event: unknown, options?: unknown) =>
      makeToken(kernel, task, environment.abort.signal, event, options),
    call: (dependency: unknown, work: unknown) => call(kernel, task, environment.abort.signal, dependency, work),
  };
}

function go(event: string, payload?: unknown): HandlerResult {
  return { kind: "go", event, payload };
}

function retryLater(options: { after?: Duration; reason?: string } = {}): HandlerResult {
  if (options.after !== undefined) durationMs(options.after, "retryLater({ after })");
  return { kind: "retry_later", after: options.after, reason: options.reason };
}

function giveUp(reason: string): HandlerResult {
  return { kind: "give_up", reason: String(reason) };
}
