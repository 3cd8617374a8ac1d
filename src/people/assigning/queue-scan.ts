import type { OpenSlot, PastTries, ScannedRange, SlotPosition } from "../store/slots.ts";

/**
 * The scan position of a labeler in the order of a queue. Up to `low` no open slot was for the labeler; `lap` rescans
 * that part bit by bit, since slots can reopen. These are hints that save work: a queue is never reported as empty
 * without a full scan.
 */
export interface ScanPosition {
  readonly low: SlotPosition;
  readonly lap: SlotPosition | null;
}

/** Counts of open samples that are excluded for the labeler, by reason. */
export interface ExclusionCounts {
  /** The labeler labeled it, or has it assigned. */
  readonly done: number;
  readonly skipped: number;
  /** It was assigned to the labeler as often as the queue allows. */
  readonly tooOften: number;
}

/** A slot for a labeler, and how often the labeler had its sample. */
export interface FoundSlot {
  readonly slot: SlotPosition;
  readonly tries: number;
  readonly attempts: number;
}

/** A range of the queue to scan. */
export interface ScanRange {
  readonly after: SlotPosition | null;
  readonly upTo: SlotPosition | null;
  readonly most: number;
}

/** The number of excluded open slots after which the position is recorded. */
const worthAMark = 16;
const firstStride = 256;
const longestStride = 20_000;

/**
 * The scan of one labeler through the open slots of a queue. It first reads the front of the queue, a part of what
 * precedes the recorded position, and the slots after it. If that is not enough, it continues in ranges of growing
 * length: to the end of the queue, then through everything before the recorded position. Others run the reads; this
 * class decides what to read next.
 */
export class QueueScan {
  readonly labeler: string;
  readonly #mark: ScanPosition | undefined;
  #phase: "first" | "ahead" | "behind" | "over" = "first";
  #at: SlotPosition | null;
  #lap: SlotPosition | null;
  #tally: ExclusionCounts = { done: 0, skipped: 0, tooOften: 0 };
  #strides = 0;
  /** Up to this position no open slot is for the labeler: their number, and whether a fitting one was found. */
  #clear: SlotPosition | undefined;
  #cleared = 0;
  #met = false;
  #passed = 0;

  constructor(labeler: string, mark: ScanPosition | undefined) {
    this.labeler = labeler;
    this.#mark = mark;
    this.#at = mark?.low ?? null;
    this.#lap = mark?.lap ?? null;
  }

  get tally(): ExclusionCounts {
    return this.#tally;
  }

  /** The number of excluded open slots so far. */
  get passed(): number {
    return this.#passed;
  }

  /** The scan is complete: no open slot is for the labeler. */
  get isOver(): boolean {
    return this.#phase === "over";
  }

  /** The start positions of the first windows; null is the front. */
  windows(): (SlotPosition | null)[] {
    if (this.#mark === undefined) return [null];
    return this.#lap === null ? [this.#at, null] : [this.#at, null, this.#lap];
  }

  /**
   * The fitting slots of those windows, best first; each window has at most `most` slots, fewer only at the end of the
   * queue.
   */
  look(windows: readonly (readonly OpenSlot[])[], most: number): FoundSlot[] {
    const [next = [], front = [], lap = front] = windows;
    const low = this.#mark?.low;
    const found: FoundSlot[] = [];
    if (low !== undefined) {
      const behind = [...new Set([...front, ...lap])].filter((slot) => !isAfter(slot, low));
      found.push(...behind.flatMap((slot) => this.#mine(slot) ?? []));
      const isLapped = lap.length < most || isAfter(lap.at(-1)!, low);
      this.#lap = isLapped ? null : positionOf(lap.at(-1)!);
    }
    found.push(...this.#through(next));
    this.#goOn(next.length < most, next.at(-1));
    return found;
  }

  /** The next range to scan. */
  stride(): ScanRange {
    const most = Math.min(firstStride * 8 ** this.#strides, longestStride);
    return { after: this.#at, upTo: this.#phase === "behind" ? this.#mark!.low : null, most };
  }

  /** The fitting slots of a range, best first. */
  strode(strode: ScannedRange, most: number): FoundSlot[] {
    const { done, skipped, tooOften } = this.#tally;
    const tally = {
      done: done + strode.done,
      skipped: skipped + strode.skipped,
      tooOften: tooOften + strode.too_often,
    };
    this.#tally = tally;
    this.#strides += 1;
    const found = (strode.found ?? []).map((one) => ({ ...one, slot: positionOf(one) }));
    const last = strode.last ?? undefined;
    if (!this.#met && this.#phase === "ahead" && last !== undefined) {
      const [best] = found;
      this.#clear = best === undefined ? positionOf(last) : { ...best.slot, no: best.slot.no - 1 };
      this.#cleared += strode.scanned;
      this.#met = best !== undefined;
    }
    this.#passed += strode.scanned;
    this.#goOn(strode.scanned < most, last);
    return found;
  }

  /** The current scan position. */
  mark(): ScanPosition | undefined {
    const low = this.#mark?.low;
    if (this.#clear !== undefined && (low !== undefined || this.#cleared >= worthAMark)) {
      return { low: this.#clear, lap: this.#lap };
    }
    return low === undefined ? undefined : { low, lap: this.#lap };
  }

  #goOn(isEnd: boolean, last: { sample_id: string; no: number; rank: number } | undefined): void {
    this.#at = isEnd ? null : positionOf(last!);
    if (!isEnd) this.#phase = this.#phase === "behind" ? "behind" : "ahead";
    // Without a recorded position, the scan started at the front, so nothing precedes it.
    else this.#phase = this.#phase === "behind" || this.#mark === undefined ? "over" : "behind";
  }

  #through(window: readonly OpenSlot[]): FoundSlot[] {
    const found: FoundSlot[] = [];
    const counted = new Set<string>();
    for (const slot of window) {
      const mine = this.#mine(slot);
      if (mine !== undefined) {
        this.#met = true;
        found.push(mine);
        continue;
      }
      this.#passed += 1;
      if (!this.#met) {
        this.#clear = positionOf(slot);
        this.#cleared += 1;
      }
      if (!counted.has(slot.sample_id)) this.#count(triedBy(slot, this.labeler)!.barred!);
      counted.add(slot.sample_id);
    }
    return found;
  }

  #mine(slot: OpenSlot): FoundSlot | undefined {
    const mine = triedBy(slot, this.labeler);
    if (mine?.barred != null) return undefined;
    return { slot: positionOf(slot), tries: mine?.tries ?? 0, attempts: mine?.attempts ?? 0 };
  }

  #count(barred: NonNullable<PastTries["barred"]>): void {
    const { done, skipped, tooOften } = this.#tally;
    if (barred === "skipped") this.#tally = { done, skipped: skipped + 1, tooOften };
    else if (barred === "expired") this.#tally = { done, skipped, tooOften: tooOften + 1 };
    else this.#tally = { done: done + 1, skipped, tooOften };
  }
}

function triedBy(slot: OpenSlot, labeler: string): PastTries | undefined {
  return slot.tried?.find((one) => one.labeler === labeler);
}

function positionOf(slot: { readonly sample_id: string; readonly no: number; readonly rank: number }): SlotPosition {
  return { rank: slot.rank, sampleId: slot.sample_id, no: slot.no };
}

/** Whether a slot follows a position in the order of its queue. */
function isAfter(slot: OpenSlot, position: SlotPosition): boolean {
  if (slot.rank !== position.rank) return slot.rank > position.rank;
  if (slot.sample_id !== position.sampleId) return slot.sample_id > position.sampleId;
  return slot.no > position.no;
}
