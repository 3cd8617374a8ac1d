const maxTextInOne = 8 * 1024 * 1024;

/**
 * A list cut so that no part holds more text than a statement carries with ease: a batch of the largest values that can
 * be stored would be more than a message to the database, or a string in this process, can hold.
 */
export function splitBySize<T>(list: readonly T[], sizeOf: (one: T) => number, most = maxTextInOne): (readonly T[])[] {
  const parts: T[][] = [];
  let room = 0;
  for (const one of list) {
    const size = sizeOf(one);
    if (parts.length === 0 || size > room) {
      parts.push([]);
      room = most;
    }
    parts.at(-1)!.push(one);
    room -= size;
  }
  return parts;
}
