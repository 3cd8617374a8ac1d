import { part } from "../port/db.ts";
import type { JournalRow } from "./journal.ts";

/** The last move of an instance, as its journal records it, without what the instance's own row has. */
export interface LastMove {
  readonly event: string | null;
  readonly source: JournalRow["source"];
  readonly actor: string | null;
  readonly reason: string | null;
  readonly payloadText: string | null;
  readonly patchText: string | null;
  readonly cleared: readonly string[] | null;
  readonly requestId: string | null;
  readonly messages: number | null;
}

/** The work of the state that an instance enters. */
export interface NextStep {
  readonly lane: string;
  readonly priority: number;
  /** When it is to run: so long after the moment of writing, or at a moment; both null: at once. */
  readonly afterMs: number | null;
  readonly atMs: number | null;
  /** Leased at birth to the worker that made the move: it stays with the instance, and saves a claim. */
  readonly grant: Grant | null;
  /** The key by which it takes its turn and is counted, and its weight; undefined in lanes without keys. */
  readonly key?: { readonly key: string; readonly weight: number } | undefined;
}

/** A lease that is given with the task. */
export interface Grant {
  readonly worker: string;
  readonly leaseMs: number;
  readonly token: number;
}

/** The written ids, in one row: lists of a few hundred short rows cost time on both sides. */
export interface Answer {
  readonly many: number;
  readonly now_ms: number;
  /** An array of those written, in their order; null when all were. */
  readonly ids: string | null;
  /** Whether first steps were leased as asked; false where one of their lanes is paused. */
  readonly leased?: boolean;
}

/** Which of these rows were written. */
export function writtenOf(rows: readonly { readonly id: string }[], answer: Answer): Written[] {
  if (answer.many === 0) return [];
  const ids = answer.ids === null ? rows.map((row) => row.id) : answer.ids.slice(1, -1).split(",");
  const { now_ms, leased } = answer;
  return ids.map((id) => ({ id, now_ms, leased }));
}

/** An instance that was written, and when. */
export interface Written {
  readonly id: string;
  readonly now_ms: number;
  /** Whether the lease that was asked for its first step was given. */
  readonly leased?: boolean | undefined;
}

/** The time of a commit, the same for everything that it writes. */
export const clock = part`clock as materialized (select pawl.now() as now),`;
