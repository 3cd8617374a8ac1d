import type { Pawl } from "../../api/pawl.ts";
import { routesOf } from "../api/route.ts";
import { about, anything, flag, id, listOf, number, orNull, shape, text, whole } from "../api/schema.ts";
import { actor, after, cause, page, repeat } from "../api/usual-arguments.ts";
import type { AddedSampleAnswer, RejectedAnswer } from "../contract.ts";
import {
  assignment,
  assignmentStatus,
  label,
  sample,
  sampleHistory,
  sampleState,
  workMove,
} from "./answers/people-answer.ts";

type NewSample = Parameters<Pawl["people"]["add"]>[1];

const added = shape<AddedSampleAnswer>({
  id,
  key: orNull(text),
  created: about(flag, "False when its key was there already."),
});
const given = shape<NewSample>(
  {
    data: about(anything, "What a labeler is shown."),
    key: about(text, "A name of your own, unique within the queue."),
    priority: about(number, "Its place in a queue ordered by `priority`: the lower, the sooner."),
    overlap: about(whole, "How many labelers label it; the queue's own unless given."),
    gold: about(anything, "The label that is known to be right."),
  },
  ["key", "priority", "overlap", "gold"],
);

/** More of them in one request would keep the database, and other callers, waiting for too long. */
const maxSamples = 1_000;

const { get, post } = routesOf("People");

export const sampleRoutes = [
  post("addSamples", "/queues/{queue}/samples", "send", {
    summary: "Add up to 1,000 samples to a queue. A key that is there already gives back that sample.",
    takes: { samples: listOf(given, maxSamples), ...cause },
    needs: ["samples"],
    answer: listOf(added),
    call: ({ people }, { queue, samples, ...cause }) => people.addMany(queue, samples, cause),
  }),
  get("samples", "/queues/{queue}/samples", "look", {
    summary: "The samples of a queue, newest first, by pages.",
    takes: { state: sampleState, ...page },
    answer: listOf(sample),
    call: ({ people }, { queue, after: last, ...filter }) => people.samples(queue, { ...filter, after: after(last) }),
  }),
  get("sampleByKey", "/queues/{queue}/keys/{key}", "look", {
    summary: "A sample by its key, with every assignment and label.",
    answer: sampleHistory,
    call: ({ people }, which) => people.sample(which),
  }),
  get("sample", "/samples/{id}", "look", {
    summary: "A sample, with every assignment and label.",
    answer: sampleHistory,
    call: ({ people }, { id }) => people.sample(id),
  }),
  get("sampleJournal", "/samples/{id}/journal", "look", {
    summary: "All moves of a sample, in their order.",
    answer: listOf(workMove),
    call: ({ people }, { id }) => people.sampleJournal(id),
  }),
  post("reopenSample", "/samples/{id}/reopen", "operate", {
    summary: "Hand out again a sample that was given up.",
    takes: { attempts: whole, ...cause },
    needs: ["actor"],
    answer: sampleHistory,
    call: ({ people }, { id, ...options }) => people.reopen(id, options),
  }),
  post("assignSample", "/samples/{id}/assign", "operate", {
    summary: "Give a sample to a named labeler, who finds it on the desk.",
    takes: { to: about(text, "The labeler."), ...cause },
    needs: ["to", "actor"],
    answer: assignment,
    call: ({ people }, { id, ...options }) => people.assign(id, options),
  }),
  post("closeSample", "/samples/{id}/close", "operate", {
    summary: "Take a sample out of its queue for good.",
    takes: cause,
    needs: ["actor"],
    answer: sampleHistory,
    call: ({ people }, { id, ...options }) => people.close(id, options),
  }),
  get("assignments", "/assignments", "look", {
    summary: "The assignments of a queue, newest first, by pages.",
    takes: { queue: text, labeler: text, status: assignmentStatus, ...page },
    needs: ["queue"],
    answer: listOf(assignment),
    call: ({ people }, { queue, after: last, ...filter }) =>
      people.assignments(queue, { ...filter, after: after(last) }),
  }),
  post("releaseAssignment", "/assignments/{id}/release", "operate", {
    summary: "Take an assignment back; it costs neither its labeler nor its sample a try.",
    takes: { ...cause, ...repeat },
    needs: ["actor"],
    answer: assignment,
    call: ({ people }, { id, ...options }) => people.release(id, options),
  }),
  get("labels", "/labels", "look", {
    summary: "The labels of a queue, newest first, by pages; with `late` those that came late and wait for a word.",
    takes: { queue: text, late: flag, ...page },
    needs: ["queue"],
    answer: listOf(label),
    call: ({ people }, { queue, after: last, ...filter }) => people.labels(queue, { ...filter, after: after(last) }),
  }),
  post("acceptLabel", "/labels/{id}/accept", "operate", {
    summary: "Accept a label; one that came late counts from then on.",
    takes: { comment: text, ...actor },
    needs: ["actor"],
    answer: label,
    call: ({ people }, { id, ...review }) => people.accept(id, review),
  }),
  post("rejectLabel", "/labels/{id}/reject", "operate", {
    summary: "Reject a label: it counts no more, and its labeler gets the sample once more.",
    takes: { comment: text, ...actor },
    needs: ["actor"],
    answer: shape<RejectedAnswer>({ label, revision: orNull(assignment) }),
    call: ({ people }, { id, ...review }) => people.reject(id, review),
  }),
];
