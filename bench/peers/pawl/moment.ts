import type { StandardSchemaV1 } from "@standard-schema/spec";

/** The payload of a job. Written out, so that no schema library is measured along. */
export const moment: StandardSchemaV1<{ at: number }> = {
  "~standard": {
    version: 1,
    vendor: "bench",
    validate: (value) => ({ value: value as { at: number } }),
  },
};
