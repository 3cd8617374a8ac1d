import { expect, test } from "vitest";
import { z } from "zod";
import { queue } from "../../definition/queue.ts";
import { blankLabel, formFields } from "./form.ts";

test("a form is told field by field, with a label to begin from", () => {
  const label = z.object({
    mood: z.enum(["praise", "complaint"]),
    urgency: z.int().min(1).max(5),
    weight: z.int(),
    sure: z.boolean(),
    tags: z.array(z.enum(["a", "b"])),
    comment: z.string().optional(),
  });
  const { form } = queue("messages", { label });
  expect(formFields(form)).toEqual([
    { name: "mood", takes: "praise | complaint" },
    { name: "urgency", takes: "a whole number from 1 to 5" },
    { name: "weight", takes: "a whole number" },
    { name: "sure", takes: "true | false" },
    { name: "tags", takes: "a list of a | b" },
    { name: "comment", takes: "a string, or nothing" },
  ]);
  expect(label.parse(blankLabel(form))).toEqual({ mood: "praise", urgency: 1, weight: 0, sure: true, tags: [] });
});

test("a label may be one answer, or anything", () => {
  expect(formFields({ enum: ["cat", 3] })).toEqual([{ name: "", takes: "cat | 3" }]);
  expect(formFields({ type: "number", minimum: 0 })).toEqual([{ name: "", takes: "a number, at least 0" }]);
  expect(formFields({})).toEqual([{ name: "", takes: "JSON" }]);
  expect([blankLabel({ enum: ["cat", 3] }), blankLabel({ type: "string" })]).toEqual(["cat", "…"]);
});
