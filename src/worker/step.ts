import { type Duration, durationMs } from "../base/duration.ts";
import { storableText } from "../base/json.ts";
import { makeToken } from "../kernel/callback-tokens.ts";
import { call } from "../kernel/calls.ts";
import { type ChildStart, childrenOf, planChild } from "../kernel/children.ts";
import type { Outgoing } from "../kernel/course.ts";
import { planSend, type Sending } from "../kernel/deliveries.ts";
import type { Kernel } from "../kernel/kernel.ts";
import { once } from "../kernel/memos.ts";
import { tellProgress, wordOf } from "../kernel/progress.ts";
import type { Taken } from "../kernel/take.ts";
import { Progress } from "./progress.ts";

const none: readonly never[] = [];
const noPatch: Readonly<Record<string, unknown>> = {};

/** What a step said while it ran: it commits with the outcome and with nothing else. Most steps say nothing. */
export class Said {
  patch = noPatch;
  messages: readonly Outgoing[] = none;
  starts: readonly ChildStart[] = none;
  sends: readonly Sending[] = none;
  progress: Progress | undefined;
}

function withOne<One>(list: readonly One[], one: One): readonly One[] {
  if (list === none) return [one];
  (list as One[]).push(one); // It is this step's own, and may become long.
  return list;
}

/** What a handler returned, once it is known to be something that a handler may return. */
export type Returned =
  | { readonly kind: "go"; readonly event: string; readonly payload: unknown }
  | { readonly kind: "retry_later"; readonly after: Duration | undefined; readonly reason: string | undefined }
  | { readonly kind: "give_up"; readonly reason: string };

export type Log = (message: string, fields: Readonly<Record<string, unknown>>) => void;

/** What a step finds around it. */
export interface Surroundings {
  readonly abort: { readonly signal: AbortSignal };
  readonly log: Log;
}

/**
 * The object that a state's `run`, or an edge's `after`, is called with. Its functions may be taken out of it, as in
 * `({ data, set }) => …`: each is made when it is asked for, since a step needs a few of them at most.
 */
export class TaskStep {
  readonly data: unknown;
  readonly payload: unknown;
  readonly id: string;
  readonly key: string | null;
  readonly attempt: number;
  readonly #kernel: Kernel;
  readonly #taken: Taken;
  readonly #said: Said;
  readonly #surroundings: Surroundings;

  constructor(kernel: Kernel, taken: Taken, said: Said, surroundings: Surroundings) {
    const { row, work } = taken;
    this.data = row.data;
    this.payload = taken.lifecycle.job ? row.data : (work?.payload ?? undefined);
    this.id = row.id;
    this.key = row.key;
    this.attempt = taken.attempt;
    this.#kernel = kernel;
    this.#taken = taken;
    this.#said = said;
    this.#surroundings = surroundings;
  }

  get parent() {
    const { parent_id: id, parent_lifecycle: lifecycle } = this.#taken.row;
    return id === null ? null : { lifecycle, id };
  }

  /** An effect belongs to the move that caused it, a step to its visit: the same over all their attempts. */
  get idempotencyKey(): string {
    const { row, work, visit } = this.#taken;
    return work === null ? `${row.id}:${row.state}:${visit}` : `${row.id}:${work.event}:${work.version}`;
  }

  get signal(): AbortSignal {
    return this.#surroundings.abort.signal;
  }

  get set() {
    return (patch: Record<string, unknown>): void => {
      storableText(patch, "What the step set");
      this.#said.patch = { ...this.#said.patch, ...patch };
    };
  }

  get publish() {
    return (type: string, payload: unknown): void => {
      storableText(payload, `The message \`${type}\``);
      this.#said.messages = withOne(this.#said.messages, { type, payload });
    };
  }

  get go() {
    return (event: string, payload?: unknown): Returned => ({ kind: "go", event, payload });
  }

  get retryLater() {
    return (options: { after?: Duration; reason?: string } = {}): Returned => {
      if (options.after !== undefined) durationMs(options.after, "retryLater({ after })");
      return { kind: "retry_later", after: options.after, reason: options.reason };
    };
  }

  get giveUp() {
    return (reason: string): Returned => ({ kind: "give_up", reason: String(reason) });
  }

  get log() {
    const { row, lane, attempt } = this.#taken;
    return (message: string, fields: Record<string, unknown> = {}): void =>
      this.#surroundings.log(message, { ...fields, instance: row.id, lane, attempt });
  }

  get start() {
    return (lifecycle: unknown, options?: unknown): void => {
      const { starts } = this.#said;
      const child = planChild(this.#kernel, this.#taken, lifecycle, options, starts.length);
      this.#said.starts = withOne(starts, child);
    };
  }

  get children() {
    return (lifecycle?: unknown) => childrenOf(this.#kernel, this.#taken, lifecycle);
  }

  get send() {
    return (lifecycle: unknown, to: unknown, event: unknown, payload?: unknown): void => {
      this.#said.sends = withOne(this.#said.sends, planSend(this.#kernel, lifecycle, to, event, payload));
    };
  }

  get once() {
    return (name: string, work: () => unknown) => once(this.#kernel, this.#taken, name, work);
  }

  get progress() {
    return (fraction: unknown, note?: unknown): void => {
      const word = wordOf(fraction, note);
      this.#said.progress ??= new Progress((newest) => tellProgress(this.#kernel, this.#taken, newest));
      this.#said.progress.say(word);
    };
  }

  get callbackToken() {
    return (event: unknown, options?: unknown) => makeToken(this.#kernel, this.#taken, event, options);
  }

  get call() {
    return (dependency: unknown, work: unknown) =>
      call(this.#kernel, this.#taken, this.#surroundings.abort, dependency, work);
  }
}
