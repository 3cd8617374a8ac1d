/** A pseudo-random number from 0 to 1 that is the same for the same words. */
export function chance(...words: readonly (string | number)[]): number {
  let hash = 0x811c9dc5;
  for (const letter of words.join("\t")) hash = Math.imul(hash ^ letter.codePointAt(0)!, 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  hash = Math.imul(hash ^ (hash >>> 12), 0x297a2d39);
  return ((hash ^ (hash >>> 15)) >>> 0) / 2 ** 32;
}
