import { queue } from "pawl";
import { z } from "zod";

export const moods = ["praise", "complaint", "question"] as const;
export const shapes = ["circle", "square", "triangle"] as const;

/** What customers of a bicycle shop wrote: what do they want, and how soon must somebody answer? */
export const messages = queue("messages", {
  label: z.object({
    mood: z.enum(moods),
    urgency: z.int().min(1).max(5).meta({ "x-tolerance": 1 }), // One off is right on a gold sample, too.
    comment: z.string().optional(),
  }),
  rules: {
    praise_can_wait: ({ label }) =>
      label.mood !== "praise" || label.urgency < 5 || label.comment !== undefined || "say why praise cannot wait",
  },
  overlap: 4,
  maxAttemptsTotal: 8,
});

/** Small pictures: which shape is on them, and how often? */
export const pictures = queue("pictures", {
  label: z.object({ shape: z.enum(shapes), count: z.int().min(1).max(9) }),
  overlap: 4,
  maxAttemptsTotal: 8,
});
