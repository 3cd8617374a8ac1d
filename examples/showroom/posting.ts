import { exponential, lifecycle, queue, type Step } from "pawl";
import { z } from "zod";
import { chance } from "../chance.ts";
import { classify, pause } from "./classifier.ts";

/** The queue for postings that the classifier could not decide. You are one of the labelers when you open the desk. */
export const moderation = queue("moderation", {
  label: z.object({
    verdict: z.enum(["keep", "remove"]),
    because: z.enum(["fine", "insult", "advertising", "false claim"]).optional(),
    note: z.string().optional(),
  }),
  rules: {
    a_removal_has_a_reason: ({ label }) =>
      label.verdict === "keep" || (label.because ?? "fine") !== "fine" || "say why it is to be removed",
  },
  instructions: "Would you leave this in a forum for everybody? A harsh word is fine, an insult is not.",
  overlap: 1,
  startWithin: "10m",
  finishWithin: "10m",
});

const Posting = z.object({
  author: z.string(),
  text: z.string(),
  followers: z.number().optional(),
  verdict: z.string().optional(),
  link: z.string().optional(),
});
type Posting = z.infer<typeof Posting>;

/** A posting. It is read by a machine, in doubt by people, and then shown or removed. */
export const posting = lifecycle("posting", {
  data: Posting,
  initial: "received",
  retention: "1h",
  states: {
    received: { run: lookUpAuthor, on: { looked_up: "reading" } },
    reading: {
      run: read,
      uses: "classifier",
      retry: { maxAttempts: 6, backoff: exponential({ first: "1s", cap: "20s" }) },
      on: { clean: "publishing", doubtful: "in_doubt", foul: "removed" },
    },
    in_doubt: {
      ask: { queue: moderation, sample: ({ data }) => ({ author: data.author, text: data.text }) },
      timeout: { after: "1h", send: "nobody_came" },
      on: {
        answered: [
          {
            to: "publishing",
            guard: ({ payload }) => payload.consensus.verdict === "keep" || "people want it removed",
            set: () => ({ verdict: "kept by people" }),
          },
          { to: "removed", set: ({ payload }) => ({ verdict: payload.consensus.because ?? "removed by people" }) },
        ],
        unanswered: "removed",
        nobody_came: "removed",
        withdraw: "removed",
      },
    },
    publishing: { run: publish, on: { shown: "published" } },
    published: { final: "success" },
    removed: { final: "success" },
  },
});

async function lookUpAuthor(step: Step<Posting>) {
  await pause(100 + 600 * chance(step.id), step.signal);
  step.set({ followers: Math.round(5_000 * chance(step.data.author)) });
}

async function read(step: Step<Posting, { clean: undefined; doubtful: undefined; foul: undefined }>) {
  const judgement = await classify(step.data.text, `${step.id} ${step.attempt}`, step.signal);
  if (judgement === "foul") step.set({ verdict: "removed by the classifier" });
  return step.go(judgement);
}

async function publish(step: Step<Posting>) {
  await pause(100 + 300 * chance(step.id, "publish"), step.signal);
  step.set({ link: `/postings/${step.idempotencyKey.slice(0, 8)}` });
}
