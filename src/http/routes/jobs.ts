import type { Route } from "../api/route.ts";
import {
  about,
  anything,
  duration,
  id,
  listOf,
  moment,
  named,
  oneOf,
  orNull,
  shape,
  text,
  whole,
} from "../api/schema.ts";
import type { JobAnswer } from "../contract.ts";
import { cause, page } from "./arguments.ts";
import { started } from "./instance-answer.ts";

const tag = "Jobs";

const jobStatus = oneOf("pending", "running", "done", "error");

const job = named(
  "Job",
  shape<JobAnswer>({
    id,
    key: orNull(text),
    job: text,
    status: jobStatus,
    attempt: about(orNull(whole), "Attempts so far; null once it has ended."),
    enqueuedAt: moment,
    runsAt: about(orNull(moment), "When it runs next, if that is later."),
    endedAt: orNull(moment),
  }),
);

export const jobRoutes: readonly Route[] = [
  {
    method: "get",
    path: "/jobs",
    verb: "jobs",
    may: "look",
    tag,
    summary: "Jobs, newest first, by pages.",
    takes: { job: text, status: jobStatus, ...page },
    answers: listOf(job),
  },
  {
    method: "get",
    path: "/jobs/{job}/{id}",
    verb: "job",
    may: "look",
    tag,
    summary: "One job.",
    answers: job,
  },
  {
    method: "get",
    path: "/jobs/{job}/keys/{key}",
    verb: "job",
    may: "look",
    tag,
    summary: "One job, by its key.",
    answers: job,
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
    answers: started,
  },
];
