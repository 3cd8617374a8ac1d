import type { Duration } from "../base/duration.ts";

/**
 * How long the grading of a submission may take, waiting and retries and all:
 * `deadline: { within: ({ data }) => gradingSla[data.skill] }`.
 */
export const gradingSla = { writing: "1200s", speaking: "3600s" } as const satisfies Record<string, Duration>;
