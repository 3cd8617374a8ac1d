/** The moment of a column that may be null, in milliseconds since 1970. */
export function dateOf(ms: number | null): Date | null {
  return ms === null ? null : new Date(ms);
}
