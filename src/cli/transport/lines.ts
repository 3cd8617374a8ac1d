/** A line that was longer than allowed; what it held is gone. */
export const tooLong = Symbol("too long");

/** Cuts a stream of bytes into lines, holding no more than one line of `maxBytes`. */
export class LineCutter {
  readonly #maxBytes: number;
  #held: Buffer[] = [];
  #heldBytes = 0;
  #skipping = false;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  *push(chunk: Buffer): Generator<string | typeof tooLong> {
    for (let from = 0; from < chunk.length; ) {
      const end = chunk.indexOf(0x0a, from);
      const piece = chunk.subarray(from, end === -1 ? chunk.length : end);
      from += piece.length + 1;
      if (!this.#skipping && this.#heldBytes + piece.length > this.#maxBytes) {
        this.#take();
        this.#skipping = true; // The rest of this line is read over, the next one counts again.
        yield tooLong;
      }
      if (!this.#skipping) this.#hold(piece);
      if (end === -1) return;
      const line = this.#take();
      if (!this.#skipping && line.trim() !== "") yield line;
      this.#skipping = false;
    }
  }

  #hold(piece: Buffer): void {
    this.#held.push(piece);
    this.#heldBytes += piece.length;
  }

  #take(): string {
    const line = Buffer.concat(this.#held).toString("utf8");
    this.#held = [];
    this.#heldBytes = 0;
    return line;
  }
}
