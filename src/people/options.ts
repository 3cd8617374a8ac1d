import { PawlError } from "../base/errors.ts";
import { isId } from "../base/ids.ts";
import { cleanText, storableText } from "../base/json.ts";
import { checkedLimit, checkedOptions, textOrNull } from "../base/options.ts";
import { checkedText } from "../base/text.ts";
import type { AnyQueue } from "../definition/queue.ts";
import type { Attribution } from "./assignments.ts";
import type { LeadReview } from "./review/review.ts";

/** A queue, or its name. */
export type QueueRef = AnyQueue | string;

/** Names a sample: by its id, or by its key within its queue. */
export type SampleRef = string | { readonly queue: QueueRef; readonly key: string };

export interface PeopleCallOptions {
  /** A repeated call with the same key and content returns the first result and changes nothing. */
  readonly idempotencyKey?: string;
}

/** The actor of a decision, and the reason. */
export interface LeadOptions {
  readonly actor: string;
  readonly reason?: string;
}

export interface ReviewOptions {
  /** The lead, who must not be the labeler. */
  readonly actor: string;
  readonly comment?: string;
}

export interface AddOptions {
  /** Your own transaction: the samples exist once you commit it. */
  readonly tx?: unknown;
  readonly actor?: string;
  readonly reason?: string;
}

export interface PageOptions {
  /** The maximum number of items, up to 1,000. Defaults to 100. */
  readonly limit?: number;
  /** The last item of the previous page. */
  readonly after?: { readonly id: string };
}

/** The labeler and the time span of metrics, in whole hours. */
export interface MetricsOptions {
  readonly labeler?: string;
  readonly from?: Date;
  readonly to?: Date;
}

export function momentOf(given: unknown): number | null {
  if (given === undefined || given === null) return null;
  const ms = given instanceof Date ? given.getTime() : Number.NaN;
  if (Number.isNaN(ms)) throw new PawlError("option_invalid", "`from`, `to` and `since` must be valid Dates.");
  return ms;
}

export function queueNameOf(queue: unknown): string {
  const name = typeof queue === "string" ? queue : (queue as { name?: unknown } | null | undefined)?.name;
  if (typeof name === "string" && name !== "") return cleanText(name, 200);
  throw new PawlError("option_invalid", "Name the queue: pass the return value of queue(), or its name.");
}

export function labelerOf(given: unknown): string {
  return checkedText(given, "The labeler");
}

export function attributionOf(actor: unknown, options: { reason?: string; idempotencyKey?: string } = {}): Attribution {
  const { reason, idempotencyKey } = options;
  return {
    actor: checkedText(actor, "The labeler"),
    reason: textOrNull(reason, "The reason"),
    idempotencyKey: idempotencyKey === undefined ? undefined : checkedText(idempotencyKey, "The idempotency key"),
  };
}

const longestComment = 5_000;

export function leadReviewOf(options: ReviewOptions | undefined, call: string): LeadReview {
  const { actor, comment } = checkedOptions<Partial<ReviewOptions>>(options, ["actor", "comment"], call);
  if (comment === undefined || comment === null) return { actor: checkedText(actor, "The actor"), comment: null };
  if (typeof comment !== "string" || comment.length > longestComment) {
    throw new PawlError("option_invalid", `A comment must be a string of at most ${longestComment} characters.`);
  }
  storableText(comment, "The comment");
  return { actor: checkedText(actor, "The actor"), comment };
}

/** The start of a page, newest first unless the list has another order, and its length. */
export function pageOf(options: PageOptions): { beforeId: string | null; limit: number } {
  const { limit = 100, after } = options;
  checkedLimit(limit);
  if (after === undefined) return { beforeId: null, limit };
  const id = after?.id?.toLowerCase();
  if (!isId(id))
    throw new PawlError("option_invalid", "`after` must be the last item of the previous page, or its { id }.");
  return { beforeId: id, limit };
}

/** Validates a value of an enumeration; null if it is not set. */
export function oneOf<Word extends string>(given: Word | undefined, words: readonly Word[], what: string): Word | null {
  if (given === undefined) return null;
  if (words.includes(given)) return given;
  throw new PawlError("option_invalid", `\`${what}\` must be one of ${words.join(", ")}.`);
}
