const aroundMs = 3_600_000;

/** The time at which a UUIDv7 was created, from its first 48 bits; undefined for other ids. */
export function bornAt(text: string): number | undefined {
  const time = /^([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-[89ab]/i.exec(text);
  return time === null ? undefined : Number.parseInt(`${time[1]}${time[2]}`, 16);
}

/** Whether an object with this id may have existed at a time; clocks may differ by an hour. */
export function mayPrecede(id: string, time: number): boolean {
  const born = bornAt(id);
  return born === undefined || born - aroundMs <= time;
}
