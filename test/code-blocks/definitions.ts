import { crowd, job, lifecycle, queue } from "pawl";
import { z } from "zod";

/** Definitions that blocks of code take as given. */

export const parcel = lifecycle("parcel", {
  data: z.object({ address: z.string(), label: z.string().optional() }),
  events: { weighed: z.object({ kilos: z.number() }) },
  initial: "labeling",
  states: {
    labeling: { run: () => {}, on: { labeled: "packed" } },
    packed: { timeout: { after: "7d", send: "fail" }, on: { weighed: "shipped" } },
    shipped: { final: "success" },
  },
});

export const essay = lifecycle("essay", {
  data: z.object({ text: z.string() }),
  events: { graded: z.object({ score: z.number() }) },
  initial: "grading",
  states: { grading: { forever: true, on: { graded: "done" } }, done: { final: "success" } },
});

export const solve = lifecycle("solve", {
  data: z.object({ question: z.string(), text: z.string() }),
  initial: "waiting",
  states: { waiting: { forever: true, on: { resubmit: "waiting", done: "ended" } }, ended: { final: "success" } },
});

export const cleanUp = job("clean-up", { run: () => {} });
export const sendEmail = job("send-email", {
  payload: z.object({ to: z.string(), at: z.string().optional() }),
  run: () => {},
});
export const essays = queue("essays", { label: z.object({ score: z.number() }) });
export const receipts = crowd("receipts", { label: z.object({ total: z.number() }), marketplace: "mturk" });
export const partData = z.object({
  text: z.string(),
  image: z.string(),
  amount: z.number(),
  receipt: z.string().optional(),
  score: z.number().optional(),
  total: z.number().optional(),
  why: z.string().optional(),
});

export const partLabel = z.object({ sure: z.boolean(), comment: z.string() });
export const Answer = z.object({ question: z.string(), text: z.string() });
export const Callback = z.object({
  requestId: z.string(),
  submissionId: z.string(),
  status: z.string(),
  score: z.number(),
  message: z.string(),
});
export type Data = z.infer<typeof partData>;
