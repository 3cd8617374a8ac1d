import { type Duration, durationMs } from "../base/duration.ts";
import { storableText } from "../base/json.ts";
import { makeToken } from "../kernel/callback-tokens.ts";
import { call } from "../kernel/calls.ts";
import { type ChildStart, childrenOf, planChild } from "../kernel/children.ts";
import type { Outgoing } from "../kernel/course.ts";
import { planSend, type Sending } from "../kernel/deliveries.ts";
import type { Kernel } from "../kernel/kernel.ts";
import { once } from "../kernel/memos.ts";
import { type Word, wordOf } from "../kernel/progress.ts";
import type { Taken } from "../kernel/take.ts";

/** What a step said while it ran: it commits with the outcome and with nothing else. */
export interface Said {
  patch: Record<string, unknown>;
  readonly messages: Outgoing[];
  readonly starts: ChildStart[];
  readonly sends: Sending[];
}

/** What a handler returned, once it is known to be something that a handler may return. */
export type Returned =
  | { readonly kind: "go"; readonly event: string; readonly payload: unknown }
  | { readonly kind: "retry_later"; readonly after: Duration | undefined; readonly reason: string | undefined }
  | { readonly kind: "give_up"; readonly reason: string };

export type Log = (message: string, fields: Readonly<Record<string, unknown>>) => void;

/** What a step finds around it. */
export interface Surroundings {
  readonly kernel: Kernel;
  readonly abort: { readonly signal: AbortSignal };
  readonly log: Log;
  readonly progress: (word: Word) => void;
}

/** The object that a state's `run`, or an edge's `after`, is called with. */
export function makeStep(taken: Taken, said: Said, surroundings: Surroundings): Record<string, unknown> {
  const { kernel, abort, log, progress } = surroundings;
  const { row } = taken;
  const payload = taken.work === null ? undefined : (taken.work.payload ?? undefined);
  return {
    data: row.data,
    payload: taken.lifecycle.job ? row.data : payload,
    id: row.id,
    key: row.key,
    parent: row.parent_id === null ? null : { lifecycle: row.parent_lifecycle, id: row.parent_id },
    attempt: taken.attempt,
    // An effect belongs to the move that caused it, a step to its visit: the same over all their attempts.
    idempotencyKey:
      taken.work === null
        ? `${row.id}:${row.state}:${taken.visit}`
        : `${row.id}:${taken.work.event}:${taken.work.version}`,
    get signal() {
      return abort.signal;
    },
    set(patch: Record<string, unknown>) {
      storableText(patch, "What the step set");
      said.patch = { ...said.patch, ...patch };
    },
    publish(type: string, message: unknown) {
      storableText(message, `The message \`${type}\``);
      said.messages.push({ type, payload: message });
    },
    go: (event: string, payload?: unknown): Returned => ({ kind: "go", event, payload }),
    retryLater: (options: { after?: Duration; reason?: string } = {}): Returned => {
      if (options.after !== undefined) durationMs(options.after, "retryLater({ after })");
      return { kind: "retry_later", after: options.after, reason: options.reason };
    },
    giveUp: (reason: string): Returned => ({ kind: "give_up", reason: String(reason) }),
    log: (message: string, fields: Record<string, unknown> = {}) =>
      log(message, { ...fields, instance: row.id, lane: taken.lane, attempt: taken.attempt }),
    start(lifecycle: unknown, options?: unknown) {
      said.starts.push(planChild(kernel, taken, lifecycle, options, said.starts.length));
    },
    children: (lifecycle?: unknown) => childrenOf(kernel, taken, lifecycle),
    send(lifecycle: unknown, to: unknown, event: unknown, payload?: unknown) {
      said.sends.push(planSend(kernel, lifecycle, to, event, payload));
    },
    once: (name: string, work: () => unknown) => once(kernel, taken, name, work),
    progress: (fraction: unknown, note?: unknown) => progress(wordOf(fraction, note)),
    callbackToken: (event: unknown, options?: unknown) => makeToken(kernel, taken, event, options),
    call: (dependency: unknown, work: unknown) => call(kernel, taken, abort, dependency, work),
  };
}
