import { routesOf } from "../api/route.ts";
import { about, anything, flag, id, listOf, orNull, shape, text, withMore } from "../api/schema.ts";
import { unknown } from "../api/targets.ts";
import { actor, after, cause, page } from "../api/usual-arguments.ts";
import type { BalanceAnswer, BonusAnswer, NoticeAnswer } from "../contract.ts";
import { astray, crowd, job, jobState, submission, submissionState } from "./answers/crowd-answer.ts";

const { get, post } = routesOf("Crowds");

export const crowdRoutes = [
  get("crowds", "/crowds", "look", {
    summary: "The crowds, their marketplaces, and how many jobs and submissions stand where.",
    answer: listOf(crowd),
    call: ({ crowd }) => Promise.all(crowd.list().map(async (one) => ({ ...one, ...(await crowd.counts(one.name)) }))),
  }),
  post("askCrowd", "/crowds/{crowd}/jobs", "send", {
    summary: "Ask a crowd. A key that is taken gives back the job that has it.",
    takes: { content: anything, key: text, ...cause },
    needs: ["content"],
    answer: withMore(job, { created: flag }),
    call: (pawl, { crowd, ...question }) => pawl.crowd.ask(crowd, question),
  }),
  get("crowdJobs", "/crowds/{crowd}/jobs", "look", {
    summary: "The jobs of a crowd, newest first, by pages.",
    takes: { state: listOf(jobState), ...page },
    answer: listOf(job),
    call: (pawl, { crowd, after: last, ...filter }) => pawl.crowd.jobs(crowd, { ...filter, after: after(last) }),
  }),
  get("crowdJobByKey", "/crowds/{crowd}/keys/{key}", "look", {
    summary: "One crowd job, by the key that it was asked with.",
    answer: job,
    call: async (pawl, which) =>
      (await pawl.crowd.job(which)) ??
      unknown(
        "instance_unknown",
        `The crowd \`${which.crowd}\` was not asked with the key \`${which.key}\`. A job that a state asked for is named by its id.`,
        which,
      ),
  }),
  get("crowdJob", "/crowd-jobs/{id}", "look", {
    summary: "One crowd job.",
    answer: job,
    call: async ({ crowd }, { id }) =>
      (await crowd.job(id)) ?? unknown("instance_unknown", `There is no crowd job ${id}.`, { id }),
  }),
  get("submissionsOfJob", "/crowd-jobs/{id}/submissions", "look", {
    summary: "What was submitted to one crowd job, newest first, by pages.",
    takes: { state: listOf(submissionState), ...page },
    answer: listOf(submission),
    call: ({ crowd }, { id, after: last, ...filter }) =>
      crowd.submissions({ job: id }, { ...filter, after: after(last) }),
  }),
  post("lookAtCrowdJob", "/crowd-jobs/{id}/look", "operate", {
    summary: "Let a job look at the marketplace now.",
    takes: cause,
    answer: job,
    call: ({ crowd }, { id, ...cause }) => crowd.sync(id, cause),
  }),
  post("closeCrowdJob", "/crowd-jobs/{id}/close", "operate", {
    summary: "Take a job back: nobody new may begin, and what was begun is decided and paid.",
    takes: cause,
    answer: job,
    call: ({ crowd }, { id, ...cause }) => crowd.close(id, cause),
  }),
  post("discardCrowdJob", "/crowd-jobs/{id}/discard", "operate", {
    summary: "End a job for good, also one that was never published. What was submitted to it stays undecided.",
    takes: cause,
    answer: job,
    call: ({ crowd }, { id, ...cause }) => crowd.discard(id, cause),
  }),
  get("submissions", "/submissions", "look", {
    summary: "What was submitted, to one crowd or to all, newest first, by pages.",
    takes: { crowd: text, state: listOf(submissionState), ...page },
    answer: listOf(submission),
    call: async (pawl, { crowd, after: last, ...filter }) => {
      const options = { ...filter, after: after(last) };
      if (crowd !== undefined) return pawl.crowd.submissions(crowd, options);
      const all = await Promise.all(pawl.crowd.list().map(({ name }) => pawl.crowd.submissions(name, options)));
      // Ids rise with time, so the newest come first.
      return all
        .flat()
        .sort((one, other) => (one.id < other.id ? 1 : -1))
        .slice(0, filter.limit ?? 100);
    },
  }),
  get("submission", "/submissions/{id}", "look", {
    summary: "One submission.",
    answer: submission,
    call: async ({ crowd }, { id }) =>
      (await crowd.submission(id)) ?? unknown("instance_unknown", `There is no submission ${id}.`, { id }),
  }),
  post("approveSubmission", "/submissions/{id}/approve", "operate", {
    summary: "Approve what waits for a decision; the marketplace is told next.",
    takes: { feedback: text, ...cause },
    answer: submission,
    call: ({ crowd }, { id, ...decision }) => crowd.approve(id, decision),
  }),
  post("rejectSubmission", "/submissions/{id}/reject", "operate", {
    summary: "Reject it. Its worker is told why.",
    takes: { feedback: text, ...cause },
    needs: ["feedback"],
    answer: submission,
    call: ({ crowd }, { id, ...decision }) => crowd.reject(id, decision),
  }),
  post("retrySubmission", "/submissions/{id}/retry", "operate", {
    summary: "Let the crowd's own check look once more.",
    takes: cause,
    answer: submission,
    call: ({ crowd }, { id, ...cause }) => crowd.retry(id, cause),
  }),
  post("payBonus", "/submissions/{id}/bonus", "operate", {
    summary: "Pay the worker of a submission more: once, unless it is given another key.",
    takes: {
      amount: about(text, "Such as 0.50."),
      reason: about(text, "What the worker is told."),
      key: text,
      ...actor,
    },
    needs: ["amount", "reason"],
    answer: shape<BonusAnswer>({ id, created: flag }),
    call: ({ crowd }, { id, ...bonus }) => crowd.bonus(id, bonus),
  }),
  get("marketplaceBalance", "/marketplaces/{marketplace}/balance", "look", {
    summary: "What is left to pay the workers of a marketplace with.",
    answer: shape<BalanceAnswer>({ marketplace: text, balance: about(orNull(text), "Null where nothing is paid.") }),
    call: async ({ crowd }, { marketplace }) => ({ marketplace, balance: await crowd.balance(marketplace) }),
  }),
  post("reconcileCrowds", "/marketplaces/{marketplace}/reconcile", "operate", {
    summary: "Compare a marketplace with what Pawl knows; with `repair`, put right what went astray.",
    takes: { repair: flag },
    isSlow: true,
    answer: listOf(astray),
    call: ({ crowd }, { marketplace, repair }) => crowd.reconcile({ marketplace, repair }),
  }),
  post("noticePosting", "/marketplaces/{marketplace}/notice", "send", {
    summary: "Tell that something may have happened to a posting.",
    takes: { posting: text },
    needs: ["posting"],
    answer: shape<NoticeAnswer>({ ours: flag }),
    call: async ({ crowd }, { marketplace, posting }) => ({
      ours: await crowd.handleNotification(marketplace, posting),
    }),
  }),
];
