import { createHash, randomFillSync } from "node:crypto";

const pattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

export function isId(text: unknown): text is string {
  return typeof text === "string" && pattern.test(text);
}

/** An id derived from two others: the same inputs give the same id. */
export function derivedId(one: string, other: string): string {
  const bytes = createHash("sha256").update(`${one} ${other}`).digest().subarray(0, 16);
  bytes[6] = (bytes[6]! & 0x0f) | 0x80;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = bytes.toString("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

/**
 * The number of the database that an id belongs to, so that it can be found by its ids once there are several. It takes the
 * second byte of the tail: the last two digits of the fourth group.
 */
const cell = 0;
const tailBytes = 8;
const pool = Buffer.alloc(tailBytes * 512);
let tails = "";
let used = 0;

/** The end of an id: its 16 digits, with the variant, the cell and a hyphen; the rest is random. Many are made at once, since asking for a few bytes is dear. */
function randomTail(): string {
  if (used === tails.length) {
    randomFillSync(pool);
    for (let at = 0; at < pool.length; at += tailBytes) {
      pool[at] = (pool[at]! & 0x3f) | 0x80;
      pool[at + 1] = cell;
    }
    tails = pool.toString("hex");
    used = 0;
  }
  used += tailBytes * 2;
  return `${tails.slice(used - 16, used - 12)}-${tails.slice(used - 12, used)}`;
}

const counters = Array.from({ length: 0x1000 }, (_, count) => count.toString(16).padStart(3, "0"));

/**
 * Makes UUIDv7 ids from the time that `now` returns (the database's, in milliseconds). Ids of one maker rise strictly,
 * also within a millisecond and when the clock steps back, so that rows of a batch are adjacent in an index.
 */
export function idMaker(now: () => number, tail: () => string = randomTail): () => string {
  let lastMs = 0;
  let time = timeOf(lastMs);
  let counter = 0;
  return () => {
    const ms = Math.floor(now());
    if (ms <= lastMs && counter < 0xfff) counter += 1;
    else {
      lastMs = Math.max(ms, lastMs + 1);
      time = timeOf(lastMs);
      counter = 0;
    }
    return `${time}-7${counters[counter]}-${tail()}`;
  };
}

function timeOf(ms: number): string {
  const digits = ms.toString(16).padStart(12, "0");
  return `${digits.slice(0, 8)}-${digits.slice(8)}`;
}

const tokenBytes = 8;
const tokenPool = Buffer.alloc(tokenBytes * 512);
let tokensUsed = tokenPool.length;
/** Room for the tokens of one statement, which are counted on from the one that is made for it. */
const highestToken = Number.MAX_SAFE_INTEGER - 2 ** 20;

/**
 * Makes the token of a lease: a random number from 1 to 2^53, by which a worker proves that the lease is still its own. Two
 * leases of a task never get the same one, whatever the database has lost in a failover. Their order means nothing.
 */
export function newToken(): number {
  if (tokensUsed === tokenPool.length) {
    randomFillSync(tokenPool);
    tokensUsed = 0;
  }
  const high = tokenPool.readUInt32LE(tokensUsed) & 0x1fffff;
  const token = high * 2 ** 32 + tokenPool.readUInt32LE(tokensUsed + 4);
  tokensUsed += tokenBytes;
  return token >= 1 && token <= highestToken ? token : newToken();
}

/** The lowest id of a moment: earlier ids are lower. */
export function firstIdAt(ms: number): string {
  return `${timeOf(Math.max(0, Math.floor(ms)))}-7000-8000-000000000000`;
}
