import type { ChildStart, PlannedStart } from "../types/start.ts";

/** What a child with a key is called among its siblings. */
export function nameOfKey(key: string): string {
  return `=${key}`;
}

/**
 * The child as it is written. Without a key it is named by the move that starts it: that move is made once, so that a
 * step that is tried again does not start it twice.
 */
export function named({ planned, place }: ChildStart, move: string): PlannedStart {
  const { row } = planned;
  if (row.key !== null || row.parent === null) return planned;
  return { ...planned, row: { ...row, parent: { ...row.parent, name: `${move}.${place}` } } };
}
