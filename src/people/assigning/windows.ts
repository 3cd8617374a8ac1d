import type { Executor } from "../../store/port/db.ts";
import { type OpenSlot, readOpenSlots, type SlotPosition } from "../store/slots.ts";
import type { QueueScan } from "./queue-scan.ts";

interface Scanner {
  readonly asking: { readonly queue: string };
  readonly walk: QueueScan;
}

/** The windows that a scan requested, in the order of the request. */
export type Windows = (walker: Scanner) => readonly (readonly OpenSlot[])[];

/** Reads the windows of all scans in one statement; equal windows are read once. */
export async function readWindows(db: Executor, walkers: readonly Scanner[], most: number): Promise<Windows> {
  const places = new Map<string, number>();
  const asked: { queue: string; after: SlotPosition | null }[] = [];
  const wanted = new Map<Scanner, number[]>();
  for (const walker of walkers) {
    const numbers = walker.walk.windows().map((after) => {
      const name = `${walker.asking.queue} ${after?.rank} ${after?.sampleId} ${after?.no}`;
      const known = places.get(name) ?? asked.push({ queue: walker.asking.queue, after }) - 1;
      places.set(name, known);
      return known;
    });
    wanted.set(walker, numbers);
  }
  const windows: OpenSlot[][] = asked.map(() => []);
  for (const slot of await readOpenSlots(db, asked, most)) windows[slot.window]!.push(slot);
  return (walker) => wanted.get(walker)!.map((number) => windows[number]!);
}
