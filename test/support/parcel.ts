import { lifecycle } from "pawl";
import { z } from "zod";

/** A small lifecycle that has a bit of everything: work, waiting, a guard, a stay, a timeout, an end. */
export const parcel = lifecycle("parcel", {
  data: z.object({
    address: z.string(),
    label: z.string().optional(),
    weight: z.number().default(1),
    notes: z.number().default(0),
  }),
  events: { weighed: z.object({ weight: z.number() }) },
  initial: "labeling",
  on: { noted: { set: ({ data }) => ({ notes: data.notes + 1 }) } },
  states: {
    labeling: {
      run: async (step) => {
        step.set({ label: `L-${step.data.address}` });
      },
      retry: { maxAttempts: 3, backoff: (failed) => failed * 1_000 },
      on: { labeled: "packed" },
    },
    packed: {
      timeout: { after: "7d", send: "fail" },
      on: {
        weighed: [
          { to: "rejected", guard: ({ payload }) => payload.weight > 30 || "it is not too heavy" },
          {
            to: "shipped",
            guard: ({ payload }) => payload.weight > 0 || "a parcel weighs something",
            set: ({ payload }) => ({ weight: payload.weight }),
          },
        ],
        repack: "packed",
      },
    },
    shipped: { forever: true, on: { delivered: "done", returned: "packed" } },
    rejected: { final: "failure" },
    done: { final: "success" },
  },
});
