import { type Duration, durationMs } from "../../base/duration.ts";
import { PawlError } from "../../base/errors.ts";
import { checkedText } from "../../base/text.ts";
import type { AnyJob, JobPayloadOf } from "../../definition/job.ts";
import type { Rate } from "../../definition/language/definition-types.ts";
import type { AnyLifecycle, EventOf, PayloadOf, StateOf } from "../../definition/language/public-types.ts";
import type { AnySchedule } from "../../definition/schedule/schedule.ts";
import { itemInvalid } from "../../kernel/errors.ts";
import type { Aggregate } from "../../kernel/move/publish.ts";
import { refOf } from "../../kernel/refs.ts";
import type { JobStatus } from "../../kernel/tasks/jobs.ts";
import type { CallOptions, StartCallOptions } from "../../kernel/types/call-options.ts";
import type { Send } from "../../kernel/types/send.ts";

/** Names an instance: by its key, or by its id. */
export type InstanceRef = string | { readonly id: string } | { readonly key: string };

export interface SendOptions extends StartCallOptions {
  /** Fail if the instance is not at this version. */
  readonly expectedVersion?: number;
  /** A repeated call with the same key and content returns the first result and changes nothing. */
  readonly idempotencyKey?: string;
  /** Delay the event; it is stored in the database until then. */
  readonly after?: Duration;
  readonly at?: Date;
}

/** The aggregate of a message, and the transaction in which it is published. */
export interface PublishOptions extends CallOptions {
  /** Messages of the same aggregate are sent in order. */
  readonly aggregate: Aggregate;
}

/** The last arguments of `send`: the payload, if the event has one, then options. */
export type SendArguments<L extends AnyLifecycle, Event extends EventOf<L>> = [PayloadOf<L, Event>] extends [undefined]
  ? [options?: SendOptions]
  : undefined extends PayloadOf<L, Event>
    ? [payload?: PayloadOf<L, Event>, options?: SendOptions]
    : [payload: PayloadOf<L, Event>, options?: SendOptions];

/** Identifies a callback and its sender. */
export interface ReceiveOptions extends CallOptions {
  /** Unique among the callbacks of the instance, such as the id of a request. */
  readonly dedupeKey: string;
  readonly actor?: string | undefined;
}

export interface TokenReceiveOptions {
  /** Defaults to a hash of the content, so that equal content with the same token is a duplicate. */
  readonly dedupeKey?: string | undefined;
  readonly actor?: string | undefined;
}

/** The error that an external system reports. */
export interface ReportedError {
  readonly message: string;
  readonly name?: string | undefined;
  readonly code?: string | undefined;
}

/** The last arguments of `receive`: the payload, if the event has one, then options. */
export type ReceiveArguments<L extends AnyLifecycle, Event extends EventOf<L>> = [PayloadOf<L, Event>] extends [
  undefined,
]
  ? [options: ReceiveOptions]
  : [payload: PayloadOf<L, Event>, options: ReceiveOptions];

/** Filters callbacks. */
export interface CallbacksOptions {
  readonly lifecycle?: AnyLifecycle | undefined;
  /** Only callbacks of this instance of the lifecycle. */
  readonly instance?: InstanceRef | undefined;
  readonly status?: "waiting" | "applied" | "kept" | "rejected" | "refused" | "accepted" | undefined;
  /** Only callbacks that arrived after their deadline. */
  readonly late?: boolean | undefined;
  /** The maximum number of items, up to 1,000. Defaults to 100. */
  readonly limit?: number | undefined;
  /** The last item of the previous page. */
  readonly after?: { readonly id: string } | undefined;
}

/** An item of `sendMany`. */
export type SendItem<L extends AnyLifecycle> = {
  [Event in EventOf<L>]: { readonly to: InstanceRef; readonly event: Event } & (undefined extends PayloadOf<L, Event>
    ? { readonly payload?: PayloadOf<L, Event> }
    : { readonly payload: PayloadOf<L, Event> }) &
    Omit<SendOptions, "tx">;
}[EventOf<L>];

/** Chooses instances of a lifecycle: those that meet all of the conditions. */
export interface FilterOptions<L extends AnyLifecycle> {
  readonly state?: StateOf<L> | readonly StateOf<L>[];
  /** Only instances whose key starts with this text. */
  readonly key?: string;
  /** Only children of this instance. */
  readonly parent?: { readonly id: string };
  /** Only instances that failed for this reason: `{ failure: "deadline" }`. */
  readonly failure?: string;
  /** Only instances that started at least this long ago. */
  readonly olderThan?: Duration;
  /** Only instances that have not moved for at least this long. */
  readonly idleFor?: Duration;
}

export interface ListOptions<L extends AnyLifecycle> extends FilterOptions<L>, CallOptions {
  /** The maximum number of items, up to 1,000. Defaults to 100. */
  readonly limit?: number;
  /** The last item of the previous page. */
  readonly after?: { readonly id: string };
}

export interface WaitOptions<L extends AnyLifecycle> {
  /** The states to wait for. Defaults to any final state. */
  readonly until?: StateOf<L> | readonly StateOf<L>[] | undefined;
  /** @default "60s" */
  readonly timeout?: Duration | undefined;
  /** Aborts the wait. */
  readonly signal?: AbortSignal | undefined;
}

export interface EnqueueOptions extends StartCallOptions {
  /** Unique while the job is open. */
  readonly key?: string;
  /** Lower runs first. Defaults to the priority of the job. */
  readonly priority?: number;
  readonly after?: Duration;
  readonly at?: Date;
}

export interface JobsOptions {
  /** Only jobs of this name. */
  readonly job?: AnyJob;
  readonly status?: JobStatus["status"];
  /** The maximum number of items, up to 1,000. Defaults to 100. */
  readonly limit?: number;
  /** The last item of the previous page. */
  readonly after?: { readonly id: string };
}

/** Names lanes of a lifecycle, of all versions and in all processes. Defaults to all of them. */
export interface LanesOptions<L extends AnyLifecycle> {
  /** The lane of one state with a `run`. */
  readonly state?: StateOf<L>;
  /** The lane of the `after` hooks. */
  readonly effects?: boolean;
}

export interface PauseOptions<L extends AnyLifecycle> extends LanesOptions<L> {
  /** The reason to record. */
  readonly reason: string;
  readonly actor?: string;
}

/** New limits of a state. What is left out stays as it is; null takes it back to the definition. */
export interface PutLimitOptions<L extends AnyLifecycle> {
  /** The state; a job needs none. */
  readonly state?: StateOf<L>;
  /** How many may run at a time: in all, or of each key. */
  readonly limit?: number | null | { readonly total?: number | null; readonly each?: number | null };
  /** How many may begin in a time: in all, or of each key. */
  readonly rate?: Rate | null | { readonly total?: Rate | null; readonly each?: Rate | null };
  /** The reason to record. */
  readonly reason?: string;
  readonly actor?: string;
}

export interface ResumeOptions<L extends AnyLifecycle> extends LanesOptions<L> {
  readonly reason?: string;
  readonly actor?: string;
}

export interface ForceBreakerOptions {
  /** The reason to record. Required, except for a release. */
  readonly reason?: string | undefined;
  readonly actor?: string | undefined;
}

/** An item of `enqueueMany`. */
export type EnqueueItem<J extends AnyJob> = Omit<EnqueueOptions, "tx"> & { readonly payload: JobPayloadOf<J> };

/** The last arguments of `enqueue`: the payload, which is optional for a job without one, then options. */
export type EnqueueArguments<J extends AnyJob> =
  Record<string, never> extends JobPayloadOf<J>
    ? [payload?: JobPayloadOf<J>, options?: EnqueueOptions]
    : [payload: JobPayloadOf<J>, options?: EnqueueOptions];

export function checkedList<Item>(items: readonly Item[]): readonly Item[] {
  if (Array.isArray(items)) return items;
  throw new PawlError("option_invalid", "`items` must be a list.");
}

const firstMs = 0;
const endMs = Date.UTC(10_000, 0);

export function delayOf(options: { after?: Duration; at?: Date }): Send["delay"] {
  const { after, at } = options;
  if (after !== undefined && at !== undefined) throw new PawlError("option_invalid", "Use `after` or `at`, not both.");
  if (after !== undefined) return { afterMs: durationMs(after, "after"), atMs: null };
  if (at === undefined) return undefined;
  const atMs = at instanceof Date ? at.getTime() : Number.NaN;
  if (!(atMs >= firstMs && atMs < endMs)) {
    throw new PawlError("option_invalid", "`at` must be a valid Date between the years 1970 and 9999.");
  }
  return { afterMs: null, atMs };
}

export interface StuckOptions {
  /**
   * The number of instances per group, oldest first.
   * @default 10
   */
  readonly limit?: number | undefined;
}

export function idOf(after: { id: string }): string {
  const ref = refOf(after);
  if ("id" in ref) return ref.id;
  throw new PawlError("option_invalid", "`after` must be the last instance of the previous page, or its { id }.");
}

/** Converts each item of a list; an invalid one throws with its index, before any is written. */
export function checkedItems<Item, Made>(items: readonly Item[], make: (item: Item) => Made): Made[] {
  return checkedList(items).map((item, index) => {
    try {
      return make(item);
    } catch (error) {
      throw itemInvalid(error, index);
    }
  });
}

/** Names a schedule: by its value, or by its name. */
export function scheduleName(given: AnySchedule | string): string {
  const name: unknown = typeof given === "string" ? given : (given as AnySchedule | null)?.name;
  return checkedText(name, "The name of a schedule");
}
