import type { AskedQuestion } from "../../definition/decide/question.ts";
import type { LifecycleModel } from "../../definition/model.ts";
import type { Executor } from "../../store/port/db.ts";

/** Answers for a kind of asking state, such as people in a queue. A question is a child of the instance that asks. */
export interface QuestionProvider {
  /** The lifecycles of its questions. */
  readonly lifecycles: readonly LifecycleModel[];
  /** The event that withdraws a question whose asking instance has moved on. */
  readonly cancelEvent: string;
  /** The question itself, an instance of one of these lifecycles. */
  question(
    asked: AskedQuestion,
    shown: unknown,
    asking: { readonly id: string; readonly key: string | null },
  ): Question;
  /** The answers of questions, by their ids; open ones are left out. */
  answers(db: Executor, questions: readonly string[]): Promise<ReadonlyMap<string, QuestionAnswer>>;
}

interface Question {
  readonly lifecycle: LifecycleModel;
  readonly key: string | null;
  readonly data: unknown;
}

/** The event for an instance that has asked. */
export interface QuestionAnswer {
  readonly event: "answered" | "unanswered";
  readonly payload: unknown;
  readonly reason: string | null;
}

/** The question providers of a process, by kind. */
export interface QuestionProviders {
  readonly queue?: QuestionProvider;
  readonly crowd?: QuestionProvider;
}

export function providerOf(questionProviders: QuestionProviders, asked: AskedQuestion): QuestionProvider | undefined {
  return asked.queue === undefined ? questionProviders.crowd : questionProviders.queue;
}
