/** The database's time as this process knows it: good for ids and for what guards are told, never for what is due. */
export interface Clock {
  nowMs(): number;
  /** The time that the database just told. */
  observe(nowMs: number): void;
}

/** Goes on from the last time that the database told, by a clock that nobody sets. */
export function databaseClock(): Clock {
  let toldMs = Date.now();
  let toldAt = performance.now();
  return {
    nowMs: () => toldMs + (performance.now() - toldAt),
    observe(nowMs) {
      toldMs = nowMs;
      toldAt = performance.now();
    },
  };
}
