import { lifecycle, type Step } from "pawl";
import { z } from "zod";

/** Days, in an office; seconds here, so that you can watch it happen. */
const patience = { remind: "30s", escalate: "2m" } as const;

/** An expense claim: a colleague approves or queries it, the office pays. */
export const expense = lifecycle("expense", {
  data: z.object({
    employee: z.string(),
    purpose: z.string(),
    amount: z.number().positive(),
    reminders: z.number().default(0),
    approver: z.string().optional(),
    question: z.string().optional(),
    receipt: z.string().optional(),
  }),
  events: {
    ask: z.object({ question: z.string() }),
    answer: z.object({ purpose: z.string() }),
  },
  initial: "submitted",
  states: {
    submitted: {
      timeout: [
        { after: patience.remind, send: "remind" },
        { after: patience.escalate, send: "escalate" },
      ],
      on: {
        approve: {
          to: "approved",
          guard: ({ data, actor }) => actor !== data.employee || "nobody approves their own expense",
          set: ({ actor }) => ({ approver: actor ?? "somebody" }),
        },
        ask: { to: "returned", set: ({ payload }) => ({ question: payload.question }) },
        remind: { set: ({ data }) => ({ reminders: data.reminders + 1 }) }, // No `to`: it stays where it is.
        escalate: "escalated",
      },
    },
    returned: {
      timeout: { after: "14d", send: "withdraw" },
      on: {
        answer: { to: "submitted", set: ({ payload }) => ({ purpose: payload.purpose, question: undefined }) },
        withdraw: "withdrawn",
      },
    },
    escalated: {
      timeout: { after: "7d", send: "fail" },
      on: { approve: { to: "approved", set: ({ actor }) => ({ approver: actor ?? "somebody" }) }, reject: "rejected" },
    },
    approved: {
      run: transfer, // A worker does this one, and tries again when it fails.
      on: { paid: "paid" },
    },
    paid: { final: "success" },
    rejected: { final: "failure" },
    withdrawn: { final: "failure" },
  },
});

/** The bank would recognise the key, should this be tried twice. */
async function transfer(step: Step<{ amount: number; receipt?: string }>) {
  step.set({ receipt: `${step.data.amount} € by ${step.idempotencyKey}` });
}
