import type { OpenSlot, SlotPosition, Strode, Tried } from "../store/slots.ts";

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
  readonly done: number;
  readonly skipped: number;
  /** He was given it as often as his queue allows. */
  readonly tooOften: number;
}

/** A slot that was found for a labeler, and how often he has been at its sample. */
export interface Found {
  readonly slot: SlotPosition;
  readonly tries: number;
  readonly attempts: number;
}

/** A stretch of the queue to be gone through. */
export interface Stride {
  readonly after: SlotPosition | null;
  readonly upTo: SlotPosition | null;
  readonly most: number;
}

/** How many open slots that are not for him a labeler passes before it is worth a mark. */
const worthAMark = 16;
const firstStride = 256;
const longestStride = 20_000;

/**
 * One labeler's way through the open slots of a queue. At first he looks at the front, where what is wanted most lies, at
 * a bit of what lies behind his mark, and on from there. Where that is not enough he goes on in strides, each longer than
 * the one before: ahead to the end of the queue, then through all that lies behind the mark. What he looks at is read by
 * others; a walk says what it wants next.
 */
export class Walk {
  readonly labeler: string;
  readonly #mark: Mark | undefined;
  #phase: "first" | "ahead" | "behind" | "over" = "first";
  #at: SlotPosition | null;
  #lap: SlotPosition | null;
  #tally: Tally = { done: 0, skipped: 0, tooOften: 0 };
  #strides = 0;
  /** Up to here nothing is for him; how many open slots that is, and whether something was met that is. */
  #clear: SlotPosition | undefined;
  #cleared = 0;
  #met = false;
  #passed = 0;

  constructor(labeler: string, mark: Mark | undefined) {
    this.labeler = labeler;
    this.#mark = mark;
    this.#at = mark?.low ?? null;
    this.#lap = mark?.lap ?? null;
  }

  get tally(): Tally {
    return this.#tally;
  }

  /** How many open slots that are not for him he has passed. */
  get passed(): number {
    return this.#passed;
  }

  /** Everything that is open was looked at, and nothing is for him. */
  get isOver(): boolean {
    return this.#phase === "over";
  }

  /** Where the windows begin at which he looks first; null is the front. */
  windows(): (SlotPosition | null)[] {
    if (this.#mark === undefined) return [null];
    return this.#lap === null ? [this.#at, null] : [this.#at, null, this.#lap];
  }

  /** What is for him in those windows, best first; each holds at most `most` slots, and fewer at the end of the queue. */
  look(windows: readonly (readonly OpenSlot[])[], most: number): Found[] {
    const [next = [], front = [], lap = front] = windows;
    const low = this.#mark?.low;
    const found: Found[] = [];
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

  /** What he is to go through next. */
  stride(): Stride {
    const most = Math.min(firstStride * 8 ** this.#strides, longestStride);
    return { after: this.#at, upTo: this.#phase === "behind" ? this.#mark!.low : null, most };
  }

  /** What was for him in a stride, best first. */
  strode(strode: Strode, most: number): Found[] {
    const { done, skipped, tooOften } = this.#tally;
    const told = { done: done + strode.done, skipped: skipped + strode.skipped, tooOften: tooOften + strode.too_often };
    this.#tally = told;
    this.#strides += 1;
    const found = (strode.found ?? []).map((one) => ({ ...one, slot: positionOf(one) }));
    const last = strode.last ?? undefined;
    if (!this.#met && this.#phase === "ahead" && last !== undefined) {
      const [best] = found;
      this.#clear = best === undefined ? positionOf(last) : { ...best.slot, no: best.slot.no - 1 };
      this.#cleared += strode.looked;
      this.#met = best !== undefined;
    }
    this.#passed += strode.looked;
    this.#goOn(strode.looked < most, last);
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

  #goOn(isEnd: boolean, last: { sample_id: string; no: number; rank: number } | undefined): void {
    this.#at = isEnd ? null : positionOf(last!);
    if (!isEnd) this.#phase = this.#phase === "behind" ? "behind" : "ahead";
    // Without a mark the way began at the front: then nothing lies behind.
    else this.#phase = this.#phase === "behind" || this.#mark === undefined ? "over" : "behind";
  }

  #through(window: readonly OpenSlot[]): Found[] {
    const found: Found[] = [];
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

  #mine(slot: OpenSlot): Found | undefined {
    const mine = triedBy(slot, this.labeler);
    if (mine?.barred != null) return undefined;
    return { slot: positionOf(slot), tries: mine?.tries ?? 0, attempts: mine?.attempts ?? 0 };
  }

  #count(barred: NonNullable<Tried["barred"]>): void {
    const { done, skipped, tooOften } = this.#tally;
    if (barred === "skipped") this.#tally = { done, skipped: skipped + 1, tooOften };
    else if (barred === "expired") this.#tally = { done, skipped, tooOften: tooOften + 1 };
    else this.#tally = { done: done + 1, skipped, tooOften };
  }
}

function triedBy(slot: OpenSlot, labeler: string): Tried | undefined {
  return slot.tried?.find((one) => one.labeler === labeler);
}

function positionOf(slot: { readonly sample_id: string; readonly no: number; readonly rank: number }): SlotPosition {
  return { rank: slot.rank, sampleId: slot.sample_id, no: slot.no };
}

/** Whether a slot comes after a position in the order of its queue. */
function isAfter(slot: OpenSlot, position: SlotPosition): boolean {
  if (slot.rank !== position.rank) return slot.rank > position.rank;
  if (slot.sample_id !== position.sampleId) return slot.sample_id > position.sampleId;
  return slot.no > position.no;
}
