import type { OpenSlot, SlotPosition, Tried } from "../store/slots.ts";

/**
 * How far a labeler has come in the order of a queue. Up to `low` he has been through everything, so what is open there
 * is not for him; `lap` goes over it again bit by bit, since slots do open again. Hints only: they save looking, and
 * nothing is said to be empty that was not looked at from end to end.
 */
export interface Mark {
  readonly low: SlotPosition;
  readonly lap: SlotPosition | null;
}

/** What stands in a labeler's way, in samples that could be had by somebody else. */
export interface Tally {
  /** He has labeled it, or has it in hand. */
  done: number;
  skipped: number;
  /** He was given it as often as his queue allows. */
  tooOften: number;
}

/** A slot that was found for a labeler, and how often he has been at its sample. */
export interface Found {
  readonly slot: OpenSlot;
  readonly tries: number;
  readonly attempts: number;
}

/** How many open slots that are not for him a labeler passes before it is worth a mark. */
const worthAMark = 16;

/**
 * One labeler's way through the open slots of a queue, window by window. At first he looks at the front, where what is
 * wanted most lies, at a bit of what lies behind his mark, and on from there. At the end of the queue he goes through all
 * that lies behind the mark. The windows are read by others; a walk says which it wants next.
 */
export class Walk {
  readonly labeler: string;
  readonly tally: Tally = { done: 0, skipped: 0, tooOften: 0 };
  readonly #mark: Mark | undefined;
  #phase: "first" | "ahead" | "behind" | "over" = "first";
  #at: SlotPosition | null;
  #lap: SlotPosition | null;
  /** Up to here nothing is for him; how many open slots that is, and whether something was met that is. */
  #clear: SlotPosition | undefined;
  #cleared = 0;
  #met = false;
  #passed = 0;
  readonly #counted = new Set<string>();

  constructor(labeler: string, mark: Mark | undefined) {
    this.labeler = labeler;
    this.#mark = mark;
    this.#at = mark?.low ?? null;
    this.#lap = mark?.lap ?? null;
  }

  /** How many open slots that are not for him he has passed. */
  get passed(): number {
    return this.#passed;
  }

  /** Everything that is open was looked at, and nothing is for him. */
  get isOver(): boolean {
    return this.#phase === "over";
  }

  /** Where the windows that he wants to look at begin; null is the front. */
  windows(): (SlotPosition | null)[] {
    if (this.#phase !== "first" || this.#mark === undefined) return [this.#at];
    return this.#lap === null ? [this.#at, null] : [this.#at, null, this.#lap];
  }

  /** What is for him in those windows, best first; each holds at most `most` slots, and is the last one if it holds fewer. */
  look(windows: readonly (readonly OpenSlot[])[], most: number): Found[] {
    const [next = [], front = [], lap = front] = windows;
    const low = this.#mark?.low;
    if (this.#phase === "behind") {
      const behind = next.filter((slot) => !isAfter(slot, low!));
      const found = this.#lookAt(behind);
      const isEnd = behind.length < most;
      this.#phase = isEnd ? "over" : "behind";
      this.#at = isEnd ? null : positionOf(behind.at(-1)!);
      return found;
    }
    const found: Found[] = [];
    if (low !== undefined && this.#phase === "first") {
      for (const slot of new Set([...front, ...lap])) if (!isAfter(slot, low)) found.push(...this.#peek(slot));
      const isLapped = lap.length < most || isAfter(lap.at(-1)!, low);
      this.#lap = isLapped ? null : positionOf(lap.at(-1)!);
    }
    found.push(...this.#lookAt(next));
    const isEnd = next.length < most;
    // Without a mark the way began at the front: then nothing lies behind.
    this.#phase = isEnd ? (low === undefined ? "over" : "behind") : "ahead";
    this.#at = isEnd ? null : positionOf(next.at(-1)!);
    return found;
  }

  /** How far he has come by now. */
  mark(): Mark | undefined {
    const low = this.#mark?.low;
    if (this.#clear !== undefined && (low !== undefined || this.#cleared >= worthAMark)) {
      return { low: this.#clear, lap: this.#lap };
    }
    return low === undefined ? undefined : { low, lap: this.#lap };
  }

  #lookAt(window: readonly OpenSlot[]): Found[] {
    const found: Found[] = [];
    for (const slot of window) {
      const mine = triedBy(slot, this.labeler);
      if (mine?.barred == null) {
        this.#met = true;
        found.push(foundIn(slot, mine));
        continue;
      }
      this.#passed += 1;
      if (!this.#met && this.#phase !== "behind") {
        this.#clear = positionOf(slot);
        this.#cleared += 1;
      }
      if (!this.#counted.has(slot.sample_id)) this.#count(mine.barred);
      this.#counted.add(slot.sample_id);
    }
    return found;
  }

  #peek(slot: OpenSlot): Found[] {
    const mine = triedBy(slot, this.labeler);
    return mine?.barred == null ? [foundIn(slot, mine)] : [];
  }

  #count(barred: NonNullable<Tried["barred"]>): void {
    if (barred === "skipped") this.tally.skipped += 1;
    else if (barred === "expired") this.tally.tooOften += 1;
    else this.tally.done += 1;
  }
}

function triedBy(slot: OpenSlot, labeler: string): Tried | undefined {
  return slot.tried?.find((one) => one.labeler === labeler);
}

function foundIn(slot: OpenSlot, mine: Tried | undefined): Found {
  return { slot, tries: mine?.tries ?? 0, attempts: mine?.attempts ?? 0 };
}

function positionOf(slot: OpenSlot): SlotPosition {
  return { rank: slot.rank, sampleId: slot.sample_id, no: slot.no };
}

/** Whether a slot comes after a position in the order of its queue. */
function isAfter(slot: OpenSlot, position: SlotPosition): boolean {
  if (slot.rank !== position.rank) return slot.rank > position.rank;
  if (slot.sample_id !== position.sampleId) return slot.sample_id > position.sampleId;
  return slot.no > position.no;
}
