import type { ChildStart, PlannedStart } from "../types/start.ts";

/** The name of a child with a key, among its siblings. */
export function nameOfKey(key: string): string {
  return `=${key}`;
}

/**
 * The child as it is written. Without a key it is named by the move that starts it: that move is made once, so a
 * retried step does not start it twice.
 */
export function named({ planned, place }: ChildStart, move: string): PlannedStart {
  const { row } = planned;
  if (row.key !== null || row.parent === null) return planned;
  return { ...planned, row: { ...row, parent: { ...row.parent, name: `${move}.${place}` } } };
}
