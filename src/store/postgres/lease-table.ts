import type { Lease } from "../tasks/tasks.ts";

const idBytes = 36;
const slotBytes = 48;
const slots = 2_048;
const markBytes = slots * 4;

/**
 * Leases in memory that a process and its lease thread share: the process adds and removes them without a message,
 * which at ten thousand steps a second would cost more than the steps; the thread reads them when it renews. A slot's
 * mark is odd while the slot has a lease, and changes with every change, so that a slot read in the middle of one is
 * skipped.
 */
export class LeaseTable {
  readonly memory: SharedArrayBuffer;
  readonly #marks: Int32Array;
  readonly #bytes: Buffer;
  readonly #tokens: Float64Array;
  readonly #free: number[] = [];

  constructor(memory = new SharedArrayBuffer(markBytes + slots * slotBytes)) {
    this.memory = memory;
    this.#marks = new Int32Array(memory, 0, slots);
    this.#bytes = Buffer.from(memory, markBytes);
    this.#tokens = new Float64Array(memory, markBytes);
    for (let slot = slots - 1; slot >= 0; slot--) this.#free.push(slot);
  }

  /** Returns its slot; undefined when the table is full. */
  note(taskId: string, token: number): number | undefined {
    const slot = this.#free.pop();
    if (slot === undefined) return undefined;
    const at = slot * slotBytes;
    this.#bytes.write(taskId, at, idBytes, "latin1");
    this.#tokens[(at + slotBytes - 8) / 8] = token;
    Atomics.add(this.#marks, slot, 1);
    return slot;
  }

  /** The same task under a new token. */
  change(slot: number, token: number): void {
    Atomics.add(this.#marks, slot, 1);
    this.#tokens[((slot + 1) * slotBytes - 8) / 8] = token;
    Atomics.add(this.#marks, slot, 1);
  }

  strikeOut(slot: number): void {
    Atomics.add(this.#marks, slot, 1);
    this.#free.push(slot);
  }

  tokenIn(slot: number): number {
    return this.#tokens[((slot + 1) * slotBytes - 8) / 8]!;
  }

  /** All leases in the table: for the thread, which never writes. */
  read(): Lease[] {
    const kept: Lease[] = [];
    for (let slot = 0; slot < slots; slot++) {
      const mark = Atomics.load(this.#marks, slot);
      if (mark % 2 === 0) continue;
      const at = slot * slotBytes;
      const taskId = this.#bytes.toString("latin1", at, at + idBytes);
      const token = this.tokenIn(slot);
      if (Atomics.load(this.#marks, slot) === mark) kept.push({ taskId, token });
    }
    return kept;
  }
}
