import { describe, expect, test } from "vitest";
import type { OpenSlot, ScannedRange, SlotPosition } from "../store/slots.ts";
import { QueueScan, type ScanPosition, type ScanRange } from "./queue-scan.ts";

/** Open slots of a queue in their order, each with those who have done its sample. */
class Queue {
  readonly slots: OpenSlot[] = [];
  read = 0;

  add(count: number, doneBy: readonly string[] = [], rank = 0): void {
    for (let n = 0; n < count; n++) {
      const id = String(this.slots.length + 1).padStart(6, "0");
      const tried = doneBy.map((labeler) => ({ labeler, tries: 1, attempts: 1, barred: "completed" as const }));
      this.slots.push({ window: 0, sample_id: id, no: 1, rank, tried });
    }
  }

  #after(position: SlotPosition | null): OpenSlot[] {
    return this.slots.filter(
      (slot) =>
        position === null ||
        slot.rank > position.rank ||
        (slot.rank === position.rank && slot.sample_id > position.sampleId) ||
        (slot.rank === position.rank && slot.sample_id === position.sampleId && slot.no > position.no),
    );
  }

  #stride(labeler: string, { after, upTo, most }: ScanRange): ScannedRange {
    const beyond = upTo === null ? new Set<OpenSlot>() : new Set(this.#after(upTo));
    const some = this.#after(after)
      .filter((slot) => !beyond.has(slot))
      .slice(0, most);
    const free = some.filter((slot) => !slot.tried?.some((one) => one.labeler === labeler));
    this.read += some.length;
    return {
      scanned: some.length,
      last: some.at(-1) ?? null,
      done: new Set(some.filter((slot) => !free.includes(slot)).map((slot) => slot.sample_id)).size,
      skipped: 0,
      too_often: 0,
      found: free.length === 0 ? null : free.slice(0, 16).map((slot) => ({ ...slot, tries: 0, attempts: 0 })),
    };
  }

  /** Scans until a slot is found or none is left; returns the sample and the mark. */
  walk(
    labeler: string,
    mark?: ScanPosition,
    most = 32,
  ): { found: string | undefined; mark: ScanPosition | undefined; walk: QueueScan } {
    const walk = new QueueScan(labeler, mark);
    this.read = 0;
    const windows = walk.windows().map((after) => this.#after(after).slice(0, most));
    this.read += windows.reduce((sum, window) => sum + window.length, 0);
    let found = walk.look(windows, most);
    while (found.length === 0 && !walk.isOver) {
      const stride = walk.stride();
      found = walk.strode(this.#stride(labeler, stride), stride.most);
    }
    return { found: found[0]?.slot.sampleId, mark: walk.mark(), walk };
  }
}

describe("a labeler's way through a queue", () => {
  test("takes the first that is for him", () => {
    const queue = new Queue();
    queue.add(3, ["ada"]);
    queue.add(3);
    expect(queue.walk("ada").found).toBe("000004");
    expect(queue.walk("ben").found).toBe("000001");
  });

  test("is over when everything was looked at, and tells what stood in the way", () => {
    const queue = new Queue();
    queue.add(100, ["ada"]);
    const { found, walk } = queue.walk("ada");
    expect(found).toBeUndefined();
    expect(walk.tally).toEqual({ done: 100, skipped: 0, tooOften: 0 });
    expect(new Queue().walk("ada")).toMatchObject({ found: undefined, mark: undefined });
  });

  test("is not walked again from the start by who has done thousands", () => {
    const queue = new Queue();
    queue.add(5_000, ["ada"]);
    queue.add(10);
    const first = queue.walk("ada");
    expect(first.found).toBe("005001");
    expect(queue.read).toBeGreaterThan(5_000);
    const second = queue.walk("ada", first.mark);
    expect(second.found).toBe("005001");
    expect(queue.read).toBeLessThan(100);
  });

  test("finds at once what is put at its front, and bit by bit what opens again behind", () => {
    const queue = new Queue();
    queue.add(1_000, ["ada"]);
    queue.add(100);
    let { mark } = queue.walk("ada");
    queue.slots.unshift({ window: 0, sample_id: "000000", no: 1, rank: 0, tried: null });
    expect(queue.walk("ada", mark).found).toBe("000000");
    queue.slots.shift();
    queue.slots[500] = { ...queue.slots[500]!, tried: null };
    const found: (string | undefined)[] = [];
    for (let call = 0; call < 20; call++) {
      const next = queue.walk("ada", mark);
      mark = next.mark;
      found.push(next.found);
      expect(queue.read).toBeLessThan(100);
    }
    expect(found).toContain("000501");
  });

  test("is not called empty before all that lies behind the mark was looked at", () => {
    const queue = new Queue();
    queue.add(1_000, ["ada"]);
    const { mark } = queue.walk("ada");
    queue.slots[700] = { ...queue.slots[700]!, tried: null };
    expect(queue.walk("ada", mark).found).toBe("000701");
    queue.slots[700] = { ...queue.slots[700]!, tried: queue.slots[0]!.tried };
    const { found, walk } = queue.walk("ada", mark);
    expect(found).toBeUndefined();
    expect(walk.tally.done).toBe(1_000);
  });

  test("counts a sample once, however many of its slots are open", () => {
    const queue = new Queue();
    queue.add(2, ["ada"]);
    queue.slots.splice(1, 0, { ...queue.slots[0]!, no: 2 });
    expect(queue.walk("ada").walk.tally.done).toBe(2);
  });
});
