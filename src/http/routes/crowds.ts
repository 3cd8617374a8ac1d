import { routesOf } from "../api/route.ts";
import { about, anything, flag, id, listOf, orNull, shape, text, withMore } from "../api/schema.ts";
import { unknown } from "../api/targets.ts";
import { actor, after, cause, page } from "../api/usual-arguments.ts";
import type { BalanceResponse, BonusResponse, NotificationResponse } from "../contract.ts";
import { crowd, job, jobState, reconcileIssue, submission, submissionState } from "./responses/crowd-response.ts";

const { get, post } = routesOf("Crowds");

export const crowdRoutes = [
  get("crowds", "/crowds", "read", {
    summary: "List crowds with their marketplaces and counts of jobs and submissions by state.",
    answer: listOf(crowd),
    call: ({ crowd }) => Promise.all(crowd.list().map(async (one) => ({ ...one, ...(await crowd.counts(one.name)) }))),
  }),
  post("askCrowd", "/crowds/{crowd}/jobs", "send", {
    summary: "Publish a job for a crowd. An existing key returns its job.",
    takes: { content: anything, key: text, ...cause },
    needs: ["content"],
    answer: withMore(job, { created: flag }),
    call: (pawl, { crowd, ...question }) => pawl.crowd.ask(crowd, question),
  }),
  get("crowdJobs", "/crowds/{crowd}/jobs", "read", {
    summary: "List the jobs of a crowd, newest first, by page.",
    takes: { state: listOf(jobState), ...page },
    answer: listOf(job),
    call: (pawl, { crowd, after: last, ...filter }) => pawl.crowd.jobs(crowd, { ...filter, after: after(last) }),
  }),
  get("crowdJobByKey", "/crowds/{crowd}/keys/{key}", "read", {
    summary: "Get a crowd job by its key.",
    answer: job,
    call: async (pawl, which) =>
      (await pawl.crowd.job(which)) ??
      unknown(
        "instance_unknown",
        `Crowd \`${which.crowd}\` has no job with the key \`${which.key}\`. A job that a state created is found by its id.`,
        which,
      ),
  }),
  get("crowdJob", "/crowd-jobs/{id}", "read", {
    summary: "Get a crowd job.",
    answer: job,
    call: async ({ crowd }, { id }) =>
      (await crowd.job(id)) ?? unknown("instance_unknown", `Crowd job ${id} does not exist.`, { id }),
  }),
  get("submissionsOfJob", "/crowd-jobs/{id}/submissions", "read", {
    summary: "List the submissions of a crowd job, newest first, by page.",
    takes: { state: listOf(submissionState), ...page },
    answer: listOf(submission),
    call: ({ crowd }, { id, after: last, ...filter }) =>
      crowd.submissions({ job: id }, { ...filter, after: after(last) }),
  }),
  post("syncCrowdJob", "/crowd-jobs/{id}/sync", "operate", {
    summary: "Sync a job with its marketplace now.",
    takes: cause,
    answer: job,
    call: ({ crowd }, { id, ...cause }) => crowd.sync(id, cause),
  }),
  post("closeCrowdJob", "/crowd-jobs/{id}/close", "operate", {
    summary: "Close a job to new workers; work in progress is still decided and paid.",
    takes: cause,
    answer: job,
    call: ({ crowd }, { id, ...cause }) => crowd.close(id, cause),
  }),
  post("discardCrowdJob", "/crowd-jobs/{id}/discard", "operate", {
    summary: "End a job permanently, published or not. Its submissions stay undecided.",
    takes: cause,
    answer: job,
    call: ({ crowd }, { id, ...cause }) => crowd.discard(id, cause),
  }),
  get("submissions", "/submissions", "read", {
    summary: "List submissions of one crowd or of all, newest first, by page.",
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
  get("submission", "/submissions/{id}", "read", {
    summary: "Get a submission.",
    answer: submission,
    call: async ({ crowd }, { id }) =>
      (await crowd.submission(id)) ?? unknown("instance_unknown", `Submission ${id} does not exist.`, { id }),
  }),
  post("approveSubmission", "/submissions/{id}/approve", "operate", {
    summary: "Approve a submission; the marketplace is updated next.",
    takes: { feedback: text, ...cause },
    answer: submission,
    call: ({ crowd }, { id, ...decision }) => crowd.approve(id, decision),
  }),
  post("rejectSubmission", "/submissions/{id}/reject", "operate", {
    summary: "Reject a submission. Its worker receives the feedback.",
    takes: { feedback: text, ...cause },
    needs: ["feedback"],
    answer: submission,
    call: ({ crowd }, { id, ...decision }) => crowd.reject(id, decision),
  }),
  post("retrySubmission", "/submissions/{id}/retry", "operate", {
    summary: "Run the crowd's check again.",
    takes: cause,
    answer: submission,
    call: ({ crowd }, { id, ...cause }) => crowd.retry(id, cause),
  }),
  post("payBonus", "/submissions/{id}/bonus", "operate", {
    summary: "Pay the worker of a submission a bonus, once per key.",
    takes: {
      amount: about(text, "Such as 0.50."),
      reason: about(text, "The message to the worker."),
      key: text,
      ...actor,
    },
    needs: ["amount", "reason"],
    answer: shape<BonusResponse>({ id, created: flag }),
    call: ({ crowd }, { id, ...bonus }) => crowd.bonus(id, bonus),
  }),
  get("marketplaceBalance", "/marketplaces/{marketplace}/balance", "read", {
    summary: "Get the balance of a marketplace.",
    answer: shape<BalanceResponse>({
      marketplace: text,
      balance: about(orNull(text), "Null for a marketplace without payments."),
    }),
    call: async ({ crowd }, { marketplace }) => ({ marketplace, balance: await crowd.balance(marketplace) }),
  }),
  post("reconcileCrowds", "/marketplaces/{marketplace}/reconcile", "operate", {
    summary: "Compare a marketplace with the stored jobs; with `repair`, fix the discrepancies.",
    takes: { repair: flag },
    isSlow: true,
    answer: listOf(reconcileIssue),
    call: ({ crowd }, { marketplace, repair }) => crowd.reconcile({ marketplace, repair }),
  }),
  post("handleNotification", "/marketplaces/{marketplace}/notifications", "send", {
    summary: "Report that a posting may have changed.",
    takes: { posting: text },
    needs: ["posting"],
    answer: shape<NotificationResponse>({ ours: flag }),
    call: async ({ crowd }, { marketplace, posting }) => ({
      ours: await crowd.handleNotification(marketplace, posting),
    }),
  }),
];
