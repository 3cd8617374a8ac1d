import { routesOf } from "../api/route.ts";
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
import { jobNamed } from "../api/targets.ts";
import { after, cause, page } from "../api/usual-arguments.ts";
import type { JobResponse } from "../contract.ts";
import { started } from "./responses/instance-response.ts";

const jobStatus = oneOf("pending", "running", "done", "error");

const job = named(
  "Job",
  shape<JobResponse>({
    id,
    key: orNull(text),
    job: text,
    status: jobStatus,
    attempt: about(orNull(whole), "Attempts so far; null after it has ended."),
    enqueuedAt: moment,
    runsAt: about(orNull(moment), "When it runs next, if in the future."),
    endedAt: orNull(moment),
  }),
);

const { get, post } = routesOf("Jobs");

export const jobRoutes = [
  get("jobs", "/jobs", "read", {
    summary: "List jobs, newest first, by page.",
    takes: { job: text, status: jobStatus, ...page },
    answer: listOf(job),
    call: (pawl, { job, after: last, ...filter }) =>
      pawl.jobs.list({ ...filter, job: job === undefined ? undefined : jobNamed(pawl, job), after: after(last) }),
  }),
  get("job", "/jobs/{job}/{id}", "read", {
    summary: "Get a job.",
    answer: job,
    call: (pawl, { job, id }) => pawl.jobs.get(jobNamed(pawl, job), { id }),
  }),
  get("jobByKey", "/jobs/{job}/keys/{key}", "read", {
    summary: "Get a job by its key.",
    answer: job,
    call: (pawl, { job, key }) => pawl.jobs.get(jobNamed(pawl, job), key),
  }),
  post("enqueue", "/jobs/{job}", "send", {
    summary: "Enqueue a job. The key of an open job returns that job.",
    takes: {
      payload: anything,
      key: text,
      priority: about(whole, "Lower runs first."),
      after: duration,
      at: moment,
      ...cause,
    },
    answer: started,
    call: (pawl, { job, payload = {}, ...options }) => pawl.enqueue(jobNamed(pawl, job), payload, options),
  }),
];
