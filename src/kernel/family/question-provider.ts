import type { Asked } from "../../definition/decide/question.ts";
import type { LifecycleModel } from "../../definition/model.ts";
import type { Executor } from "../../store/port/db.ts";

/** Who answers for a kind of asking state, such as people in a queue. A question is a child of the instance that asks. */
export interface QuestionProvider {
  /** What questions live through. */
  readonly lifecycles: readonly LifecycleModel[];
  /** The event that takes back a question whose asker has gone on. */
  readonly cancelEvent: string;
  /** The question itself, which lives through one of them. */
  question(asked: Asked, shown: unknown, asking: { readonly id: string; readonly key: string | null }): Question;
  /** What became of questions, by their ids; those that are still open are not told of. */
  answers(db: Executor, questions: readonly string[]): Promise<ReadonlyMap<string, QuestionAnswer>>;
}

interface Question {
  readonly lifecycle: LifecycleModel;
  readonly key: string | null;
  readonly data: unknown;
}

/** What an instance is told that has asked. */
export interface QuestionAnswer {
  readonly event: "answered" | "unanswered";
  readonly payload: unknown;
  readonly reason: string | null;
}

/** The askers of a process, by who is asked. */
export interface QuestionProviders {
  readonly queue?: QuestionProvider;
  readonly crowd?: QuestionProvider;
}

export function providerOf(questionProviders: QuestionProviders, asked: Asked): QuestionProvider | undefined {
  return asked.queue === undefined ? questionProviders.crowd : questionProviders.queue;
}
