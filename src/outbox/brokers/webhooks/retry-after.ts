const mostMs = 3_600_000;

/** What a `Retry-After` header asks for, seconds or a date; an hour at most, and undefined when it asks for nothing. */
export function retryAfterMs(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined;
  const ms = /^\s*\d{1,12}\s*$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - nowMs;
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), mostMs);
}
