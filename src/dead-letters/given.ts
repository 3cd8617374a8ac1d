import { type Duration, durationMs } from "../base/duration.ts";
import { messageOf, PawlError } from "../base/errors.ts";
import { isId } from "../base/ids.ts";
import { cleanText } from "../base/json.ts";
import { checkedText } from "../base/text.ts";
import type { RestoreWhich } from "./archive.ts";
import type { LetterFilter } from "./operations.ts";

/** Which open dead letters are meant: those of which all of this is true. Without anything else, say `all: true`. */
export interface DeadLetterFilter {
  readonly id?: string | readonly string[] | undefined;
  /** A lifecycle, or its name. */
  readonly lifecycle?: { readonly name: string } | string | undefined;
  readonly kind?: "instance" | "effect" | "message" | "broker" | undefined;
  /** The state in which an instance was given up, the event of an after-effect, the type of a message, a broker's queue. */
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
  /** So many letters a second at the most; as fast as it goes unless given. */
  readonly rate?: number | undefined;
}

export interface RequeueManyOptions extends DecideOptions {
  /** Let instances begin anew, instead of where they failed. */
  readonly restart?: boolean | undefined;
}

/** Which letters are to come back from an archive. */
export type RestoreFilter =
  | { readonly file: string | readonly string[] }
  | { readonly id: string | readonly string[] }
  | { readonly all: true };

const filterKeys = ["id", "lifecycle", "kind", "origin", "reason", "fingerprint", "from", "to", "all"];
const kinds: readonly unknown[] = ["instance", "effect", "message", "broker"];

/** The filter as statements take it; throws `option_invalid` when nobody can have meant it. */
export function filterOf(given: DeadLetterFilter): LetterFilter {
  const filter = checkedKeys(given, filterKeys, "filter of dead letters");
  const { id, lifecycle, kind, from, to, all, ...texts } = filter;
  const isEmpty = Object.entries(filter).every(([key, value]) => key === "all" || value === undefined);
  if (isEmpty !== (all === true)) {
    throw invalid(
      `Say which dead letters are meant, by ${filterKeys.slice(0, -1).join(", ")}, or all of them with { all: true }.`,
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

export function decideOptionsOf(given: RequeueManyOptions, decision: "requeue" | "discard") {
  const keys = ["actor", "reason", "rate", ...(decision === "requeue" ? ["restart"] : [])];
  const { actor, reason, rate, restart = false } = checkedKeys(given, keys, `options of ${decision}`);
  if (rate !== undefined && !(Number.isFinite(rate) && rate > 0 && rate <= 100_000)) {
    throw invalid("`rate` must be a number of letters a second, above 0.");
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
  const { file, id, all } = checkedKeys(given as Partial<Record<string, unknown>>, ["file", "id", "all"], "restore");
  if (Number(file !== undefined) + Number(id !== undefined) + Number(all === true) !== 1) {
    throw invalid("Say what is to be restored: { file }, { id } or { all: true }.");
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

export function limitOf(limit: unknown): number {
  if (Number.isInteger(limit) && (limit as number) >= 1 && (limit as number) <= 1_000) return limit as number;
  throw invalid("`limit` must be a whole number from 1 to 1,000.");
}

/** A misspelt key would silently mean more than was meant. */
export function checkedKeys<Given extends object>(given: Given, known: readonly string[], what: string): Given {
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    throw invalid(`The ${what} must be an object with any of ${known.join(", ")}.`);
  }
  const stray = Object.keys(given).find((key) => !known.includes(key));
  if (stray === undefined) return given;
  throw invalid(`The ${what} has no \`${cleanText(stray, 100)}\`; there are ${known.join(", ")}.`);
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

export function textOrNull(given: unknown, what: string): string | null {
  return given === undefined || given === null ? null : checkedText(given, what);
}

function invalid(message: string): PawlError {
  return new PawlError("option_invalid", message);
}
