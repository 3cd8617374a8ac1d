import { type Duration, durationMs } from "../base/duration.ts";
import { messageOf, PawlError } from "../base/errors.ts";
import { isId } from "../base/ids.ts";
import { cleanText } from "../base/json.ts";
import { checkedOptions, textOrNull } from "../base/options.ts";
import { checkedText } from "../base/text.ts";
import type { AnyLifecycle } from "../definition/language/public-types.ts";
import type { StartCallOptions } from "../kernel/types/call-options.ts";
import type { RestoreWhich } from "./archive.ts";
import type { LetterFilter } from "./letter-operations.ts";

/** Selects open dead letters that match all given fields. To select all, set `all: true`. */
export interface DeadLetterFilter {
  readonly id?: string | readonly string[] | undefined;
  /** A lifecycle, or its name. */
  readonly lifecycle?: { readonly name: string } | string | undefined;
  readonly kind?: "instance" | "effect" | "message" | "broker" | undefined;
  /** The state of a failed instance, the event of an after-effect, the type of a message, or a broker's queue. */
  readonly origin?: string | undefined;
  readonly reason?: string | undefined;
  /** Those of one group; see `groups`. */
  readonly fingerprint?: string | undefined;
  /** Written at this moment or later. */
  readonly from?: Date | undefined;
  /** Written before this moment. */
  readonly to?: Date | undefined;
  readonly all?: true | undefined;
}

export interface DecideOptions {
  readonly actor?: string | undefined;
  readonly reason?: string | undefined;
  /**
   * The maximum number of letters per second.
   * @default no limit
   */
  readonly rate?: number | undefined;
}

export interface RequeueManyOptions extends DecideOptions {
  /** Starts instances over, instead of where they failed. */
  readonly restart?: boolean | undefined;
}

/** The letters to restore from an archive. */
export type RestoreFilter =
  | { readonly file: string | readonly string[] }
  | { readonly id: string | readonly string[] }
  | { readonly all: true };

const filterKeys = ["id", "lifecycle", "kind", "origin", "reason", "fingerprint", "from", "to", "all"];
const kinds: readonly unknown[] = ["instance", "effect", "message", "broker"];

/** Converts the filter for statements; throws `option_invalid` for a filter that cannot be intended. */
export function filterOf(given: DeadLetterFilter): LetterFilter {
  const filter = checkedOptions(given, filterKeys, "deadLetters");
  const { id, lifecycle, kind, from, to, all, ...texts } = filter;
  const isEmpty = Object.entries(filter).every(([key, value]) => key === "all" || value === undefined);
  if (isEmpty !== (all === true)) {
    throw invalid(
      `Select the dead letters by ${filterKeys.slice(0, -1).join(", ")}, or all of them with { all: true }.`,
    );
  }
  if (kind !== undefined && !kinds.includes(kind)) throw invalid("`kind` must be instance, effect, message or broker.");
  return {
    ids: id === undefined ? null : idsOf(id),
    lifecycle: textOrNull(typeof lifecycle === "object" ? lifecycle?.name : lifecycle, "`lifecycle`"),
    kind: kind ?? null,
    origin: textOrNull(texts.origin, "`origin`"),
    reason: textOrNull(texts.reason, "`reason`"),
    fingerprint: textOrNull(texts.fingerprint, "`fingerprint`"),
    fromMs: momentOf(from, "from"),
    toMs: momentOf(to, "to"),
  };
}

/** The same as a person reads it later. */
export function filterTextOf({ id, lifecycle, ...rest }: DeadLetterFilter): string {
  const ids = id === undefined ? [] : [id].flat();
  return JSON.stringify({
    ...rest,
    ...(lifecycle !== undefined && { lifecycle: typeof lifecycle === "object" ? lifecycle.name : lifecycle }),
    ...(ids.length > 0 && (ids.length > 20 ? { ids: ids.length } : { id: ids })),
  });
}

/** Selects the dead letters to list. */
export interface DeadLettersOptions {
  /** Those of one lifecycle; of all by default. */
  readonly lifecycle?: AnyLifecycle | undefined;
  /**
   * The status of the letters.
   * @default "open"
   */
  readonly status?: "open" | "requeued" | "discarded" | "archived";
  /** Of those that are open, those of one group; see `pawl.deadLetters.groups`. */
  readonly fingerprint?: string;
  /**
   * The size of a page, at most 1,000.
   * @default 100
   */
  readonly limit?: number;
  /** Continues after the last item of the page before. */
  readonly after?: { readonly id: string };
}

export interface RequeueOptions extends StartCallOptions {
  /** Keys of the data to change first; one set to undefined is removed. */
  readonly data?: Readonly<Record<string, unknown>>;
  /** Starts the instance over, instead of where it failed. */
  readonly restart?: boolean;
}

export function decideOptionsOf(given: RequeueManyOptions, decision: "requeue" | "discard") {
  const keys = ["actor", "reason", "rate", ...(decision === "requeue" ? ["restart"] : [])];
  const { actor, reason, rate, restart = false } = checkedOptions(given, keys, `deadLetters.${decision}Many`);
  if (rate !== undefined && !(Number.isFinite(rate) && rate > 0 && rate <= 100_000)) {
    throw invalid("`rate` must be a number of dead letters per second, above 0.");
  }
  if (typeof restart !== "boolean") throw invalid("`restart` must be true or false.");
  return {
    actor: textOrNull(actor, "The actor"),
    reason: textOrNull(reason, "The reason"),
    perSecond: rate ?? null,
    restart,
  };
}

export function restoreOf(given: RestoreFilter): RestoreWhich {
  const { file, id, all } = checkedOptions(
    given as Partial<Record<string, unknown>>,
    ["file", "id", "all"],
    "deadLetters.restore",
  );
  if (Number(file !== undefined) + Number(id !== undefined) + Number(all === true) !== 1) {
    throw invalid("Select what to restore: { file }, { id } or { all: true }.");
  }
  if (id !== undefined) return { ids: idsOf(id) };
  if (file !== undefined) return { files: [file].flat().map((one) => checkedText(one, "`file`")) };
  return { all: true };
}

export function idOf(given: unknown, what: string): string {
  const id = typeof given === "string" ? given.toLowerCase() : given;
  if (isId(id)) return id;
  throw invalid(`"${cleanText(messageOf(given), 100)}" is not the id of ${what}.`);
}

export function ageOf(given: Duration): number {
  return durationMs(given, "olderThan");
}

function idsOf(given: unknown): string[] {
  const ids = [given].flat().map((one) => idOf(one, "a dead letter"));
  if (ids.length > 0 && ids.length <= 10_000) return ids;
  throw invalid("`id` must be one id, or a list of up to 10,000.");
}

function momentOf(given: unknown, name: string): number | null {
  if (given === undefined) return null;
  const ms = given instanceof Date ? given.getTime() : Number.NaN;
  if (ms >= 0 && ms < Date.UTC(10_000, 0)) return ms;
  throw invalid(`\`${name}\` must be a valid Date.`);
}

function invalid(message: string): PawlError {
  return new PawlError("option_invalid", message);
}
