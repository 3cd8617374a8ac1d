import type { AttemptResponse, JournalResponse, MoveResponse } from "../../../../src/http/contract.ts";

/** One stay in a state: how it was entered, and all that happened until it was left. */
export interface Visit {
  readonly state: string;
  readonly from: string;
  /** Null for the current state. */
  readonly to: string | null;
  /** The newest first. */
  readonly entries: readonly Entry[];
}

/** An entry, and for a move its changes. */
export interface Entry {
  readonly said: JournalResponse;
  readonly changes: readonly Change[];
}

export interface Change {
  readonly key: string;
  readonly before: unknown;
  readonly after: unknown;
}

export type Shown = "all" | "moves" | "attempts" | "failures";

/**
 * A journal by visits, newest first. A move that stays in a state, or enters it again, belongs to the current visit.
 */
export function visitsOf(journal: readonly JournalResponse[]): Visit[] {
  const visits: { state: string; from: string; to: string | null; entries: Entry[] }[] = [];
  let data: Readonly<Record<string, unknown>> = {};
  for (const said of journal) {
    const current = visits.at(-1);
    if (said.kind === "attempt") {
      current?.entries.unshift({ said, changes: [] });
      continue;
    }
    const changes = changesOf(data, said);
    data = changedBy(data, said);
    if (current !== undefined && current.state === said.to) {
      current.entries.unshift({ said, changes });
      continue;
    }
    if (current !== undefined) current.to = said.at;
    visits.push({ state: said.to, from: said.at, to: null, entries: [{ said, changes }] });
  }
  return visits.reverse();
}

function changedBy(data: Readonly<Record<string, unknown>>, { patch, cleared }: MoveResponse): Record<string, unknown> {
  const kept = Object.entries(data).filter(([key]) => !(cleared ?? []).includes(key));
  return { ...Object.fromEntries(kept), ...patch };
}

function changesOf(data: Readonly<Record<string, unknown>>, { patch, cleared }: MoveResponse): Change[] {
  const set = Object.entries(patch ?? {}).map(([key, after]) => ({ key, before: data[key], after }));
  const gone = (cleared ?? []).map((key) => ({ key, before: data[key], after: undefined }));
  return [...set, ...gone];
}

/** The visits with only the entries that match; those without any are left out. */
export function only(visits: readonly Visit[], shown: Shown): Visit[] {
  const fits = ({ said }: Entry) =>
    shown === "all" ||
    (shown === "moves" && said.kind === "move") ||
    (shown === "attempts" && said.kind === "attempt") ||
    (shown === "failures" && isFailure(said));
  return visits
    .map((visit) => ({ ...visit, entries: visit.entries.filter(fits) }))
    .filter(({ entries }) => entries.length > 0);
}

export function isFailure(said: JournalResponse): boolean {
  return said.kind === "move" ? said.event === "fail" || said.to === "failed" : failures.has(said.what);
}

/** How an attempt fails. */
export const failures = new Set<AttemptResponse["what"]>(["failed", "lapsed", "refused"]);

/** Which states were walked through, and over which arrows. */
export function pathOf(journal: readonly JournalResponse[], at: string) {
  const moves = journal.filter((said) => said.kind === "move");
  return {
    states: new Set(moves.map(({ to }) => to)),
    ways: new Set(moves.map(({ from, to }) => `${from ?? ""} ${to}`)),
    at,
  };
}

/** The error of an attempt or a failing move, if there is one. */
export function errorIn(carried: unknown): { name: string; message: string; stack?: string } | undefined {
  const error = (carried as { error?: { name?: unknown; message?: unknown; stack?: unknown } } | null)?.error;
  if (typeof error?.message !== "string") return undefined;
  const { name, message, stack } = error;
  return { name: String(name ?? "Error"), message, ...(typeof stack === "string" ? { stack } : {}) };
}
