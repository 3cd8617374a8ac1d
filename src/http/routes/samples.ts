import type { Pawl } from "../../api/pawl.ts";
import { routesOf } from "../api/route.ts";
import { about, anything, flag, id, listOf, number, orNull, shape, text, whole } from "../api/schema.ts";
import { actor, after, cause, page, repeat } from "../api/usual-arguments.ts";
import type { AddedSampleResponse, RejectedResponse } from "../contract.ts";
import {
  assignment,
  assignmentStatus,
  label,
  sample,
  sampleHistory,
  sampleState,
  workMove,
} from "./responses/people-response.ts";

type NewSample = Parameters<Pawl["people"]["add"]>[1];

const added = shape<AddedSampleResponse>({
  id,
  key: orNull(text),
  created: about(flag, "False if the key already existed."),
});
const given = shape<NewSample>(
  {
    data: about(anything, "What the labeler sees."),
    key: about(text, "Your own name for it, unique within the queue."),
    priority: about(number, "Its priority in a queue ordered by `priority`: lower is handed out first."),
    overlap: about(whole, "The number of labelers. Defaults to the queue's `overlap`."),
    gold: about(anything, "The known correct label."),
  },
  ["key", "priority", "overlap", "gold"],
);

/** More of them in one request would keep the database, and other callers, waiting for too long. */
const maxSamples = 1_000;

const { get, post } = routesOf("People");

export const sampleRoutes = [
  post("addSamples", "/queues/{queue}/samples", "send", {
    summary: "Add up to 1,000 samples to a queue. An existing key returns its sample.",
    takes: { samples: listOf(given, maxSamples), ...cause },
    needs: ["samples"],
    answer: listOf(added),
    call: ({ people }, { queue, samples, ...cause }) => people.addMany(queue, samples, cause),
  }),
  get("samples", "/queues/{queue}/samples", "read", {
    summary: "List the samples of a queue, newest first, by page.",
    takes: { state: sampleState, ...page },
    answer: listOf(sample),
    call: ({ people }, { queue, after: last, ...filter }) => people.samples(queue, { ...filter, after: after(last) }),
  }),
  get("sampleByKey", "/queues/{queue}/keys/{key}", "read", {
    summary: "Get a sample by its key, with all assignments and labels.",
    answer: sampleHistory,
    call: ({ people }, which) => people.sample(which),
  }),
  get("sample", "/samples/{id}", "read", {
    summary: "Get a sample with all assignments and labels.",
    answer: sampleHistory,
    call: ({ people }, { id }) => people.sample(id),
  }),
  get("sampleJournal", "/samples/{id}/journal", "read", {
    summary: "List all moves of a sample, in order.",
    answer: listOf(workMove),
    call: ({ people }, { id }) => people.sampleJournal(id),
  }),
  post("reopenSample", "/samples/{id}/reopen", "operate", {
    summary: "Reopen a sample that ended without a result.",
    takes: { attempts: whole, ...cause },
    needs: ["actor"],
    answer: sampleHistory,
    call: ({ people }, { id, ...options }) => people.reopen(id, options),
  }),
  post("assignSample", "/samples/{id}/assign", "operate", {
    summary: "Assign a sample to a labeler, who sees it on the desk.",
    takes: { to: about(text, "The labeler."), ...cause },
    needs: ["to", "actor"],
    answer: assignment,
    call: ({ people }, { id, ...options }) => people.assign(id, options),
  }),
  post("closeSample", "/samples/{id}/close", "operate", {
    summary: "Remove a sample from its queue.",
    takes: cause,
    needs: ["actor"],
    answer: sampleHistory,
    call: ({ people }, { id, ...options }) => people.close(id, options),
  }),
  get("assignments", "/assignments", "read", {
    summary: "List the assignments of a queue, newest first, by page.",
    takes: { queue: text, labeler: text, status: assignmentStatus, ...page },
    needs: ["queue"],
    answer: listOf(assignment),
    call: ({ people }, { queue, after: last, ...filter }) =>
      people.assignments(queue, { ...filter, after: after(last) }),
  }),
  post("releaseAssignment", "/assignments/{id}/release", "operate", {
    summary: "Revoke an assignment. It spends no try of the labeler or the sample.",
    takes: { ...cause, ...repeat },
    needs: ["actor"],
    answer: assignment,
    call: ({ people }, { id, ...options }) => people.release(id, options),
  }),
  get("labels", "/labels", "read", {
    summary: "List the labels of a queue, newest first, by page; with `late`, those that await a decision.",
    takes: { queue: text, late: flag, ...page },
    needs: ["queue"],
    answer: listOf(label),
    call: ({ people }, { queue, after: last, ...filter }) => people.labels(queue, { ...filter, after: after(last) }),
  }),
  post("acceptLabel", "/labels/{id}/accept", "operate", {
    summary: "Accept a label; this includes late labels.",
    takes: { comment: text, ...actor },
    needs: ["actor"],
    answer: label,
    call: ({ people }, { id, ...review }) => people.accept(id, review),
  }),
  post("rejectLabel", "/labels/{id}/reject", "operate", {
    summary: "Reject a label. Its labeler gets the sample again.",
    takes: { comment: text, ...actor },
    needs: ["actor"],
    answer: shape<RejectedResponse>({ label, revision: orNull(assignment) }),
    call: ({ people }, { id, ...review }) => people.reject(id, review),
  }),
];
