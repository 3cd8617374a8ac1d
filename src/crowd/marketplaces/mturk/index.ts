export type { QuestionParts as MturkQuestion } from "./form/question.ts";
export type { GivenAnswer as MturkAnswer } from "./form/question-form-answers.ts";
export type { MturkQualification } from "./hit/qualifications.ts";
export { mturk } from "./mturk.ts";
export { type MturkNotification, mturkNotifications } from "./notifications.ts";
export type { MturkCredentials, MturkNotify, MturkOptions } from "./options.ts";
