import type { Query } from "../../api.ts";

/** A filter of open dead letters, as the API expects it. */
export interface LetterFilter {
  readonly lifecycle?: string | undefined;
  readonly kind?: string | undefined;
  readonly fingerprint?: string | undefined;
  readonly from?: string | undefined;
  readonly id?: readonly string[] | undefined;
}

export const kinds = [
  ["", "any"],
  ["instance", "instances"],
  ["effect", "after-effects"],
  ["message", "messages"],
  ["broker", "broker"],
] as const;

export const spans = [
  ["", "any time"],
  ["1", "the last hour"],
  ["24", "the last day"],
  ["168", "the last 7 days"],
] as const;

/** The filter in the URL; a span counts back from now. */
export function letterFilterOf(filters: URLSearchParams, now: number): LetterFilter {
  const hours = Number(filters.get("hours"));
  return {
    lifecycle: filters.get("lifecycle") ?? undefined,
    kind: filters.get("kind") ?? undefined,
    from: hours > 0 ? new Date(now - hours * 3_600_000).toISOString() : undefined,
  };
}

/** As a query: no filter means all letters. */
export function filterQuery(which: LetterFilter): Query {
  const said = Object.fromEntries(Object.entries(which).filter(([, value]) => value !== undefined));
  return Object.keys(said).length === 0 ? { all: true } : said;
}

/** In words, such as `of parcel, since 2026-01-31 12:00`. */
export function inWords(which: Readonly<Record<string, unknown>>): string {
  const { lifecycle, kind, origin, reason, fingerprint, from, to, id, ids } = which;
  const said = [
    lifecycle === undefined ? "" : `of ${say(lifecycle)}`,
    kind === undefined ? "" : `about ${kinds.find(([one]) => one === kind)?.[1] ?? say(kind)}`,
    origin === undefined ? "" : `failed in ${say(origin)}`,
    reason === undefined ? "" : `because of ${say(reason)}`,
    fingerprint === undefined ? "" : `of the group ${say(fingerprint).slice(0, 8)}`,
    from === undefined ? "" : `since ${moment(from)}`,
    to === undefined ? "" : `until ${moment(to)}`,
    id === undefined ? "" : `${[id].flat().length} selected`,
    ids === undefined ? "" : `${say(ids)} selected`,
  ].filter((part) => part !== "");
  return said.length === 0 ? "all" : said.join(", ");
}

function say(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function moment(value: unknown): string {
  return say(value).slice(0, 16).replace("T", " ");
}

/** The changes to the data, key by key, for a requeue: omitted keys stay unchanged, so a key cannot be removed here. */
export function changesIn(
  before: Readonly<Record<string, unknown>>,
  after: unknown,
): Readonly<Record<string, unknown>> | undefined {
  if (typeof after !== "object" || after === null || Array.isArray(after))
    throw new Error("The data must be a JSON object.");
  const gone = Object.keys(before).find((key) => !(key in after));
  if (gone !== undefined) throw new Error(`"${gone}" cannot be removed here. Set it to another value.`);
  const changed = Object.entries(after).filter(([key, value]) => JSON.stringify(value) !== JSON.stringify(before[key]));
  return changed.length === 0 ? undefined : Object.fromEntries(changed);
}
