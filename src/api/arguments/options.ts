import { type Duration, durationMs } from "../../base/duration.ts";
import { PawlError } from "../../base/errors.ts";
import { checkedText } from "../../base/text.ts";
import type { AnyJob, JobPayloadOf } from "../../definition/job.ts";
import type { AnyLifecycle, EventOf, PayloadOf, StateOf } from "../../definition/language/public-types.ts";
import type { AnySchedule } from "../../definition/schedule/schedule.ts";
import { itemInvalid } from "../../kernel/errors.ts";
import type { Aggregate } from "../../kernel/move/publish.ts";
import { refOf } from "../../kernel/refs.ts";
import type { JobStatus } from "../../kernel/tasks/jobs.ts";
import type { CallOptions, StartCallOptions } from "../../kernel/types/call-options.ts";
import type { Send } from "../../kernel/types/send.ts";

/** Which instance is meant: its key, or its id. */
export type InstanceRef = string | { readonly id: string } | { readonly key: string };

export interface SendOptions extends StartCallOptions {
  /** Refuse unless the instance is still at this version. */
  readonly expectedVersion?: number;
  /** A repeated call with the same key and content gets the first answer and changes nothing. */
  readonly idempotencyKey?: string;
  /** Send it later: kept in the database until then. */
  readonly after?: Duration;
  readonly at?: Date;
}

/** About what a message is published, and within which transaction. */
export interface PublishOptions extends CallOptions {
  /** Messages about the same thing are sent in their order. */
  readonly aggregate: Aggregate;
}

/** The end of `send`'s arguments: a payload where the event takes one, then options. */
export type SendArguments<L extends AnyLifecycle, Event extends EventOf<L>> = [PayloadOf<L, Event>] extends [undefined]
  ? [options?: SendOptions]
  : undefined extends PayloadOf<L, Event>
    ? [payload?: PayloadOf<L, Event>, options?: SendOptions]
    : [payload: PayloadOf<L, Event>, options?: SendOptions];

/** How a callback is told from others, and who sent it. */
export interface ReceiveOptions extends CallOptions {
  /** Its own among the callbacks of its instance, such as the id of the request that it answers. */
  readonly dedupeKey: string;
  readonly actor?: string | undefined;
}

export interface TokenReceiveOptions {
  /** Unless given, the same content by the same token is the same callback. */
  readonly dedupeKey?: string | undefined;
  readonly actor?: string | undefined;
}

/** What an outside service says of its failure. */
export interface ReportedError {
  readonly message: string;
  readonly name?: string | undefined;
  readonly code?: string | undefined;
}

/** The end of `receive`'s arguments: a payload where the event takes one, then options. */
export type ReceiveArguments<L extends AnyLifecycle, Event extends EventOf<L>> = [PayloadOf<L, Event>] extends [
  undefined,
]
  ? [options: ReceiveOptions]
  : [payload: PayloadOf<L, Event>, options: ReceiveOptions];

/** Which callbacks are wanted. */
export interface CallbacksOptions {
  readonly lifecycle?: AnyLifecycle | undefined;
  /** Only those for this instance of the lifecycle. */
  readonly instance?: InstanceRef | undefined;
  readonly status?: "waiting" | "applied" | "kept" | "rejected" | "refused" | "accepted" | undefined;
  /** Only those that came after their deadline. */
  readonly late?: boolean | undefined;
  /** At most so many; 100 unless given, 1,000 at most. */
  readonly limit?: number | undefined;
  /** Go on after the last one of the page before. */
  readonly after?: { readonly id: string } | undefined;
}

/** One of many sends. */
export type SendItem<L extends AnyLifecycle> = {
  [Event in EventOf<L>]: { readonly to: InstanceRef; readonly event: Event } & (undefined extends PayloadOf<L, Event>
    ? { readonly payload?: PayloadOf<L, Event> }
    : { readonly payload: PayloadOf<L, Event> }) &
    Omit<SendOptions, "tx">;
}[EventOf<L>];

export interface ListOptions<L extends AnyLifecycle> extends CallOptions {
  readonly state?: StateOf<L> | readonly StateOf<L>[];
  /** Only the children of this instance. */
  readonly parent?: { readonly id: string };
  /** Only those that failed for this reason: `{ failure: "deadline" }`. */
  readonly failure?: string;
  /** At most so many; 100 unless given, 1,000 at most. */
  readonly limit?: number;
  /** Go on after the last one of the page before. */
  readonly after?: { readonly id: string };
}

export interface WaitOptions<L extends AnyLifecycle> {
  /** The states to wait for; any final one by default. */
  readonly until?: StateOf<L> | readonly StateOf<L>[] | undefined;
  /** @default "60s" */
  readonly timeout?: Duration | undefined;
  /** Ends the wait. */
  readonly signal?: AbortSignal | undefined;
}

export interface EnqueueOptions extends StartCallOptions {
  /** Unique while the job is open. */
  readonly key?: string;
  /** Lower runs sooner; the job's own unless given. */
  readonly priority?: number;
  readonly after?: Duration;
  readonly at?: Date;
}

export interface JobsOptions {
  /** Only those of this job. */
  readonly job?: AnyJob;
  readonly status?: JobStatus["status"];
  /** At most so many; 100 unless given, 1,000 at most. */
  readonly limit?: number;
  /** Go on after the last one of the page before. */
  readonly after?: { readonly id: string };
}

/** Which lanes are meant: all of a lifecycle unless one of these is given. Of every version, in all processes. */
export interface LanesOptions<L extends AnyLifecycle> {
  /** Those of one state that works. */
  readonly state?: StateOf<L>;
  /** Those of the after-effects. */
  readonly effects?: boolean;
}

export interface PauseOptions<L extends AnyLifecycle> extends LanesOptions<L> {
  /** Why, for whoever looks at it later. */
  readonly reason: string;
  readonly actor?: string;
}

export interface ResumeOptions<L extends AnyLifecycle> extends LanesOptions<L> {
  readonly reason?: string;
  readonly actor?: string;
}

export interface ForceBreakerOptions {
  /** Why, for whoever looks at it later. Needed unless the breaker is released. */
  readonly reason?: string | undefined;
  readonly actor?: string | undefined;
}

/** One of many jobs to enqueue. */
export type EnqueueItem<J extends AnyJob> = Omit<EnqueueOptions, "tx"> & { readonly payload: JobPayloadOf<J> };

/** The end of `enqueue`'s arguments: the payload, which a job without one need not be given, then options. */
export type EnqueueArguments<J extends AnyJob> =
  Record<string, never> extends JobPayloadOf<J>
    ? [payload?: JobPayloadOf<J>, options?: EnqueueOptions]
    : [payload: JobPayloadOf<J>, options?: EnqueueOptions];

export function checkedList<Item>(items: readonly Item[]): readonly Item[] {
  if (Array.isArray(items)) return items;
  throw new PawlError("option_invalid", "A list of items is needed.");
}

const firstMs = 0;
const endMs = Date.UTC(10_000, 0);

export function delayOf(options: { after?: Duration; at?: Date }): Send["delay"] {
  const { after, at } = options;
  if (after !== undefined && at !== undefined) throw new PawlError("option_invalid", "Give `after` or `at`, not both.");
  if (after !== undefined) return { afterMs: durationMs(after, "after"), atMs: null };
  if (at === undefined) return undefined;
  const atMs = at instanceof Date ? at.getTime() : Number.NaN;
  if (!(atMs >= firstMs && atMs < endMs)) {
    throw new PawlError("option_invalid", "`at` must be a valid Date between the years 1970 and 9999.");
  }
  return { afterMs: null, atMs };
}

export interface StuckOptions {
  /** How many instances of each group are listed, those that have waited longest first. @default 10 */
  readonly limit?: number | undefined;
}

export function idOf(after: { id: string }): string {
  const ref = refOf(after);
  if ("id" in ref) return ref.id;
  throw new PawlError("option_invalid", "`after` must be the last instance of the page before, or its { id }.");
}

/** What is made of each item of a list; one that cannot be made is told by its place, before anything is written. */
export function checkedItems<Item, Made>(items: readonly Item[], make: (item: Item) => Made): Made[] {
  return checkedList(items).map((item, index) => {
    try {
      return make(item);
    } catch (error) {
      throw itemInvalid(error, index);
    }
  });
}

/** Which schedule is meant: its value, or its name. */
export function scheduleName(given: AnySchedule | string): string {
  const name: unknown = typeof given === "string" ? given : (given as AnySchedule | null)?.name;
  return checkedText(name, "The name of a schedule");
}
