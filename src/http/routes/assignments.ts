import type { Route } from "../api/route.ts";
import { about, anything, text } from "../api/schema.ts";
import { assignment, next, submitted } from "./people-answer.ts";

const tag = "Desk";
/** Whoever labels works as himself; somebody else who may label says for whom. */
const labeler = about(text, "For whom; a labeler is always himself.");

export const deskRoutes: readonly Route[] = [
  {
    method: "post",
    path: "/queues/{queue}/next",
    verb: "next",
    may: "label",
    tag,
    summary: "The next piece of work for a labeler, or why there is none.",
    takes: { labeler },
    answers: next,
  },
  {
    method: "get",
    path: "/assignments/{id}",
    verb: "assignment",
    may: ["look", "label"],
    tag,
    summary: "An assignment as it stands. A labeler sees only his own.",
    answers: assignment,
  },
  {
    method: "post",
    path: "/assignments/{id}/start",
    verb: "startAssignment",
    may: "label",
    tag,
    summary: "Begin: from now on the time runs.",
    takes: { labeler },
    answers: assignment,
  },
  {
    method: "post",
    path: "/assignments/{id}/submit",
    verb: "submitLabel",
    may: "label",
    tag,
    summary: "Hand in a label. After the deadline it is kept as late.",
    takes: { label: anything, labeler },
    needs: ["label"],
    answers: submitted,
  },
  {
    method: "post",
    path: "/assignments/{id}/skip",
    verb: "skipAssignment",
    may: "label",
    tag,
    summary: "Do not label it; somebody else gets it.",
    takes: { reason: text, labeler },
    answers: assignment,
  },
  {
    method: "post",
    path: "/assignments/{id}/extend",
    verb: "extendAssignment",
    may: "label",
    tag,
    summary: "Still at it: its time begins again.",
    takes: { labeler },
    answers: assignment,
  },
];
