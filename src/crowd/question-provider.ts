import type { Json } from "../base/json.ts";
import type { AnyCrowd } from "../definition/crowd.ts";
import type { QuestionAnswer, QuestionProvider } from "../kernel/family/question-provider.ts";
import { readStates } from "../views/move/states.ts";
import type { CrowdLifecycles } from "./crowd-lifecycles.ts";
import type { JobData } from "./data.ts";
import { newJob } from "./job/new-job.ts";

/** A crowd answers for `ask: { crowd }`: a question is a crowd job. */
export function crowdQuestions(families: ReadonlyMap<AnyCrowd, CrowdLifecycles>): QuestionProvider {
  return {
    lifecycles: [...families.values()].map((family) => family.job),
    cancelEvent: "close",
    question(asked, shown, { key }) {
      const family = families.get(asked.crowd!)!;
      return { lifecycle: family.job, key, data: newJob(family.crowd, shown as Json) };
    },
    async answers(db, questions) {
      const rows = await readStates(db, questions);
      return new Map(rows.filter(({ outcome }) => outcome !== null).map((row) => [row.id, answerOf(row)]));
    },
  };
}

function answerOf({ state, data }: { state: string; data: unknown }): QuestionAnswer {
  const { labels, consensus, agreement, reason } = data as JobData;
  if (state === "finished") return { event: "answered", payload: { consensus, labels, agreement }, reason: null };
  const why = reason ?? "The crowd job was discarded.";
  return { event: "unanswered", payload: { reason: why, labels }, reason: why };
}
