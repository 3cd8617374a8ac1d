export { mturk } from "./mturk.ts";
export { type MturkNotification, mturkNotifications } from "./notifications.ts";
export type { MturkCredentials, MturkNotify, MturkOptions } from "./options.ts";
export type { MturkQualification } from "./qualifications.ts";
export type { QuestionParts as MturkQuestion } from "./question.ts";
export type { GivenAnswer as MturkAnswer } from "./question-form-answers.ts";
