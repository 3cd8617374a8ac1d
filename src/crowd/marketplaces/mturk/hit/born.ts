const aroundMs = 3_600_000;

/** When a UUIDv7 was made, which its first 48 bits tell; undefined for whatever begins with none. */
export function bornAt(text: string): number | undefined {
  const time = /^([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-[89ab]/i.exec(text);
  return time === null ? undefined : Number.parseInt(`${time[1]}${time[2]}`, 16);
}

/** Whether what has this id may have been there at a time; clocks may differ by an hour. */
export function mayPrecede(id: string, time: number): boolean {
  const born = bornAt(id);
  return born === undefined || born - aroundMs <= time;
}
