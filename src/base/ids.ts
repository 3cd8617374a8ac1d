import { createHash, randomFillSync } from "node:crypto";

const pattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

export function isId(text: unknown): text is string {
  return typeof text === "string" && pattern.test(text);
}

/** An id that follows from two others: whoever makes it again makes the same. */
export function derivedId(one: string, other: string): string {
  const bytes = createHash("sha256").update(`${one} ${other}`).digest().subarray(0, 16);
  bytes[6] = (bytes[6]! & 0x0f) | 0x80;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = bytes.toString("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

const pool = Buffer.alloc(8 * 512);
let used = pool.length;

function randomBytes(): Buffer {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += 8;
  return pool.subarray(used - 8, used);
}

/**
 * Makes UUIDv7 ids from the time that `now` tells (the database's, in milliseconds). Ids of one maker rise strictly,
 * also within a millisecond and when the clock steps back, so that rows of a batch land side by side in an index.
 */
export function idMaker(now: () => number): () => string {
  let lastMs = 0;
  let counter = 0;
  return () => {
    const ms = Math.floor(now());
    if (ms > lastMs) {
      lastMs = ms;
      counter = 0;
    } else if (++counter > 0xfff) {
      lastMs += 1;
      counter = 0;
    }
    const time = lastMs.toString(16).padStart(12, "0");
    const random = randomBytes();
    random[0] = (random[0]! & 0x3f) | 0x80;
    const tail = random.toString("hex");
    const count = counter.toString(16).padStart(3, "0");
    return `${time.slice(0, 8)}-${time.slice(8)}-7${count}-${tail.slice(0, 4)}-${tail.slice(4)}`;
  };
}

/** The lowest id that can be made at a moment: whatever was made earlier has a lower one. */
export function firstIdAt(ms: number): string {
  const time = Math.max(0, Math.floor(ms)).toString(16).padStart(12, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`;
}
