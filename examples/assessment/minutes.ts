/** So many minutes, in milliseconds. */
export type Minutes = (count: number) => number;

/**
 * The clock of an assessment. Definitions say what is true in an office, "after 10 minutes"; whoever simulates one lets a
 * minute be short.
 */
export function minutesOf(minuteMs = 60_000): Minutes {
  return (count) => Math.round(count * minuteMs);
}
