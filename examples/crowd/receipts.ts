import { type CrowdDefinition, crowd, lifecycle, type Pawl, RejectSubmission } from "pawl";
import { z } from "zod";
import { papers, printedOn } from "./papers.ts";

/** A worker's reading of a receipt. */
export const Reading = z.object({ total: z.number().min(0), tax: z.number().min(0) });

/** The reward of an approved reading. */
export const reward = "0.25";

/** The tax rates on receipts. */
const rates = [0.07, 0.19];

type Changes = Pick<CrowdDefinition<typeof Reading>, "marketplace" | "submissions" | "syncInterval">;

/**
 * A receipt whose total is needed, and the crowd that reads it: three workers each. The answer is unknown, but total
 * and tax must fit together, which reveals careless readings.
 */
export function receiptLifecycle(changes: Changes) {
  const readers = crowd("receipt-readers", {
    label: Reading,
    title: "Read a receipt",
    description: "Type the total and the tax that is in it.",
    reward,
    submissions: 3,
    maxPlaces: 6, // Each rejection requires one more worker, up to this many.
    lifetime: "7d",
    approvedAfter: "3d", // Undecided submissions are approved by the marketplace after this time.
    whenExpired: "finish",
    ...changes,
    onSubmitted: ({ label }) => {
      if (!fits(label)) throw new RejectSubmission("The tax does not fit the total. Please read both again.");
    },
  });
  const receipt = lifecycle("receipt", {
    data: z.object({
      shop: z.string(),
      text: z.string(),
      total: z.number().optional(),
      why: z.string().optional(),
    }),
    initial: "reading",
    states: {
      reading: {
        ask: { crowd: readers, sample: ({ data }) => ({ shop: data.shop, text: data.text }) },
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

/** Starts every receipt. */
export async function handIn(pawl: Pick<Pawl, "start">, { receipt }: ReceiptLifecycle, run: string): Promise<void> {
  for (const paper of papers) {
    await pawl.start(receipt, { key: `${run}-${paper.key}`, data: { shop: paper.shop, text: printedOn(paper) } });
  }
}

/**
 * Whether total and tax fit together. It has a bug, as checks have: over a receipt of 0.00 it fails, and a person must
 * decide.
 */
export function fits({ total, tax }: z.infer<typeof Reading>): boolean {
  if (total === 0) throw new RangeError("A receipt of 0.00 has no rate of tax.");
  const rate = tax / (total - tax);
  return rates.some((known) => Math.abs(known - rate) < 0.005);
}
