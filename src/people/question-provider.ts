import type { Json } from "../base/json.ts";
import type { QuestionAnswer, QuestionProvider } from "../kernel/family/question-provider.ts";
import { type SampleData, sample } from "./lifecycle/sample.ts";
import { instanceKeyOf } from "./lifecycle/sample-key.ts";
import { sampleDataOf } from "./samples.ts";
import { type EndedSample, readEnded } from "./store/samples.ts";

/** People answer for `ask: { queue }`: a question is a sample, with the key of who asks. */
export const queueQuestions: QuestionProvider = {
  lifecycles: [sample],
  cancelEvent: "close",
  question(asked, shown, { id, key }) {
    const queue = asked.queue!;
    const own = key ?? id;
    const given = { content: shown as Json, key: own, overlap: queue.overlap, priority: 0, gold: null, isGold: false };
    return { lifecycle: sample, key: instanceKeyOf(queue.name, own), data: sampleDataOf(queue, given) };
  },
  async answers(db, questions) {
    return new Map((await readEnded(db, questions)).map((one) => [one.id, answerOf(one)]));
  },
};

/** Well below what an event can carry. */
const maxText = 512 * 1024;

function answerOf({ state, data, labels }: EndedSample): QuestionAnswer {
  const { consensus, agreement, reason } = data as SampleData;
  const values = (labels ?? []).map((label) => label.value);
  // Labels that are too large to send are still available with the sample.
  const included = JSON.stringify(values).length > maxText ? [] : values;
  if (state === "agreed")
    return { event: "answered", payload: { consensus, labels: included, agreement }, reason: null };
  const why = reason ?? "The sample was closed.";
  return { event: "unanswered", payload: { reason: why, labels: included }, reason: why };
}
