export type { MturkCredentials } from "./credentials.ts";
export { type MturkOptions, mturk } from "./mturk.ts";
export { type MturkNotification, mturkNotifications } from "./notifications.ts";
export type { QuestionParts as MturkQuestion } from "./question.ts";
export type { GivenAnswer as MturkAnswer } from "./question-form-answers.ts";
