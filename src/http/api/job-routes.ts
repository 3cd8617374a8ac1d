import type { Route } from "./route.ts";
import { about, anything, duration, listOf, moment, oneOf, record, text, whole } from "./schema.ts";
import { cause, page } from "./taken.ts";

const tag = "Jobs";

export const jobRoutes: readonly Route[] = [
  {
    method: "get",
    path: "/jobs",
    verb: "jobs",
    may: "look",
    tag,
    summary: "Jobs, newest first, by pages.",
    takes: { job: text, status: oneOf("pending", "running", "done", "error"), ...page },
    answers: listOf(anything),
  },
  {
    method: "get",
    path: "/jobs/{job}/{id}",
    verb: "job",
    may: "look",
    tag,
    summary: "One job.",
    answers: record,
  },
  {
    method: "get",
    path: "/jobs/{job}/keys/{key}",
    verb: "job",
    may: "look",
    tag,
    summary: "One job, by its key.",
    answers: record,
  },
  {
    method: "post",
    path: "/jobs/{job}",
    verb: "enqueue",
    may: "send",
    tag,
    summary: "Enqueue a job. The same key again answers with the open one that has it.",
    takes: {
      payload: anything,
      key: text,
      priority: about(whole, "Lower runs sooner."),
      after: duration,
      at: moment,
      ...cause,
    },
    answers: anything,
  },
];
