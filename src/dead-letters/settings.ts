import { type Duration, durationMs } from "../base/duration.ts";
import { PawlError } from "../base/errors.ts";
import { checkedOptions, optionNames } from "../base/options.ts";
import type { DeadLetterSource } from "../outbox/broker.ts";
import type { DeadLetterArchive } from "./archive.ts";
import type { Ticket } from "./results.ts";
import type { RetentionOptions } from "./retention.ts";

/** How dead letters are collected, kept and archived. */
export interface DeadLetterOptions {
  /** Dead-letter queues of brokers, whose messages become dead letters: `deadLetterQueue({ url, queue })`. */
  readonly queues?: readonly DeadLetterSource[];
  /** The archive for old dead letters: `folderArchive(…)`, `s3Archive(…)`. Without one they are kept. */
  readonly archive?: DeadLetterArchive | undefined;
  /**
   * The age at which they are archived; `null` for never.
   * @default "7d"
   */
  readonly retention?: Duration | null;
  /**
   * How many are kept; the oldest are archived first; `null` for any number.
   * @default 10,000
   */
  readonly maxRetained?: number | null;
  /**
   * More dead letters than this on one day (UTC) raise an alert, once a day; `null` for never.
   * @default 100
   */
  readonly alertOver?: number | null;
  /** Called for every ticket, at least once, until a call succeeds. Use it to create tickets in your own system. */
  readonly onTicket?: ((ticket: Ticket) => unknown) | undefined;
}

export interface LetterSettings extends RetentionOptions {
  readonly queues: readonly DeadLetterSource[];
  readonly onTicket: DeadLetterOptions["onTicket"];
}

const known = optionNames<DeadLetterOptions>({
  queues: true,
  archive: true,
  retention: true,
  maxRetained: true,
  alertOver: true,
  onTicket: true,
});

export function letterSettings(given: DeadLetterOptions = {}): LetterSettings {
  checkedOptions(given, known, "deadLetters");
  const { archive, retention: keep = "7d", maxRetained = 10_000, alertOver = 100, onTicket } = given;
  if (onTicket !== undefined && typeof onTicket !== "function")
    throw invalid("`deadLetters.onTicket` must be a function.");
  return {
    queues: checkedQueues(given.queues ?? []),
    archive: checkedArchive(archive),
    retentionMs: keep === null ? null : durationMs(keep, "deadLetters.retention"),
    maxRetained: wholeOrNull(maxRetained, "maxRetained"),
    alertOver: wholeOrNull(alertOver, "alertOver"),
    onTicket,
  };
}

function checkedQueues(given: readonly DeadLetterSource[]): readonly DeadLetterSource[] {
  if (!Array.isArray(given) || !given.every((one: Partial<DeadLetterSource> | null) => typeof one?.open === "function"))
    throw invalid("`deadLetters.queues` must list return values of deadLetterQueue().");
  return given;
}

function checkedArchive(given: DeadLetterArchive | undefined): DeadLetterArchive | undefined {
  const methods = ["write", "read", "list"] as const;
  if (given === undefined || methods.every((name) => typeof given?.[name] === "function")) return given;
  throw invalid("`deadLetters.archive` must be the return value of folderArchive() or s3Archive().");
}

function wholeOrNull(given: number | null, name: string): number | null {
  if (given === null || (Number.isInteger(given) && given >= 0 && given <= 10_000_000)) return given;
  throw invalid(`\`deadLetters.${name}\` must be a whole number from 0 to 10,000,000, or null.`);
}

function invalid(message: string): PawlError {
  return new PawlError("option_invalid", message);
}
