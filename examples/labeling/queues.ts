import { queue } from "pawl";
import { z } from "zod";

export const moods = ["praise", "complaint", "question"] as const;
export const shapes = ["circle", "square", "triangle"] as const;

/** The two queues. A simulation sets a short minute. */
export function labelingQueues(minuteMs = 60_000) {
  const minutes = (count: number) => Math.round(count * minuteMs);
  const time = { startWithin: minutes(3), finishWithin: minutes(10) };
  return {
    /** Messages of customers of a bicycle shop: what do they want, and how urgent is an answer? */
    messages: queue("messages", {
      ...time,
      instructions: "What do they want, and how soon must somebody answer?\n1 can wait for ever, 5 is a fire.",
      label: z.object({
        mood: z.enum(moods),
        urgency: z.int().min(1).max(5).meta({ "x-tolerance": 1 }), // One off is right on a gold sample, too.
        comment: z.string().optional(),
      }),
      rules: {
        praise_can_wait: ({ label }) =>
          label.mood !== "praise" || label.urgency < 5 || label.comment !== undefined || "say why praise cannot wait",
      },
      overlap: 3,
      agreement: { atLeast: 0.6, maxOverlap: 5 }, // If three do not agree, a fourth and a fifth are asked.
      maxAttemptsTotal: 8,
    }),
    /** Small pictures: which shape is on them, and how often? */
    pictures: queue("pictures", {
      ...time,
      instructions: "Which shape is on the picture, and how often?",
      label: z.object({ shape: z.enum(shapes), count: z.int().min(1).max(9) }),
      overlap: 3,
      agreement: { atLeast: 0.6, maxOverlap: 5 },
      maxAttemptsTotal: 8,
      order: "least_labeled",
      skipRequiresReason: true,
    }),
  };
}

export type LabelingQueues = ReturnType<typeof labelingQueues>;

export const { messages, pictures } = labelingQueues();
