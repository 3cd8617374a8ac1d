/** A number of minutes, in milliseconds. */
export type Minutes = (count: number) => number;

/** The clock of an assessment. Definitions use real times, "after 10 minutes"; a simulation sets a short minute. */
export function minutesOf(minuteMs = 60_000): Minutes {
  return (count) => Math.round(count * minuteMs);
}
