import { writeSync } from "node:fs";

const notNow = new Int32Array(new SharedArrayBuffer(4));

/**
 * A line to whoever watches, written before the process goes on: it may be killed at any moment. Where he is slow to read,
 * the pipe is full, and a pipe that somebody has made non-blocking refuses the rest: then it is said again.
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
