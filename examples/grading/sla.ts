import type { Duration } from "pawl";

/** How long grading a submission may take, including queue wait and retries. */
export const gradingSla = { writing: "1200s", speaking: "3600s" } as const satisfies Record<string, Duration>;
