import { crowd, type Duration, lifecycle, RejectSubmission } from "pawl";
import { z } from "zod";

/** What a worker reads off a receipt. */
export const Reading = z.object({ total: z.number().min(0), tax: z.number().min(0) });

/** What an approved reading is paid. */
export const reward = "0.25";

/** The rates of tax that a till prints. */
const rates = [0.07, 0.19];

/**
 * A receipt whose total is wanted, and the crowd that is asked for it: three workers each. Nobody knows the answer, but
 * total and tax must fit together, so who is careless is found out.
 */
export function receiptLifecycle({ sweepEvery }: { readonly sweepEvery?: Duration } = {}) {
  const readers = crowd("receipt-readers", {
    label: Reading,
    marketplace: "memory",
    title: "Read a receipt",
    description: "Type the total and the tax that is in it.",
    reward,
    submissions: 3,
    maxPlaces: 6, // Each rejection asks for one more worker, up to so many.
    lifetime: "7d",
    approvedAfter: "3d", // What nobody has decided by then, the marketplace pays.
    whenExpired: "finish",
    ...(sweepEvery === undefined ? {} : { sweepEvery }),
    onSubmitted: ({ label }) => {
      const rate = rateOf(label);
      if (rates.some((known) => Math.abs(known - rate) < 0.005)) return;
      throw new RejectSubmission("The tax does not fit the total. Please read both again.");
    },
  });
  const receipt = lifecycle("receipt", {
    data: z.object({
      shop: z.string(),
      image: z.string(),
      total: z.number().optional(),
      why: z.string().optional(),
    }),
    initial: "reading",
    states: {
      reading: {
        ask: { crowd: readers, sample: ({ data }) => ({ shop: data.shop, image: data.image }) },
        on: {
          answered: { to: "read", set: ({ payload }) => ({ total: payload.consensus.total }) },
          unanswered: { to: "unread", set: ({ payload }) => ({ why: payload.reason }) },
        },
      },
      read: { final: "success" },
      unread: { final: "failure" },
    },
  });
  return { readers, receipt };
}

export type ReceiptLifecycle = ReturnType<typeof receiptLifecycle>;

/** The rate that was printed. It has a bug, as checks have: a receipt of 0.00 makes it fail, and a person must decide. */
function rateOf({ total, tax }: z.infer<typeof Reading>): number {
  if (total === 0) throw new RangeError("A receipt of 0.00 has no rate of tax.");
  return tax / (total - tax);
}
