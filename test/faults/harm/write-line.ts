import { writeSync } from "node:fs";

const notNow = new Int32Array(new SharedArrayBuffer(4));

/**
 * Writes a line before the process continues: it may be killed at any moment. If the reader is slow, the pipe is full,
 * and a non-blocking pipe refuses the rest: then the write is repeated.
 */
export function writeLine(...words: readonly string[]): void {
  let left = Buffer.from(`${words.join("\t")}\n`);
  while (left.length > 0) {
    try {
      left = left.subarray(writeSync(1, left));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
      Atomics.wait(notNow, 0, 0, 1);
    }
  }
}
