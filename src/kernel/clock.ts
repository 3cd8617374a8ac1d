/** The database's time, estimated by this process: good for ids and for guards, never for what is due. */
export interface Clock {
  nowMs(): number;
  /** Sets the time that the database has just returned. */
  observe(nowMs: number): void;
}

/** Adds to the last time of the database the time that has passed since, by a monotonic clock. */
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
